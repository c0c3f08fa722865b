"""One sentence for each kind of fact and each kind of filler, in the middle of a long description."""

import pytest

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.model import ToolContext
from caveman_tui.core.shrink.reading import read
from caveman_tui.core.shrink.vocabulary import Signal
from tests.core.shrink.descriptions import LONG, shrunk, unit_at

FACTS = [
    (Signal.MARKER, "Guests must leave by midnight."),
    (Signal.MARKER, "A party of three is rejected on Fridays."),
    (Signal.MARKER, "Exactly one of the two rooms is picked."),
    (Signal.MARKER, "Names are unique within the evening."),
    (Signal.MARKER, "Hours follow RFC 3339."),
    (Signal.PROHIBITION, "Wine is not part of the menu."),
    (Signal.PROHIBITION, "Dogs don't count as guests."),
    (Signal.PROHIBITION, "Die Bar wird nie für Fremde geöffnet."),
    (Signal.PROHIBITION, "El bar queda prohibido para los extraños."),
    (Signal.PROHIBITION, "Aucun chien dans la salle du nord."),
    (Signal.PROHIBITION, "Nessuno entra nella sala del nord."),
    (Signal.EXCLUSIVE, "Give either the room or the table."),
    (Signal.ONLY, "Works for parties of grown people only."),
    (Signal.ONLY, "The bar is closed unless the owner is there."),
    (Signal.ONLY, "Ausschließlich für Gruppen aus dem Norden."),
    (Signal.ONLY, "La terrasse, sauf en hiver."),
    (Signal.PREREQUISITE, "Gäste müssen sich am Abend melden."),
    (Signal.PREREQUISITE, "El nombre es obligatorio para la mesa."),
    (Signal.PREREQUISITE, "Le nom est obligatoire pour la table."),
    (Signal.PREREQUISITE, "Ask the person for the day beforehand."),
    (Signal.PREREQUISITE, "The list comes from a search that ran before this one."),
    (Signal.PREREQUISITE, "You need to know the street."),
    (Signal.DEFAULT, "Two chairs by default."),
    (Signal.DEFAULT, "If omitted, the owner picks a room."),
    (Signal.CONDITION, "The terrace is taken if the sun is out."),
    (Signal.FORMAT, "Rooms are written e.g. north-wing."),
    (Signal.FORMAT, "Names are separated by a comma."),
    (Signal.FORMAT, "Chairs are 0-based."),
    (Signal.FORMAT, "The day is YYYYMMDD."),
    (Signal.LITERAL, "The house goes by `casa` in the books."),
    (Signal.LITERAL, "The owner reads table_name as the room."),
    (Signal.LITERAL, "Looks in /etc/tables for the rooms."),
    (Signal.UNIT, "The wait is in minutes."),
    (Signal.UNIT, "The owner waits 30 seconds."),
    (Signal.BOUND, "Seats up to a dozen people."),
    (Signal.BOUND, "Between the walls there is room for 1-20."),
    (Signal.DESTRUCTIVE, "The booking of the other guest will be deleted."),
    (Signal.DESTRUCTIVE, "The reservation is charged to the card."),
    (Signal.DESTRUCTIVE, "A room is automatically created for the party."),
    (Signal.WHEN, "Prefer this over a telephone call."),
    (Signal.WHEN, "Use it for dinners of colleagues."),
    (Signal.INSTRUCTION, "Provide the street of the house."),
    (Signal.INSTRUCTION, "You may have the room next door."),
    (Signal.CHOICES, "The rooms are (north, south, east)."),
    (Signal.ENUMERATION, "Rooms of the house: north, south, east."),
    (Signal.EMPHASIS, "The owner *does* charge for water."),
    (Signal.CAPABILITY, "Covers the restaurants of the north and of the south."),
]

FILLER = [
    ("return-shape", "Returns the booking with the name of the waiter."),
    ("return-shape", "It then returns the names of the rooms."),
    ("return-shape", "The response includes the name of the waiter."),
    ("return-shape", "A summary of the evening will be displayed."),
    ("marketing", "Perfect for birthdays with friends and family."),
    ("marketing", "It is particularly useful for dinners of large families."),
    ("marketing", "The state-of-the-art kitchen of the house is loved by the town."),
    ("rationale", "This helps the owner with the seating."),
    ("marketing", "The kitchen is trusted by thousands of families of the town."),
    ("marketing", "The people of the town get to their table with ease."),
    ("marketing", "Designed with large families in mind."),
    ("restated-purpose", "Easily lets the person reserve tables at the named restaurants."),
    ("restated-schema", "Accepts the day and the place of the dinner."),
    ("naming", "This tool can be referenced as the butler of the house."),
    ("implementation", "The booking leverages the ledger of the house."),
    ("restated-purpose", "It gives the person a table at the restaurants."),
    ("return-shape", "The full response will include the name of the waiter."),
    ("marketing", "Ideal für den Abend der Familie."),
    ("background", "Ledger Nine is an open source platform for the restaurants of the town."),
    ("background", "Evenings are the building blocks of the calendar of the house."),
    ("reference", "See https://house.example/docs for more information."),
    ("reference", "For more information, see the documentation of the house."),
    ("return-shape", "Each entry of the result has a name and a street."),
    ("return-shape", "You will receive a list of the tables of the house."),
]


