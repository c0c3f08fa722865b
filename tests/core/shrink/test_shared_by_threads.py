"""What is remembered of texts is shared by all threads that shrink: none sees what another has not finished."""

import pytest

from caveman_tui.core.shrink import line, reading
from caveman_tui.core.shrink.line import Line
from caveman_tui.core.shrink.reading import Reading

_TEXT = "Posts a comment on an issue. Comments are a great way to talk. Mention people sparingly."


def test_sentences_that_another_thread_is_still_finding_are_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Line(_TEXT)
    seen: list[list[str]] = []

    def read(text: str) -> Reading:
        if not seen:
            # As a second thread does that comes to the same line now.
            seen.append([])
            seen[0] = [sentence.text for _, sentence in shown.sentences()]
        return Reading(text)

    monkeypatch.setattr(line, "read", read)
    whole = [sentence.text for _, sentence in shown.sentences()]
    assert len(whole) == 3
    assert seen == [whole]


@pytest.mark.parametrize(("asked", "finder"), [("signals", "signals_of"), ("filler", "filler_of")])
def test_a_reading_gives_the_same_to_who_comes_between(asked: str, finder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = Reading("It must be unique, and it is truly wonderful.")
    expected = getattr(Reading(sentence.text), asked)()
    found = getattr(reading, finder)
    between: list[object] = []

    def find(*arguments: object) -> object:
        if not between:
            between.append(None)
            between[0] = getattr(sentence, asked)()
        return found(*arguments)

    monkeypatch.setattr(reading, finder, find)
    assert getattr(sentence, asked)() == expected
    assert between == [expected]
