"""What each level leaves of descriptions, by their structure."""

import json

import msgspec
import pytest

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink import explain_tool, shrink_catalog
from caveman_tui.core.shrink.description import WHOLE_BYTES, describe
from caveman_tui.core.shrink.model import ToolContext
from caveman_tui.core.shrink.pieces import CUT_SIGN
from tests.core.shrink.descriptions import CONTEXT, LEAD, LONG, shorten, shrunk, unit_at

RETURNS = "\n\nReturns:\n    A dictionary with the table's name, the hour and the waiter."


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("text", ["", "Books.", "Perfect for dinners. Returns a booking.", "x" * WHOLE_BYTES, "表" * (WHOLE_BYTES // 3)])
def test_short_descriptions_stay_whole(level: Level, text: str) -> None:
    assert shrunk(text, level) == text


def test_the_budget_counts_utf8_bytes_and_not_characters() -> None:
    filler = " Perfect for planning birthday dinners with many friends."
    ascii_text = LEAD + filler + "x" * (WHOLE_BYTES - len(LEAD + filler))
    assert len(ascii_text) == WHOLE_BYTES
    assert shrunk(ascii_text) == ascii_text
    wide = LEAD + filler + " " + "ü" * (WHOLE_BYTES - len(LEAD + filler) - 1)
    assert "birthday" not in shrunk(wide)


class TestWhiteSpace:
    def test_docstring_indentation_and_repeated_blank_lines_go(self) -> None:
        text = f"\n    {LONG}\n\n\n\n    Bring the name of the guest.   \n    "
        assert shrunk(text, Level.CAREFUL) == f"{LONG}\n\nBring the name of the guest."

    def test_wrapped_prose_becomes_one_line(self) -> None:
        text = LONG + "\n\nGuests who come without a booking are asked to wait at the bar until\na table is free for them."
        assert "at the bar until a table is free" in shrunk(text, Level.CAREFUL)

    def test_lists_keep_their_lines_and_their_depth(self) -> None:
        text = LONG + "\n\n        Seats:\n            - inside\n                - near the fire\n            - outside"
        assert shrunk(text, Level.CAREFUL).endswith("Seats:\n  - inside\n    - near the fire\n  - outside")

    def test_words_of_a_list_without_bullets_are_not_joined(self) -> None:
        text = LONG + "\n\nplace:\n  inside\n  outside\n  terrace"
        assert shrunk(text, Level.CAREFUL).endswith("place:\n  inside\n  outside\n  terrace")

    @pytest.mark.parametrize(
        "block",
        [
            "```\nday:   monday\n\n\n  hour:    8\n```",
            "~~~yaml\na:  1\n~~~",
            "| day  | open |\n|------|------|\n| mon  | yes  |",
            "2024-01-01  89500  94800  89500\n2024-01-02  87300  89400  86800",
            '{\n    "day":   "monday",\n        "hour": 8\n}',
        ],
    )
    @pytest.mark.parametrize("level", [Level.CAREFUL, Level.STANDARD])
    def test_white_space_inside_fences_tables_and_code_is_content(self, level: Level, block: str) -> None:
        assert block in shrunk(f"{LONG}\n\n{block}\n\nAsk before you book.", level)

    def test_a_fence_moves_out_with_the_docstring_that_it_stands_in(self) -> None:
        text = f"{LONG}\n\n        ```\n        a:\n          b\n        ```\n        Ask before you book."
        assert "```\na:\n  b\n```" in shrunk(text, Level.CAREFUL)

    def test_quoted_blanks_stay(self) -> None:
        text = LONG + ' Separate   the names with `,  ` or "  "   only.'
        assert shrunk(text, Level.CAREFUL).endswith('Separate the names with `,  ` or "  " only.')


class TestCareful:
    def test_drops_only_what_stands_word_for_word_above(self) -> None:
        again = "The waiter will call the person back within the hour."
        text = f"{LONG} {again} Ask about the terrace.\n\n{again}"
        assert shrunk(text, Level.CAREFUL) == f"{LONG} {again} Ask about the terrace."
        _, units = describe(text, CONTEXT, Level.CAREFUL)
        assert [unit.kind for unit in units if not unit.kept] == ["repetition"]

    def test_keeps_filler(self) -> None:
        text = LONG + " Perfect for birthdays with friends and family. Returns the booking." + RETURNS
        assert shrunk(text, Level.CAREFUL).split() == text.split()

    def test_half_a_list_is_not_dropped_as_a_repetition(self) -> None:
        text = LONG + "\n\nOnce:\n- the guest's full name\n- the day and the hour\n\nAgain:\n- the guest's full name\n- a telephone number"
        assert shrunk(text, Level.CAREFUL) == text


class TestReturns:
    def test_a_use_of_the_result_stays_beside_what_goes(self) -> None:
        text = f"{LONG}\n\nReturns: You must be there to see it. It is a list of rooms. Use the `room_id` of it later on."
        assert shrunk(text).endswith("You must be there to see it. … Use the `room_id` of it later on.")

    @pytest.mark.parametrize(
        "said",
        [
            "A message that the bar is not supported.",
            "Eine Meldung, dass die Bar nicht unterstützt wird.",
            "不支持预订酒吧的提示。",
        ],
    )
    def test_that_the_tool_does_not_do_it_stays(self, said: str) -> None:
        text = f"{LONG}\n\nReturns:\n  {said}"
        assert shrunk(text) == text

    @pytest.mark.parametrize(
        "head",
        [
            "Returns:",
            "Returns",
            "Return value:",
            "Response format:",
            "## Output",
            "**Returns:**",
            "Expected return:",
            "返回值:",
            "Devuelve:",
        ],
    )
    def test_a_section_about_the_result_goes_with_its_head(self, head: str) -> None:
        text = f"{LONG}\n\n{head}\n  - table: name of the table\n  - hour: when to come"
        if head == "Returns":
            assert "name of the table" in shrunk(text)
        else:
            assert shrunk(text) == LONG

    @pytest.mark.parametrize("rule", ["-------", "======="])
    def test_a_heading_may_be_underlined(self, rule: str) -> None:
        rest = f"Notes\n{rule}\nThe table is held for ten minutes."
        text = f"{LONG}\n\nReturns\n{rule}\nstr\n  The name of the table.\n\n{rest}"
        assert shrunk(text) == f"{LONG}\n\n{rest}"

    @pytest.mark.parametrize("tag", [":returns: a booking\n:rtype: str", "@returns a booking"])
    def test_a_tag_about_the_result_goes_and_the_others_stay(self, tag: str) -> None:
        text = f"{LONG}\n\n:param day: the day\n{tag}\n:raises Full: when no table is free"
        assert shrunk(text) == f"{LONG}\n\n:param day: the day\n\n:raises Full: when no table is free"

    def test_a_rule_that_is_underlined_stays(self) -> None:
        text = f"{LONG}\n\nNever book twice\n----------------"
        assert "Never book twice" in shrunk(text)

    def test_json_of_the_result_goes(self) -> None:
        assert shrunk(LONG + '\n\nExpected return:\n  A booking.\n  Example: {\n    "id": "b1",\n    "seats": 2\n  }') == LONG

    def test_a_constraint_in_it_stays_with_its_head(self) -> None:
        text = LONG + "\n\nReturns:\n  The booking. The id must be passed to cancel_table."
        assert shrunk(text) == LONG + "\n\nReturns:\n  The id must be passed to cancel_table."

    def test_a_call_that_is_shown_there_stays(self) -> None:
        frame = "                 guests  hour\n        Smith  4  20\n        Jones  2  21"
        text = f'{LONG}\n\nReturns:\n    DataFrame:\n        >> book_table("20240131", 4)\n{frame}'
        assert shrunk(text) == LONG + '\n\nReturns:\n  DataFrame:\n    >> book_table("20240131", 4)'

    def test_what_follows_the_section_is_no_part_of_it(self) -> None:
        assert shrunk(LONG + RETURNS + "\n\nAsk the person before you book.") == LONG + "\n\nAsk the person before you book."

    def test_the_sentence_that_announces_a_list_of_results_takes_the_list_along(self) -> None:
        text = (
            LONG
            + " Returns plenty of information including:\n\n- Opening hours (weekdays, weekends)\n- Chefs\n\nAsk about allergies first."
        )
        assert shrunk(text) == LONG + "\n\nAsk about allergies first."

    def test_results_that_other_tools_take_stay(self) -> None:
        text = LONG + " Returns a list of tables, where the table can be used with moveGuest to seat somebody else."
        assert shrunk(text) == text


class TestLists:
    def test_half_a_list_is_never_kept(self) -> None:
        text = (
            LONG + "\n\nNotes:\n- Great for families with small children\n- The kitchen closes early, so do not book past ten\n- Powerful"
        )
        assert shrunk(text) == text

    def test_the_lines_below_a_kept_line_with_a_colon_stay(self) -> None:
        text = LONG + "\n\nYou must ask for one of:\n- a booth of velvet\n- a stool of pine"
        assert shrunk(text) == text
        assert shrunk(text, Level.TERSE).endswith("You must ask for one of:\n- a booth of velvet\n- a stool of pine")

    def test_a_lead_with_a_colon_keeps_its_list(self) -> None:
        text = "Books tables in the engine of the guild of restaurants of the town. It:\n\n- seats guests\n- feeds guests\n\n" + LONG
        assert shrunk(text).startswith(
            "Books tables in the engine of the guild of restaurants of the town. It:\n\n- seats guests\n- feeds guests\n"
        )

    def test_praise_in_a_list_goes_with_its_head(self) -> None:
        text = LONG + "\n\nBest suited use cases include:\n- Long evenings with colleagues\n- Short lunches among friends"
        assert shrunk(text) == LONG

    @pytest.mark.parametrize(
        "item", ["Bookings of up to a dozen", "Bookings that delete older ones", "Stays of 30 minutes", "Rooms: place=inside"]
    )
    def test_praise_with_a_fact_in_it_stays(self, item: str) -> None:
        text = f"{LONG}\n\nBest suited use cases include:\n- Long evenings with colleagues\n- {item}"
        assert shrunk(text) == text

    def test_a_heading_goes_with_the_last_line_below_it(self) -> None:
        text = LONG + "\n\n## RETURN FORMAT\nThe booking as the restaurant wrote it down.\n\n## RULES\nAsk first."
        assert shrunk(text) == LONG + "\n\n## RULES\nAsk first."

    def test_a_sentence_behind_a_hash_is_no_heading(self) -> None:
        text = LONG + "\n\nExample:\nplace=inside\n# The terrace cannot be had, since it is closed."
        assert shrunk(text).endswith("# The terrace cannot be had, since it is closed.")

    def test_argument_lists_stay_whole(self) -> None:
        text = LONG + "\n\nArgs:\n    guests: Number of guests\n    day: Day of the booking (YYYY-MM-DD)\n    note: The note"
        assert shrunk(text).endswith("Args:\n  guests: Number of guests\n  day: Day of the booking (YYYY-MM-DD)\n  note: The note")

    def test_an_argument_list_that_only_names_goes(self) -> None:
        assert shrunk(LONG + "\n\nArgs:\n    note: The note\n    guests: The guests\n    day: The specific day") == LONG


class TestNamesThatLookLikeSections:
    @pytest.mark.parametrize(
        "block",
        [
            "Args:\n  place: Where to sit\n  output: Sheet for the seats\n  example: A seat as the house draws it\n  result: Whom to tell",
            "Arguments:\n- output: sheet for the seats\n- response: whom to tell",
            "output: Sheet that the seats are drawn on\nplace: Where to sit",
            "Output formats:\n- sheet\n- card",
            "Result types:\n- sheet\n- card",
            "Example values:\n- low\n- high",
            "Built-in rooms:\n- north\n- south",
            "Setting place=inside results in:\n- a warm seat\n- a dear bill",
        ],
    )
    def test_they_stay(self, block: str) -> None:
        assert shrunk(f"{LONG}\n\n{block}") == f"{LONG}\n\n{block}"

    def test_inline_examples_of_a_parameter_stay(self) -> None:
        text = LONG + "\nExamples: terrace, cellar"
        context = ToolContext(tool="book_table", parameters=frozenset({"room"}), parameter="room")
        assert shrunk(text, context=context) == text

    def test_where_a_result_is_used_stays(self) -> None:
        text = LONG + "\n\nReturns:\n  The booking. Use its id to call `cancel_table`."
        assert shrunk(text).endswith("Returns:\n  Use its id to call `cancel_table`.")


class TestExamples:
    def test_the_only_example_of_a_form_stays(self) -> None:
        text = LONG + '\n\nExample:\n    book_table(day="2024-01-31", place="inside")'
        assert shrunk(text) == LONG + '\n\nExample:\n  book_table(day="2024-01-31", place="inside")'

    def test_an_example_of_forms_that_are_known_goes(self) -> None:
        text = LONG + ' The day is written like "2023-12-24".\n\nExample:\n```python\nbook_table(day="2024-01-31", place="inside")\n```'
        assert shrunk(text) == LONG + ' The day is written like "2023-12-24".'

    def test_the_only_mention_of_an_argument_stays(self) -> None:
        text = LONG + '\n\nExample:\n{ "wine_list": "long" }'
        assert shrunk(text) == text

    def test_what_not_to_do_stays(self) -> None:
        text = LONG + "\n\nExamples:\n- Good: Friday\n- INCORRECT: next Friday (don't send words)"
        assert shrunk(text) == text

    def test_the_label_of_code_that_stays_stays(self) -> None:
        text = f'{LONG}\n\nExamples:\n- north:\n{{\n    "room": "<north>"\n}}\n- south\n{{\n    "room": "<south>"\n}}'
        assert shrunk(text) == text

    def test_code_with_places_to_fill_in_is_the_contract(self) -> None:
        text = LONG + '\n\nExample:\n{\n    "place": "<place>"\n}'
        assert shrunk(text) == text

    def test_a_conversation_goes_with_its_markers(self) -> None:
        text = LONG + "\n\nExample interaction:\n  User: You must never seat me at the door!\n  Assistant: I will not."
        assert shrunk(text) == LONG
        assert unit_at(text, "User:").kind == "dialogue"

    def test_a_tag_around_a_conversation_goes_with_it(self) -> None:
        text = (
            LONG
            + "\n\n<example>\nUser: You must never seat me at the door!\nAssistant: I will not.\n</example>\n\nAsk about allergies first."
        )
        assert shrunk(text) == LONG + "\n\nAsk about allergies first."

    def test_tags_stay_in_pairs(self) -> None:
        text = (
            LONG
            + "\n\n<rules>\nAsk about allergies first.\n</rules>\n\n<result>\nReturns the booking as text.\n</result>\n\nDo not book twice."
        )
        assert shrunk(text) == LONG + "\n\n<rules>\nAsk about allergies first.\n</rules>\n\nDo not book twice."

    def test_quoted_utterances_below_a_rule_go(self) -> None:
        text = (
            LONG
            + '\n\nUse this when:\n- The person asks for a table\n  - "Please find me a table for tonight"\n  - "We would love to eat out"'
        )
        assert shrunk(text) == LONG + "\n\nUse this when:\n- The person asks for a table"


class TestRepetition:
    AGAIN = "Even for one guest, wrap the name into a list of its own."

    @pytest.mark.parametrize("level", [Level.STANDARD, Level.TERSE])
    @pytest.mark.parametrize(
        "example",
        [
            "```\n# The day must be a whole one and must not be over\nbook(day)\n```",
            "book(\n  day  # the day must be a whole one and must not be over\n)",
        ],
    )
    def test_what_stands_only_in_something_that_goes_stays(self, example: str, level: Level) -> None:
        rule = "The day must be a whole one and must not be over."
        assert rule in shrunk(f"{LONG}\n\nExamples:\n{example}\n\n## Rules\n{rule}\nThe owner is old.", level)

    def test_what_stands_only_in_a_heading_of_nothing_stays(self) -> None:
        rule = "The day must be a whole one and one of this year."
        assert rule in shrunk(f"{LONG}\n\n## {rule[:-1]}\n\n## Rules\n{rule}")

    def test_no_more_goes_than_what_is_said_twice(self) -> None:
        said = "然后把菜单保存在本地的文件夹里面，供以后的客人重复使用多次。"
        text = f"取得菜单的内容（参见手册。）{said}其他的文字在这里说明别的事情，和上面完全不同。{said}最后。"
        catalog = shrink_catalog(
            json.dumps({"name": "a", "description": text, "inputSchema": {"type": "object"}}).encode(), level=Level.CAREFUL
        )
        (explained,) = explain_tool(catalog.tools[0], Level.CAREFUL)
        assert explained.after == json.loads(catalog.after)["description"] != text

    def test_what_stands_above_word_for_word_goes(self) -> None:
        assert (
            shrunk(f"{LONG}\n\n{self.AGAIN}\n\nAsk about allergies.\n\n{self.AGAIN}") == f"{LONG}\n\n{self.AGAIN}\n\nAsk about allergies."
        )

    @pytest.mark.parametrize("level", [Level.CAREFUL, Level.STANDARD])
    @pytest.mark.parametrize(
        "said",
        [
            f"- guests: Who comes to dinner. {AGAIN}\n- waiters: Who serves the dinner. {AGAIN}",
            f"Guests of the evening:\n- {AGAIN}\n\nWaiters of the evening:\n- {AGAIN}",
            f"guests\n    {AGAIN}\nwaiters\n    {AGAIN}",
            f"For the guests of the evening:\n{AGAIN}\n\nFor the waiters of the evening:\n{AGAIN}",
        ],
    )
    def test_what_is_said_of_another_line_stays(self, said: str, level: Level) -> None:
        assert shrunk(f"{LONG}\n\n{said}", level).count(self.AGAIN) == 2

    def test_a_sentence_whose_words_stand_above_in_this_order_goes(self) -> None:
        text = LONG + " Never seat children at the bar after eight, or the licence is lost. Never seat children at the bar after eight!"
        assert shrunk(text) == LONG + " Never seat children at the bar after eight, or the licence is lost."

    @pytest.mark.parametrize(
        "variant",
        [
            "Seat children at the bar after eight, or the licence is lost.",
            "Never seat children at the bar after nine, or the licence is lost.",
            "Never seat the bar at children after eight, or the licence is lost.",
        ],
    )
    def test_a_variant_stays(self, variant: str) -> None:
        text = f"{LONG} Never seat children at the bar after eight, or the licence is lost. {variant}"
        assert shrunk(text) == text


class TestSigns:
    def test_a_cut_inside_a_line_shows(self) -> None:
        text = LONG + " Returns the booking as text. Ask about allergies first."
        assert shrunk(text) == LONG + " … Ask about allergies first."

    @pytest.mark.parametrize("blank", ["\u3000", "\u00a0", " "])
    def test_between_neighbours_stands_what_stood_there(self, blank: str) -> None:
        text = f"{LONG} Returns the booking. Ask first.{blank}Guests must leave by midnight."
        assert shrunk(text) == f"{LONG} … Ask first.{blank}Guests must leave by midnight."

    def test_sentences_that_nothing_parted_get_no_blank(self) -> None:
        rules = "默认值为2人。客人必须准时到达。最多可以预订10个座位。如果餐桌已满，则不会创建预订。"
        text = f"在指定的日期和时间预订一张餐桌。返回预订信息。{rules}"
        assert len(text.encode()) > WHOLE_BYTES
        assert shrunk(text) == text.replace("返回预订信息。", f" {CUT_SIGN} ")

    def test_a_line_that_stays_does_not_run_into_the_next(self) -> None:
        text = (
            LONG
            + "\nUse the short name of the place, as it is printed on the menu card\nReturns the booking as text.\nand never the long one"
        )
        assert "on the menu card\n\nand never the long one" in shrunk(text)

    def test_an_announcement_of_something_dropped_shows_it(self) -> None:
        text = LONG + '\n\n## Response\nAll bookings come in this format:\n```json\n{"id": "b1"}\n```'
        assert shrunk(text) == LONG + "\n\n## Response\nAll bookings come in this format: …"

    def test_nothing_marks_a_cut_at_the_end(self) -> None:
        assert shrunk(LONG + " Returns the booking as text.") == LONG


class TestSchema:
    def test_a_default_that_the_schema_has_goes(self) -> None:
        assert shrunk(LONG + " Defaults to inside. Ask about allergies first.") == LONG + " … Ask about allergies first."

    def test_another_default_stays(self) -> None:
        text = LONG + " Defaults to outside. Ask about allergies first."
        assert shrunk(text) == text

    def test_a_sentence_of_the_leads_words_goes(self) -> None:
        text = LEAD + " This tool reserves a table at the named restaurants. " + LONG[len(LEAD) + 1 :]
        assert "This tool" not in shrunk(text)

    def test_what_a_parameter_says_itself_goes(self) -> None:
        context = msgspec.structs.replace(CONTEXT, described={"note": "The waiter reads out the wishes for the kitchen"})
        assert shrunk(LONG + " The waiter reads the wishes to the kitchen. Ask first.", context=context) == LONG + " … Ask first."
        assert shrunk(LONG + "\n\n- `note`: wishes for the kitchen", context=context) == LONG

    @pytest.mark.parametrize(
        "sentence",
        [
            "The waiter reads the wishes to the owner.",
            "The waiter never reads the wishes to the kitchen.",
            "The waiter reads `wishes` to the kitchen.",
            "Two waiters of the kitchen.",
            "The kitchen reads the wishes to the waiter.",
        ],
    )
    def test_what_a_parameter_does_not_say_itself_stays(self, sentence: str) -> None:
        context = msgspec.structs.replace(CONTEXT, described={"note": "Wishes that the waiter reads to the kitchen", "day": "Guests come"})
        text = f"{LONG} {sentence} Ask first."
        assert shrunk(text, context=context) == text

    def test_parameters_are_not_compared_with_one_another(self) -> None:
        context = msgspec.structs.replace(CONTEXT, described={"note": "Wishes that the waiter reads to the kitchen"}, parameter="day")
        text = LONG + " The waiter reads the wishes to the kitchen. Ask first."
        assert shrunk(text, context=context) == text

    def test_an_example_whose_form_a_parameter_shows_goes(self) -> None:
        text = LONG + '\n\nExample: "2023-12-24"'
        assert shrunk(text, context=msgspec.structs.replace(CONTEXT, described={"day": 'Like "2024-01-31"'})) == LONG
        assert shrunk(text) == text

    def test_the_purpose_stays_where_the_lead_says_only_what_it_belongs_to(self) -> None:
        context = ToolContext(tool="mow_lawn", parameters=frozenset({"speed"}))
        text = (
            "This tool belongs to the garden suite, which gives the people of the house machines for the lawn and for the flower beds. "
            "Summary: mow the lawn of the house that the person lives in with the machine."
        )
        assert shrunk(text, context=context) == text


class TestTerse:
    def test_keeps_the_lead_and_what_states_a_rule(self) -> None:
        text = LEAD + " The house is old and loved by all of the town. Guests must arrive on time. The wine is from the south of the land."
        assert shrunk(text, Level.TERSE) == LEAD + " … Guests must arrive on time."

    def test_keeps_the_line_that_a_rule_stands_below(self) -> None:
        text = LONG + "\n\nPlaces for the evening\n- terrace: at most 4 guests"
        assert shrunk(text, Level.TERSE).endswith("- terrace: at most 4 guests")

    def test_drops_no_less_than_standard(self) -> None:
        text = LONG + RETURNS + "\n\nPerfect for birthdays with friends and family. The house is old and loved by all."
        assert len(shrunk(text, Level.TERSE)) <= len(shrunk(text))


def test_shorten_is_describe_without_the_reasons() -> None:
    text = LONG + RETURNS
    for level in Level:
        assert shorten(text, CONTEXT, level) == describe(text, CONTEXT, level)[0]


def test_units_say_why_and_cover_the_source() -> None:
    text = f"\n    {LONG}\n      Perfect for birthdays with friends and family.\n" + RETURNS
    _, units = describe(text, CONTEXT, Level.STANDARD)
    assert "".join(text[unit.start : unit.end] for unit in units) == text
    assert all(unit.kind and unit.why for unit in units)
    assert unit_at(text, "Perfect").kind == "marketing"
    assert unit_at(text, "A dictionary").kind == "return-shape"
    assert unit_at(text, "Reserves").kind == "purpose"
