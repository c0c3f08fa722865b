from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.sse import SseEvent, SseReader

TEXT = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=20)


def events(stream: bytes, cuts: list[int] | None = None, limit: int = 10_000) -> list[SseEvent]:
    reader = SseReader(limit)
    found = []
    position = 0
    for cut in [*sorted(cut % (len(stream) + 1) for cut in cuts or []), len(stream)]:
        found += reader.feed(stream[position:cut])
        position = cut
    return found + reader.close()


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, list[SseEvent]]:
    """A stream with its events, written with any line ends, comments and fields in between."""
    end = draw(st.sampled_from(["\r\n", "\n", "\r"]))
    text, expected = draw(st.sampled_from(["", "\ufeff"])), []
    for name, data in draw(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), max_size=5)):
        lines = [": a comment", f"event: {name}", "id: 7", *(f"data: {line}" for line in data), ":"]
        text += end.join(lines) + end + end
        expected.append(SseEvent(name.encode(), "\n".join(data).encode()))
    return text.encode(), expected


@given(streams(), st.lists(st.integers(min_value=0, max_value=5000), max_size=30))
def test_cuts_anywhere_change_nothing(stream: tuple[bytes, list[SseEvent]], cuts: list[int]) -> None:
    assert events(stream[0], cuts) == stream[1]


@given(streams())
def test_byte_by_byte(stream: tuple[bytes, list[SseEvent]]) -> None:
    assert events(stream[0], list(range(len(stream[0])))) == stream[1]


def test_a_space_after_the_colon_is_optional_and_only_one_goes() -> None:
    assert events(b"data:a\ndata:  b \n\n") == [SseEvent(b"", b"a\n b ")]


def test_an_event_without_data_is_none() -> None:
    assert events(b"event: ping\n\n\n\n: hello\n\ndata\n\n") == [SseEvent(b"", b"")]


def test_the_name_does_not_outlive_its_event() -> None:
    assert events(b"event: error\n\ndata: x\n\n") == [SseEvent(b"", b"x")]


def test_the_last_newline_may_be_missing() -> None:
    for tail in (b"", b"\n", b"\n\n", b"\r", b"\r\n"):
        assert events(b"data: [DONE]" + tail) == [SseEvent(b"", b"[DONE]")]


def test_a_giant_event_is_passed_over_and_the_next_one_read() -> None:
    giant = b"data: " + b"x" * 5000 + b"\ndata: more\n\n"
    many = b"data: y\n" * 5000 + b"\n"
    for stream in (giant, many):
        found = events(stream + b"event: e\ndata: z\n\n", list(range(0, 50_000, 7)), limit=1000)
        assert found == [SseEvent(b"e", b"z")]


def test_nothing_of_a_giant_event_is_kept() -> None:
    reader = SseReader(1000)
    for _ in range(100):
        reader.feed(b"data: " + b"x" * 900)
    assert len(reader._line) + sum(map(len, reader._data)) <= 1000
