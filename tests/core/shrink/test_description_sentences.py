"""Where sentences end, and where they only seem to."""

import pytest

from caveman_tui.core.shrink.sentences import sentence_ends


def sentences(text: str) -> list[str]:
    ends = sentence_ends(text, 0, len(text))
    return [text[start:end].strip() for start, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize(
    "text",
    [
        "Target folder, e.g. /srv/data or its parent.",
        "Runs i.e. WITHOUT a login of the owner.",
        "Files, folders etc. DO NOT count here.",
        "Needs version 14.2.1 of the server.",
        "Read https://example.org/a.b?c=d.e first.",
        "Writes the _manifest.json beside it.",
        "Matches ^a.*\\.b$ in the name.",
        "Fails (with the error. Then it stops.) always.",
        'Fails with "File not found. Try again." and stops.',
        "Answers `a. B. c` to all.",
        "Ask Dr. Smith about it.",
        "Costs approx. 5 coins.",
        "1. Call it",
        "Uses J. Smith's table.",
        "Stops... and goes on.",
    ],
)
def test_one_sentence(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Books it. Frees it.", ["Books it.", "Frees it."]),
        ("Do not repeat the request!!!) Wait instead.", ["Do not repeat the request!!!)", "Wait instead."]),
        ("Is it free? Then book.", ["Is it free?", "Then book."]),
        ("必须先搜索。然后预订！最多十二位。", ["必须先搜索。", "然后预订！", "最多十二位。"]),
        ("Books it.\nFrees it.", ["Books it.", "Frees it."]),
        ("Books **it.** Frees it.", ["Books **it.**", "Frees it."]),
        ("Books it. … Frees it.", ["Books it.", "… Frees it."]),
    ],
)
def test_several(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


def test_ends_cover_the_stretch() -> None:
    text = "Before. One two. Three.   Four"
    ends = sentence_ends(text, 8, len(text))
    assert ends == sorted(ends)
    assert ends[-1] == len(text)
    assert all(8 < end <= len(text) for end in ends)
