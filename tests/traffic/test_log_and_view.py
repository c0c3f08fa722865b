"""The fold of events, and the list made of it."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_tui.config import ANTHROPIC
from caveman_tui.core.policy import Level, ShrinkMode
from caveman_tui.core.usage import Usage
from caveman_tui.protocol import events
from caveman_tui.protocol.control import ExchangeList, Status, StoreStatus
from caveman_tui.protocol.events import AnyEvent, Settings, ToolsSummary
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.filter import parse
from caveman_tui.traffic.log import TrafficLog
from caveman_tui.traffic.view import SortKey, TrafficView


def status(instance: str = "one", seq: int = 0) -> Status:
    return Status(
        instance=instance,
        pid=1,
        version="0",
        started_at=0.0,
        host="127.0.0.1",
        port=8788,
        settings=Settings(shrink=ShrinkMode.APPLY),
        upstreams=(ANTHROPIC,),
        store=StoreStatus(path="/s", originals=3, payload_bytes=10, budget_bytes=100),
        seq=seq,
        exchanges=0,
        open_exchanges=0,
        body_bytes=0,
        body_budget_bytes=0,
    )


def loaded(*exchanges: Exchange, limit: int = 10_000) -> tuple[TrafficLog, TrafficView]:
    log = TrafficLog(limit)
    view = TrafficView(log)
    view.apply(log.load(status(), ExchangeList(instance="one", seq=0, exchanges=exchanges)))
    return log, view


def done(number: int, **fields: object) -> Exchange:
    given: dict[str, object] = {"id": f"e{number}", "started_at": float(number), "method": "POST", "path": "/", "state": "done", **fields}
    return Exchange(**given)  # type: ignore[arg-type]


def started(number: int, seq: int, **fields: object) -> AnyEvent:
    given: dict[str, object] = {"id": f"e{number}", "at": float(number), "seq": seq, "method": "POST", "path": "/", **fields}
    return events.ExchangeStarted(**given)  # type: ignore[arg-type]


def ids(view: TrafficView) -> list[str]:
    return [row.id for row in view.rows]


def shrunk(before: int, after: int, *, applied: bool = True) -> ToolsSummary:
    return ToolsSummary(
        pointer="/tools",
        digest="d",
        level=Level.STANDARD,
        applied=applied,
        tools=1,
        bytes_before=before * 4,
        bytes_after=after * 4,
        tokens_before=before,
        tokens_after=after,
    )


def test_events_become_rows_and_known_ones_are_skipped() -> None:
    log, view = loaded(done(1))
    change = view.apply(log.apply([started(2, 1, model="m"), events.ExchangeResponding(seq=2, id="e2", status=200, ttfb_ms=5.0)]))
    assert ids(view) == ["e1", "e2"] and not change.rebuilt and 1 in change.rows
    assert view.rows[1].status == 200 and view.rows[1].state == "responding"
    again = view.apply(log.apply([started(3, 2)]))
    assert ids(view) == ["e1", "e2"] and again.rows == ()


def test_following_keeps_the_cursor_on_the_newest_row() -> None:
    log, view = loaded(done(1), done(2))
    assert view.current is not None and view.current.id == "e2"
    view.apply(log.apply([started(3, 1)]))
    assert view.current.id == "e2" or view.current.id == "e3"
    assert view.rows[view.cursor].id == "e3" and view.unseen == 0


def test_away_from_the_tail_new_rows_are_counted_and_the_cursor_stays() -> None:
    log, view = loaded(done(1), done(2), done(3))
    view.move_to(0)
    assert not view.following
    view.apply(log.apply([started(4, 1), started(5, 2)]))
    assert view.unseen == 2 and view.current is not None and view.current.id == "e1"
    view.move_to(4)
    assert view.following and view.unseen == 0


def test_a_row_that_begins_to_match_appears_in_its_place() -> None:
    log, view = loaded(done(1, note="x"), done(3, note="x"))
    view.apply(log.apply([started(4, 1)]))
    view.set_filter(parse("note:x"))
    assert ids(view) == ["e1", "e3"]
    change = view.apply(log.apply([events.ExchangeFinished(seq=2, id="e4", outcome="done", duration_ms=1.0, response_bytes=0, note="x")]))
    assert ids(view) == ["e1", "e3", "e4"] and change.rows


def test_a_row_that_stops_matching_goes() -> None:
    log, view = loaded(done(1))
    view.apply(log.apply([started(2, 1)]))
    view.set_filter(parse("status:open"))
    assert ids(view) == ["e2"]
    change = view.apply(log.apply([events.ExchangeFinished(seq=2, id="e2", outcome="done", duration_ms=1.0, response_bytes=0)]))
    assert ids(view) == [] and change.rebuilt and view.current is None


def test_a_filter_keeps_the_cursor_on_its_exchange() -> None:
    _, view = loaded(*(done(number, model="a" if number % 2 else "b") for number in range(10)))
    view.move_to(5)
    view.set_filter(parse("model:a"))
    assert view.current is not None and view.current.id == "e5"
    view.set_filter(parse("model:b"))
    assert view.current.model == "b"


def test_sorting_puts_what_is_unknown_last_both_ways() -> None:
    usage = [Usage(input_tokens=n) if n else None for n in (30, 0, 10, 20)]
    _, view = loaded(*(done(number, usage=usage[number]) for number in range(4)))
    view.set_sort(SortKey.INPUT, True)
    assert ids(view) == ["e0", "e3", "e2", "e1"]
    view.set_sort(SortKey.INPUT, False)
    assert ids(view) == ["e2", "e3", "e0", "e1"]
    view.set_sort(SortKey.STARTED, True)
    assert ids(view) == ["e3", "e2", "e1", "e0"]


def test_another_worker_leaves_the_rows_and_ends_what_was_open() -> None:
    log, view = loaded(done(1))
    view.apply(log.apply([started(2, 7)]))
    view.apply(log.load(status("two"), ExchangeList(instance="two", seq=1, exchanges=(done(9),))))
    assert ids(view) == ["e1", "e2", "e9"]
    assert view.rows[1].state == "broken" and view.rows[1].note == "the worker ended"
    view.apply(log.apply([started(10, 2)]))
    assert ids(view)[-1] == "e10"


def test_reloading_the_same_worker_loses_and_doubles_nothing() -> None:
    log, view = loaded(done(1), done(2))
    view.apply(log.load(status(seq=5), ExchangeList(instance="one", seq=5, exchanges=(done(2, note="fresh"), done(3)))))
    assert ids(view) == ["e1", "e2", "e3"] and view.rows[1].note == "fresh"


def test_the_oldest_go_past_the_limit_and_totals_keep_their_part() -> None:
    log, view = loaded(limit=100)
    batch: list[AnyEvent] = []
    for number in range(601):
        batch.append(started(number, 2 * number + 1, dialect="anthropic-messages"))
        batch.append(events.ExchangeRewritten(seq=2 * number + 2, id=f"e{number}", tools=(shrunk(10, 4),)))
    for start in range(0, len(batch), 50):
        view.apply(log.apply(batch[start : start + 50]))
    assert len(log) == len(view.rows) == 100 and ids(view)[0] == "e501"
    assert log.totals.tokens_saved == 601 * 6
    assert view.current is not None and view.current.id == "e600"


def test_totals_tell_applied_measured_and_uncounted_apart() -> None:
    log, _ = loaded(
        done(1, tools=(shrunk(10, 4),)),
        done(2, tools=(shrunk(10, 4, applied=False),)),
        done(3, tools=(shrunk(4, 10),)),
        done(4, tools=(msgspec.structs.replace(shrunk(9, 1), tokens_before=None),)),
        done(5, dialect="anthropic-count-tokens", tools=(shrunk(100, 1),)),
        done(6, model="no-such-model", usage=Usage(input_tokens=1, output_tokens=1)),
    )
    totals = log.totals
    assert (totals.tokens_saved, totals.tokens_measured, totals.uncounted) == (0, 6, 1)
    assert (totals.priced, totals.unpriced) == (0, 1)


def test_settings_store_and_warnings_are_kept() -> None:
    log, view = loaded(done(1))
    changes = log.apply(
        [
            events.SettingsChanged(seq=1, settings=Settings(shrink=ShrinkMode.OFF)),
            events.StoreChanged(seq=2, handle="ccr_1", originals=4),
            events.Warned(seq=3, code="store-slow", exchange="e1", what="It took long."),
        ]
    )
    view.apply(changes)
    assert changes.settings and changes.store and [w.code for w in changes.warnings] == ["store-slow"]
    assert log.settings.shrink is ShrinkMode.OFF
    assert (log.store.originals, log.store.payload_bytes, log.store.path) == (4, 10, "/s")
    assert view.rows[0].warnings == ("store-slow",)


def test_conversations_are_summed_up_newest_first() -> None:
    log, _ = loaded(done(1, conversation="a"), done(2, conversation="b", agent="x"), done(3, conversation="a"), done(4, conversation="b"))
    assert [(c.id, c.exchanges, c.agents) for c in log.conversations()] == [("b", 2, 1), ("a", 2, 0)]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("sfumr"), st.integers(0, 12)), max_size=60), st.sampled_from(list(SortKey)), st.booleans())
def test_step_by_step_the_view_is_what_a_rebuild_would_give(steps: list[tuple[str, int]], sort: SortKey, descending: bool) -> None:
    log, view = loaded()
    view.set_filter(parse("-note:hidden"))
    view.set_sort(sort, descending)
    for seq, (kind, number) in enumerate(steps, 1):
        event: AnyEvent
        match kind:
            case "s":
                if log.get(f"e{number}") is not None:
                    continue
                event = started(number, seq)
            case "f":
                note = "hidden" if number % 3 == 0 else ""
                event = events.ExchangeFinished(seq=seq, id=f"e{number}", outcome="done", duration_ms=number, response_bytes=0, note=note)
            case "u":
                event = events.ExchangeUsage(seq=seq, id=f"e{number}", usage=Usage(input_tokens=number * seq))
            case "m":
                view.move_to(number)
                continue
            case _:
                event = events.ExchangeResponding(seq=seq, id=f"e{number}", status=200, ttfb_ms=number)
        view.apply(log.apply([event]))
        kept = ids(view)
        cursor = view.current.id if view.current else None
        rebuilt = TrafficView(log)
        rebuilt.set_filter(view.filter)
        rebuilt.set_sort(sort, descending)
        assert kept == ids(rebuilt)
        assert cursor is None or cursor in kept
