"""What a person does to the list: pause, clear, mark, group."""

from caveman_tui.protocol import events
from caveman_tui.protocol.events import AnyEvent
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import status_line
from caveman_tui.traffic.filter import parse
from caveman_tui.traffic.lines import plain
from caveman_tui.traffic.outline import Group
from caveman_tui.traffic.view import ViewChange
from tests.traffic.test_log_and_view import done, ids, loaded, started


def finished(number: int, seq: int) -> AnyEvent:
    return events.ExchangeFinished(id=f"e{number}", seq=seq, outcome="done", duration_ms=5.0, response_bytes=1)


def test_a_paused_list_stands_still_counts_and_catches_up() -> None:
    log, view = loaded(done(1), done(2))
    view.pause(True)
    assert view.apply(log.apply([started(3, 1, model="opus"), started(4, 2), finished(3, 3)])) == ViewChange()
    assert ids(view) == ["e1", "e2"] and view.unseen == 2
    assert plain(status_line.follow_part(view)) == "paused, 2 new"
    view.set_filter(parse("id:e"))
    assert ids(view) == ["e1", "e2"]
    view.move_to(1)
    assert view.unseen == 2
    view.pause(False)
    assert ids(view) == ["e1", "e2", "e3", "e4"] and view.unseen == 0 and view.current is log.get("e4")


def test_catching_up_away_from_the_tail_leaves_the_cursor_and_the_count() -> None:
    log, view = loaded(done(1), done(2))
    view.move_to(0)
    view.pause(True)
    view.apply(log.apply([started(3, 1)]))
    view.pause(False)
    assert view.current is log.get("e1") and view.unseen == 1


def test_what_is_forgotten_while_paused_does_no_harm() -> None:
    log, view = loaded(*(done(number) for number in range(10)), limit=10)
    view.pause(True)
    view.apply(log.apply([started(number, number) for number in range(10, 600)]))
    assert len(log) == 10 and log.get("e5") is None
    assert ids(view) == [f"e{number}" for number in range(10)] and view.cursor == 9
    view.move_to(3)
    view.pause(False)
    assert ids(view) == [f"e{number}" for number in range(590, 600)]


def test_clearing_is_for_the_display_only() -> None:
    log, view = loaded(done(1), done(2))
    view.clear(True)
    assert ids(view) == [] and view.cleared == 2 and len(log) == 2
    view.apply(log.apply([started(3, 1), finished(2, 2)]))
    assert ids(view) == ["e3"]
    view.set_filter(parse("id:e2"))
    assert ids(view) == []
    view.set_filter(parse(""))
    view.clear(False)
    assert ids(view) == ["e1", "e2", "e3"] and view.cleared == 0


def test_clearing_while_paused_empties_the_list_until_it_catches_up() -> None:
    log, view = loaded(done(1))
    view.pause(True)
    view.apply(log.apply([started(2, 1)]))
    view.clear(True)
    view.apply(log.apply([started(3, 2)]))
    assert ids(view) == [] and view.unseen == 1
    view.pause(False)
    assert ids(view) == ["e3"]


def test_marks_are_visited_around_the_end_and_survive_filters() -> None:
    log, view = loaded(*(done(number) for number in range(5)))
    assert not view.next_mark(1)
    for index in (1, 3):
        view.move_to(index)
        view.toggle_mark()
    assert [view.next_mark(1) and view.cursor for _ in range(3)] == [1, 3, 1]
    assert [view.next_mark(-1) and view.cursor for _ in range(2)] == [3, 1]
    view.set_filter(parse("id:e4"))
    assert view.marked() == [log.get("e1"), log.get("e3")] and not view.next_mark(1)
    view.set_filter(parse(""))
    view.move_to(1)
    view.toggle_mark()
    assert view.marked() == [log.get("e3")]


def grouped() -> list[Exchange]:
    return [done(1, conversation="c"), done(2, conversation="d"), done(3, conversation="c", agent="a"), done(4, conversation="c")]


def lines(view: object) -> list[str]:
    return [line.key[1] or line.key[0] if isinstance(line, Group) else line.id for line in view.lines]  # type: ignore[attr-defined]


def test_a_grouped_list_keeps_the_cursor_on_its_exchange_and_folds() -> None:
    log, view = loaded(*grouped())
    view.move_to(2)
    view.group(True)
    assert lines(view) == ["c", "e1", "a", "e3", "e4", "d", "e2"] and view.line_cursor == 3
    view.fold()
    assert lines(view) == ["c", "e1", "a", "e4", "d", "e2"] and view.line_cursor == 2 and view.current is log.get("e3")
    view.move_to_line(0)
    assert view.current is log.get("e4") and view.line_cursor == 0 and not view.following
    view.fold()
    assert lines(view) == ["c", "d", "e2"] and view.line_cursor == 0
    view.apply(log.apply([started(5, 1, conversation="c", agent="a")]))
    assert lines(view) == ["c", "d", "e2"] and view.line_cursor == 0 and view.unseen == 1
    view.fold_all()
    assert lines(view) == ["c", "d"]
    view.fold_all()
    assert lines(view)[:4] == ["c", "e1", "a", "e3"]
    view.group(False)
    assert lines(view) == ids(view) and view.line_cursor == view.cursor


def test_a_head_marks_all_under_it_and_a_mark_is_unfolded_when_visited() -> None:
    log, view = loaded(*grouped())
    view.group(True)
    view.move_to_line(0)
    view.toggle_mark()
    assert [exchange.id for exchange in view.marked()] == ["e1", "e3", "e4"]
    view.fold()
    assert view.next_mark(1) and view.current is log.get("e1") and lines(view)[:2] == ["c", "e1"]
    view.move_to_line(0)
    view.toggle_mark()
    assert view.marked() == []


def test_a_grouped_list_follows_the_newest_exchange() -> None:
    log, view = loaded(*grouped())
    view.group(True)
    assert view.following
    change = view.apply(log.apply([started(5, 1, conversation="d")]))
    assert change.rebuilt and view.current is log.get("e5") and lines(view)[view.line_cursor] == "e5"
    assert view.apply(log.apply([finished(9, 2)])) == ViewChange()