@pytest.mark.parametrize(("kind", "sentence"), FACTS)
def test_a_fact_stays(kind: Signal, sentence: str) -> None:
    text = f"{LONG} {sentence} Ask about allergies."
    assert shrunk(text) == text
    assert kind & read(sentence).signals()


@pytest.mark.parametrize(("kind", "sentence"), FILLER)
def test_filler_goes_and_says_why(kind: str, sentence: str) -> None:
    text = f"{LONG} {sentence} Ask about allergies."
    assert shrunk(text) == f"{LONG} … Ask about allergies."
    unit = unit_at(text, sentence)
    assert (unit.kept, unit.kind) == (False, kind)
    assert unit.why


@pytest.mark.parametrize(
    "sentence",
    [
        "Returns nothing, and the old booking must be gone by then.",
        "Perfect for birthdays, which cannot be booked by telephone.",
        "This helps the owner with at most one evening.",
        "The house is unique and trusted by thousands of people of the town.",
    ],
)
@pytest.mark.parametrize("level", [Level.STANDARD, Level.TERSE])
def test_a_marker_outweighs_every_filler_rule(level: Level, sentence: str) -> None:
    text = f"{LONG} {sentence} The house is old and loved by all of the people."
    assert sentence in shrunk(text, level)


@pytest.mark.parametrize(
    "sentence",
    [
        "Returns the booking, but not the bill.",
        "Perfect for birthdays, up to a dozen guests.",
        "Accepts the street in lower case, e.g. rue-haute.",
        "This tool gives a place at the table only to members.",
        "Devuelve hasta cincuenta filas.",
        "Retorna valores em centavos, sem impostos.",
        "Essential to call before the evening.",
        "Takes a photograph of the table and hangs it at the door.",
        "This allows guests to sit apart.",
        "The output will be written to the book of the house.",
        "The result of this is sent as one of (card, sheet, note).",
        "Returns the street where the owner lives, which can be passed to find_house.",
    ],
)
def test_a_fact_outweighs_the_filler_around_it(sentence: str) -> None:
    text = f"{LONG} {sentence} Ask about allergies."
    assert shrunk(text) == text


@pytest.mark.parametrize(
    "sentence",
    [
        "Quotes inside the name have to be doubled.",
        "The waiter has to be a friend of the house.",
        "Long names get truncated.",
        "Private rooms are left out.",
        "The bill goes out to everyone at the table.",
        "Names are folded to upper case.",
        "The amount is an integer.",
        "Accepts postcards and photographs.",
        "Each guest in the list has a name and a seat.",
        "For more information on a table, see find_restaurants.",
        "Weekends count as well.",
        "It produces a bill each time.",
        "It adds the tip on top.",
        "Returns nothing for a closed house.",
        "Returns guests in pages; ask for the next with the cursor.",
        "The result is cached for the evening.",
        "Prints the card on the printer of the house.",
        "This ensures that a seat exists and creates it otherwise.",
        "Trusted by thousands, but the trial charges real cards.",
        "Built on the second floor, so wheelchairs fail.",
        "Useful for the name that find_restaurants wants.",
    ],
)
def test_a_fact_without_a_sign_stays(sentence: str) -> None:
    text = f"{LONG} {sentence} Ask about allergies."
    assert shrunk(text) == text


def test_what_an_argument_returns_or_holds_is_no_return_shape() -> None:
    context = ToolContext(tool="book_table", parameters=frozenset({"verbose"}), parameter="verbose")
    for sentence in ("Returns the full menu with the names of the cooks.", "Each dish contains a name and a cook."):
        text = f"{LONG} {sentence} Ask about allergies."
        assert shrunk(text, context=context) == text


@pytest.mark.parametrize(
    "sentence",
    [
        "必须先调用搜索工具。",
        "严禁预订两次。",
        "最多支持十二位客人。",
        "默认为两位客人。",
        "日期格式为年月日。",
        "如果没有空位，则返回错误。",
        "예약하기 전에 반드시 확인하세요.",
        "No reservar dos veces la misma mesa.",
        "La mesa debe estar libre.",
        "Der Tisch darf nicht belegt sein.",
        "Les chiens ne sont pas admis à table.",
        "La casa es antigua y muy querida por los vecinos.",
    ],
)
def test_other_languages_stay(sentence: str) -> None:
    text = f"{LONG}\n{sentence}\nAsk about allergies."
    assert sentence in shrunk(text)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("marketing", "本服务深受广大客人喜爱。"),
        ("marketing", "皆様のお越しにぜひお役立てください。"),
        ("marketing", "Miles de comercios confían ya en esta casa."),
        ("return-shape", "予約の詳細が返されます。"),
        ("return-shape", "Als Ergebnis erhalten Sie eine Liste der Tische."),
    ],
)
def test_filler_in_other_languages_goes(kind: str, sentence: str) -> None:
    text = f"{LONG}\n{sentence}\nAsk about allergies."
    assert sentence not in shrunk(text)
    assert unit_at(text, sentence).kind == kind


def test_chinese_results_go() -> None:
    lead = (
        "在用户选定的餐厅预订一张桌子，需要先调用搜索工具确定哪些餐厅仍有空位，并在预订之前告诉用户选择了哪一家餐厅，"
        "得到用户确认后再调用本工具。"
    )
    assert shrunk(lead + "\n\n返回:\n    预订结果消息") == lead
