"""The words and pairs of words that signals are read from, by kind of fact.

Function words and the everyday verbs of interface prose, in several languages; no name of a tool, a product or a domain. A word
stands under the first kind that claims it.
"""


class Signal:
    """A kind of fact that a sentence may state. Plain numbers of one bit each: signs of several kinds are one number."""

    MARKER = 1 << 0
    """One of the constraint markers of the caveman-shrink document: such a sentence is kept in full."""
    PROHIBITION = 1 << 1
    EXCLUSIVE = 1 << 2
    ONLY = 1 << 3
    PREREQUISITE = 1 << 4
    DEFAULT = 1 << 5
    CONDITION = 1 << 6
    FORMAT = 1 << 7
    LITERAL = 1 << 8
    UNIT = 1 << 9
    BOUND = 1 << 10
    QUANTITY = 1 << 11
    """Speaks of a number without giving one."""
    DESTRUCTIVE = 1 << 12
    WHEN = 1 << 13
    INSTRUCTION = 1 << 14
    CHOICES = 1 << 15
    ENUMERATION = 1 << 16
    EMPHASIS = 1 << 17
    ARGUMENT = 1 << 18
    CAPABILITY = 1 << 19
    CHAIN = 1 << 20


LABELS = {bit: name.lower() for name, bit in vars(Signal).items() if name.isupper()} | {Signal.MARKER: "constraint"}
"""What a person reads for each signal, in the order of the signals."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    split = (pair.split() for pair in text.split(","))
    return frozenset((first, second) for first, second in split)


WORDS_OF: dict[int, frozenset[str]] = {
    Signal.MARKER: _words(
        """
        must cannot require requires required reject rejects rejected invalid max maximum min minimum range ranges
        between over above below unique format iso rfc absolute
        """
    ),
    Signal.PROHIBITION: _words(
        """
        not never don't don’t doesn't doesn’t isn't isn’t won't won’t can't can’t shouldn't shouldn’t aren't avoid nor
        forbidden prohibited unsupported disallowed incorrect wrong
        nicht nie niemals nimmer kein keine keinen keiner keinem keines keinesfalls keineswegs weder verboten untersagt unzulässig ungültig
        nunca jamás ningún ninguno ninguna tampoco prohibido prohibida inválido inválida jamais aucun aucune interdit interdite
        não nenhum nenhuma proibido proibida mai nessun nessuno nessuna vietato vietata
        """
    ),
    Signal.EXCLUSIVE: _words(
        """
        but however although though either instead mutually exclusive exclusively unlike whereas
        """
    ),
    Signal.ONLY: _words(
        """
        only unless except solely without solo sólo solamente únicamente exclusivamente excepto salvo nur ausschließlich lediglich außer
        seulement uniquement exclusivement sauf apenas somente exceto soltanto solamente esclusivamente tranne
        """
    ),
    Signal.PREREQUISITE: _words(
        """
        credential credentials permission permissions authenticate authentication authenticated account login plan token tokens
        before after once until previous previously beforehand ensure verify confirm obtain obtained prerequisite
        prerequisites mandatory compulsory necessary needs shall
        antes después primero debe deben obligatorio obligatoria requerido requerida requiere necesario necesaria
        zuerst vorher zuvor muss musst müssen müsst pflicht erforderlich notwendig zwingend benötigt verpflichtend
        avant doit doivent obligatoire requis requise nécessaire deve devem obrigatório obrigatória necessário necessária
        devono obbligatorio obbligatoria necessario necessaria
        """
    ),
    Signal.DEFAULT: _words(
        """
        default defaults omit omitted omitting unset unspecified predeterminado predeterminada standardmäßig défaut
        padrão
        """
    ),
    Signal.CONDITION: _words(
        """
        if whenever depending otherwise regardless falls wenn si cuando lorsque quando
        """
    ),
    Signal.FORMAT: _words(
        """
        wildcard wildcards timezone timezones timestamp timestamps locale currency currencies
        exact exactly match matches matching matched valid format formats formatted formatting syntax pattern patterns
        prefix prefixed suffix separated separator delimited delimiter comma uuid uuids uri uris iso utc base64 regex
        hex
        """
    ),
    Signal.BOUND: _words(
        """
        paginated pagination cursor empty nothing higher lower larger smaller increase increases decrease decreases
        inclusive positive negative cap capped quota
        """
    ),
    Signal.QUANTITY: _words(
        """
        number numbers count
        """
    ),
    Signal.DESTRUCTIVE: _words(
        """
        written writes uploads uploaded publishes published posts sends
        auto automatic append appends appended insert inserts inserted delete deletes deleted deleting deletion
        overwrite overwrites overwriting overwritten replace replaces replaced replacing remove removes removed removing
        erase erases erased destroy destroys irreversible irreversibly permanent permanently undone undo revert reverts
        reverted reboot reboots restart restarts restarting reset resets charge charged billed cost costs fee fees paid
        payment modify modifies modified clears cleared subsequent persist persists persisted persistent affect affects
        immediately asynchronously notified notifies mailed emailed cancels canceled cancelled locked unlocks wipe wipes wiped
        refunded truncate truncates truncated cached anew
        globally stored saved manual manually irrevocably warning dangerous danger caution careful carefully
        """
    ),
    Signal.WHEN: _words(
        """
        while than
        use using when prefer preferred recommend recommended suitable choose alternative alternatively whether always
        should try call calling see primary allow allows handle handles compared versus vs difference similar usar
        utilice utiliser verwenden
        """
    ),
    Signal.INSTRUCTION: _words(
        """
        important note remember ignore ignored fail fails failing error errors raise raises warn warns enable enables
        enabled disable disables disabled fehler erreur erro errore
        """
    ),
    Signal.ENUMERATION: _words(
        """
        or both value values option options
        """
    ),
    Signal.EMPHASIS: _words(
        """
        twice two three four five six seven eight nine ten dozen hundred thousand million
        """
    ),
    Signal.ARGUMENT: _words(
        """
        argument arguments parameter parameters field fields identifier identifiers path paths url urls filter filters
        query queries keyword keywords flag flags setting settings mode modes character characters id ids
        """
    ),
    Signal.CAPABILITY: _words(
        """
        recursive recursively subdirectories subfolders cover covers support supports operation operations command
        commands action actions capability capabilities task tasks
        """
    ),
}
"""Words, in lower case."""

PAIRS_OF: dict[int, frozenset[tuple[str, str]]] = {
    Signal.MARKER: _pairs(
        """
        can not, not allowed, exactly one, at least, at most, greater than, less than, more than, fewer than,
        longer than, shorter than, larger than, smaller than, higher than, lower than, mutually exclusive
        """
    ),
    Signal.EXCLUSIVE: _pairs(
        """
        rather than, in contrast, not both
        """
    ),
    Signal.PREREQUISITE: _pairs(
        """
        prior to, need to, needs to, needed to, you need, you'll need, make sure, be sure, retrieved from, d'abord avant,
        have to, has to, ought to, access token, access key, access rights, have access, has access, need access,
        read access, write access, admin access, full access
        """
    ),
    Signal.DEFAULT: _pairs(
        """
        if empty, if null, if none, if blank, if left, when empty, when null, when none, when blank, when left,
        por defecto
        """
    ),
    Signal.CONDITION: _pairs(
        """
        in case, as long
        """
    ),
    Signal.FORMAT: _pairs(
        """
        by its, by their, by id, by name, e g, i e, case sensitive, case insensitive, 0 based, 1 based,
        zero based, one based, 0 indexed, 1 indexed, zero indexed, one indexed, indexed from, index from, starts from,
        starting from
        """
    ),
    Signal.BOUND: _pairs(
        """
        up to, limited to, non negative, per request, per call, per page, per second, per minute, per hour, per day, per month,
        allowed values, supported values, valid values,
        permitted values, possible values, available values, acceptable values, allowed types, supported types,
        valid types, image types, available types, allowed options, valid options, available options, supported formats,
        allowed formats, valid formats, valid characters, allowed characters, supported operations, are allowed
        """
    ),
    Signal.DESTRUCTIVE: _pairs(
        """
        side effect, side effects
        """
    ),
    Signal.INSTRUCTION: _pairs(
        """
        you can, you may, you might, you could, you have
        """
    ),
    Signal.CHOICES: _pairs(
        """
        one of
        """
    ),
    Signal.ENUMERATION: _pairs(
        """
        type of, types of, subtype of, such as
        """
    ),
    Signal.ARGUMENT: _pairs(
        """
        api key, environment variable, environment variables
        """
    ),
    Signal.CAPABILITY: _pairs(
        """
        belongs to, belong to
        """
    ),
    Signal.CHAIN: _pairs(
        """
        for use, you pass, to pass, needed by, expected by, needed for
        """
    ),
}
"""Words that follow each other, whatever stands between them."""

IMPERATIVES = _words(
    """
    add ask check choose combine consider create enter format give include keep leave list make note pass poll provide
    remember run search select separate set specify start supply wait write
    """
)
"""Verbs that tell what to do, at the beginning of a clause."""
TOOL_VERBS = _words(
    """
    takes changes opens closes moves starts stops switches sets sends adds converts runs installs deploys triggers cancels submits
    schedules applies merges copies renames creates updates assigns registers locks unlocks turns
    add analyse analyze browse can configure convert create delete deploy download execute fetch find generate get
    inspect list manage monitor query read remove retrieve run search send track update upload view write
    """
)
"""A sentence that begins with one says what the tool is for, or tells what to do."""
SHOUTED = _words(
    """
    after all always any before do does first must never not now only stop will
    """
)
"""Words that mean more in capitals."""
ENGLISH = _words(
    """
    and are for from it its that the these they this with
    """
)
"""Words that show a sentence to be English."""
GLUE = _words(
    """
    a an the this that these those is are was were be been being to of in on at by for from with and or so as it its
    they them you your we our please also just simply very will would can could may should always note important
    critical remember then here there any all each every important: note: critical: other words
    """
)
"""Words that two sentences may differ in and still say the same."""
SECTION_WORDS = _words(
    """
    return returns response responses result results output outputs example examples sample samples e for
    devuelve retorna respuesta salida valor renvoie retourne retour sortie ausgabe restituisce retorno
    ejemplo ejemplos exemple exemples beispiel beispiele esempi esempio exemplo exemplos
    args arguments parameters params input inputs takes options fields properties argumentos parameter argumente parametri
    benefits advantages highlights optimisations optimizations leads ensures helps lets smart intelligent why
    useful helpful valuable handy perfect ideal great best excellent
    """
)
"""Of which each label in ASCII that announces a section has one."""
GENERIC = _words(
    """
    a an the this that of to for in on at by from with and or as is are be it its you your which use used using
    string integer int number boolean bool value name id identifier optional specific given provided particular new
    allow allows let lets enable enables help helps provide provides easily quickly comprehensive detailed
    existing tool function method operation command will can also optionally then user based simply existing
    """
)
"""Words that say nothing about an argument beyond what its name and type say."""
