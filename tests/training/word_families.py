"""Families of words that sentences of one purpose share: words of one family lend each other weight when weights are learned.

Written from general knowledge of interface prose, before any weight was learned; a word may be in several.
"""

FAMILIES: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "result": """
            return returns returned returning result results response responses output outputs displayed shows shown showing
            contains containing includes included including information details detail data report summary summaries metadata list
            entries listed snippets statistics insights view views overview content metrics findings
        """,
        "praise": """
            comprehensive detailed powerful rich advanced efficient efficiently optimal robust intelligent seamless accurate
            accurately reliable complete full deep precise high quality clean clear useful helpful fast faster better best easy
            easily quick quickly simple simply great ideal perfect enhanced improved modern flexible real relevant fresh effective
            smart consistent concise meaningful broad extensive various wide professional nice
        """,
        "benefit": """
            help helps helping ensure ensures ensuring enable enables enabling provide provides providing improve improves avoid
            avoids saves save facilitate facilitates allow allows allowing offers lets gives makes making reduces reduce prevents
            prevent preserves preserving keeps keeping maintains streamline streamlines simplifies boost maximize minimize
        """,
        "inside": """
            internally underlying parses parsed processed processes processing computes computed calculates engine leverages
            powered implementation backend cached cache algorithm detects detected automatically resolves merges merged combines
            combined converts converted normalized fetched fetches queries loads loaded generates generated handled handles
            executed runs spawned subprocess indexed embedded transforms
        """,
        "background": """
            typically usually commonly generally often known called refers means represents defines describes concept platform
            system framework library standard technology service services company database language product world community
            primarily mainly designed intended built based originally popular
        """,
        "use case": """
            finding getting exploring analyzing analysing researching understanding planning tracking comparing checking
            monitoring debugging discovering gathering reviewing investigating answering building creating identifying searching
            looking learning testing managing auditing troubleshooting verifying browsing reading writing working collecting
            inspecting research discovery analysis exploration investigation queries questions tasks projects scenarios topics
            trends
        """,
        "process": """
            step steps workflow proceed continue then next finally begin process iterate repeat complete completed progress plan
            task review
        """,
        "person": """
            user users user's you your agent assistant model llm ai human people developer developers team customer client
        """,
        "condition": """
            if when whenever while unless until once where whether in case
        """,
        "failure": """
            fail fails failing failed error errors rejected invalid unsupported unavailable missing not no never cannot can't
            won't doesn't without none nothing neither nor but except however
        """,
        "advice": """
            should recommended recommend prefer preferred consider tip tips best practice practices avoid try instead rather
            always note important remember careful
        """,
        "demand": """
            must need needs required require pass provide specify set use include supply give enter ensure make sure
        """,
        "hedge": """
            may might can could possibly optionally optional sometimes some any also additional additionally more most many
            multiple several etc
        """,
        "example": """
            example examples e.g eg like such sample instance say ask asking asks
        """,
        "reason": """
            because so since therefore thus this that these which due purpose reason allows order
        """,
        "argument": """
            parameter parameters argument arguments field fields value values string number integer boolean object array json type
            types name names id ids key keys format path file url date time code
        """,
        "time": """
            first before after previously already later again new old latest recent current last existing now immediately
        """,
        "change": """
            delete deletes deleted remove removes removed overwrite overwrites replace replaces replaced destructive permanent
            permanently update updates modify modifies create creates insert add adds append write writes reset
        """,
        "tool": """
            tool tools call calls calling called invoke function functions command commands endpoint method operation operations
            action actions
        """,
        "future": """
            will would going
        """,
        "be": """
            is are be been being was were has have
        """,
        "it": """
            it its this they their he she
        """,
        "article": """
            the a an of
        """,
        "comparison": """
            than more less other another different similar same unlike versus both either each per every all only
        """,
    }.items()
}
