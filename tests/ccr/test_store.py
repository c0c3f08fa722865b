import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caveman_tui.ccr import (
    HandleMalformed,
    HandleUnknown,
    NotOurs,
    OriginalDamaged,
    OverBudget,
    Record,
    Store,
    StoreDiskFull,
    StoreError,
    StoreForeign,
    StoreMissing,
    StoreUnreachable,
    default_path,
    handle_of,
    open_store,
)
from caveman_tui.ccr import store as store_module


def put(store: Store, original: bytes, **over: object) -> str:
    given: dict[str, object] = {"content_type": "toolschema", "compressor": "toolschema", "tokens_before": 10, "tokens_after": 7}
    return store.put(original, **{**given, **over})  # type: ignore[arg-type]


def raw(path: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    """As another tool would: a plain connection, no code of ours."""
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute(sql, values).fetchall()
        connection.commit()
        return rows
    finally:
        connection.close()


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(f"2026-01-01T00:00:{second:02d}.500000Z" for second in range(60))
    monkeypatch.setattr(store_module, "_now", lambda: next(times))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=60, deadline=None)
@given(original=st.binary(max_size=5000))
def test_what_was_put_comes_back_byte_for_byte(store: Store, original: bytes) -> None:
    handle = put(store, original)
    assert handle == handle_of(original)
    assert store.get(handle).original == original
    assert store.get(f"<<ccr:{handle}>>").record.original_bytes == len(original)


def test_a_put_is_in_the_file_when_it_returns(store: Store, path: Path) -> None:
    handle = put(store, b"[1]")
    row = raw(path, "SELECT handle, content_type, compressor, tokens_before, tokens_after, original, metadata FROM recoveries")
    assert row == [(handle, "toolschema", "toolschema", 10, 7, b"[1]", None)]


def test_times_are_utc_with_a_fraction(store: Store) -> None:
    created_at = store.record(put(store, b"x")).created_at
    assert len(created_at) == len("2026-01-01T00:00:00.123456Z")
    assert created_at[10] == "T" and created_at[19] == "." and created_at.endswith("Z")


def test_the_default_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CAVEMAN_CCR_DB", str(tmp_path / "own.db"))
    assert default_path() == tmp_path / "own.db"
    monkeypatch.delenv("CAVEMAN_CCR_DB")
    monkeypatch.setenv("CAVEMAN_HOME", str(tmp_path / "cave"))
    assert default_path() == tmp_path / "cave" / "ccr.db"
    monkeypatch.delenv("CAVEMAN_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path() == tmp_path / ".caveman" / "ccr.db"
    with open_store() as store:
        assert store.path == (tmp_path / ".caveman" / "ccr.db").resolve()


def test_no_file_is_made_where_none_was_asked_for(path: Path) -> None:
    with pytest.raises(StoreMissing, match=str(path)):
        open_store(path, create=False)
    assert not path.parent.exists()


@pytest.mark.usefixtures("ticking")
class TestStoringAgain:
    def test_one_row_and_the_time_moves(self, store: Store) -> None:
        handle = put(store, b"x")
        first = store.record(handle)
        put(store, b"x")
        again = store.record(handle)
        assert store.stats().originals == 1
        assert again.created_at > first.created_at

    def test_the_first_metadata_that_is_not_empty_stays(self, store: Store) -> None:
        handle = put(store, b"x", metadata=b"")
        put(store, b"x", metadata=b"first")
        put(store, b"x", metadata=b"second")
        assert store.get(handle).metadata == b"first"

    def test_counts_that_nobody_measured_never_replace_measured_ones(self, store: Store) -> None:
        handle = put(store, b"x", tokens_before=10, tokens_after=7)
        put(store, b"x", tokens_before=0, tokens_after=0, compressor="other", content_type="json")
        record = store.record(handle)
        assert (record.tokens_before, record.tokens_after, record.compressor, record.content_type) == (10, 7, "toolschema", "toolschema")
        put(store, b"x", tokens_before=20, tokens_after=9)
        record = store.record(handle)
        assert (record.tokens_before, record.tokens_after) == (20, 9)

    def test_unmeasured_counts_are_unknown_not_zero(self, store: Store) -> None:
        record = store.record(put(store, b"x", tokens_before=0, tokens_after=0))
        assert record.tokens_before is None and record.tokens_after is None

    def test_measured_later(self, store: Store) -> None:
        handle = put(store, b"x", tokens_before=0, tokens_after=0)
        before = store.record(handle)
        store.set_tokens(f"<<ccr:{handle}>>", 20, 9)
        after = store.record(handle)
        assert (after.tokens_before, after.tokens_after) == (20, 9)
        assert (after.created_at, after.compressor, after.content_type) == (before.created_at, before.compressor, before.content_type)

    def test_measured_when_it_was_gone(self, store: Store) -> None:
        handle = put(store, b"x")
        store.delete(handle)
        with pytest.raises(HandleUnknown):
            store.set_tokens(handle, 20, 9)
        assert store.stats().originals == 0

    def test_a_damaged_row_is_repaired_by_the_right_bytes(self, store: Store, path: Path) -> None:
        handle = put(store, b"right")
        raw(path, "UPDATE recoveries SET original = ?", b"wrong")
        put(store, b"right")
        assert store.get(handle).original == b"right"


class TestDamage:
    def test_bytes_with_another_hash_are_never_handed_out(self, store: Store, path: Path) -> None:
        handle = put(store, b"right")
        raw(path, "UPDATE recoveries SET original = ?", b"wronG")
        with pytest.raises(OriginalDamaged) as caught:
            store.get(handle)
        assert handle in str(caught.value) and "wronG" not in str(caught.value)

    def test_check_names_what_is_damaged_and_counts_the_rest(self, store: Store, path: Path) -> None:
        bad = put(store, b"one")
        put(store, b"two")
        assert store.check().sound and store.check().checked == 2
        raw(path, "UPDATE recoveries SET original = x'00' WHERE handle = ?", bad)
        report = store.check()
        assert [damage.handle for damage in report.damaged] == [bad]
        assert report.checked == 2 and not report.sound and not report.file_problems

    def test_unknown_and_malformed_handles(self, store: Store) -> None:
        with pytest.raises(HandleUnknown, match="ccr_0000"):
            store.get("ccr_" + "0" * 32)
        with pytest.raises(HandleMalformed):
            store.get("nonsense")


class TestBudget:
    def test_a_new_original_past_it_is_refused_and_an_old_one_is_not(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CAVEMAN_CCR_MAX_BYTES", "100")
        with open_store(path) as store:
            handle = put(store, b"a" * 60, metadata=b"m" * 30)
            with pytest.raises(OverBudget) as caught:
                put(store, b"b" * 11)
            assert caught.value.code == "store-over-budget" and "CAVEMAN_CCR_MAX_BYTES" in caught.value.todo
            put(store, b"c" * 10)
            assert put(store, b"a" * 60) == handle
            assert store.get(handle).original == b"a" * 60
            stats = store.stats()
            assert (stats.originals, stats.payload_bytes, stats.budget_bytes) == (2, 100, 100)

    def test_deleting_gives_room_back(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CAVEMAN_CCR_MAX_BYTES", "100")
        with open_store(path) as store:
            handle = put(store, b"a" * 60, metadata=b"m" * 30)
            assert store.delete(handle) == 90
            put(store, b"b" * 100)
            with pytest.raises(HandleUnknown):
                store.get(handle)

    @pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", "٣"])
    def test_a_budget_that_is_no_number_is_named(self, path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
        monkeypatch.setenv("CAVEMAN_CCR_MAX_BYTES", value)
        with pytest.raises(StoreError, match="CAVEMAN_CCR_MAX_BYTES"):
            open_store(path)


def test_deleted_text_is_in_none_of_the_files_any_more(store: Store, path: Path) -> None:
    handle = put(store, b"a secret prompt " * 1000)
    put(store, b"what stays")
    store.delete(handle)
    assert not any(b"secret prompt" in each.read_bytes() for each in path.parent.iterdir())
    assert store.get(handle_of(b"what stays")).original == b"what stays"


class TestFullDisk:
    @pytest.fixture
    def full(self, store: Store) -> Callable[[], None]:
        """SQLite's own limit stands in for a full disk: it fails in the same way, inside the transaction."""

        def limit() -> None:
            with store._connections.use() as connection:
                (pages,) = connection.execute("PRAGMA page_count").fetchone()
                connection.execute(f"PRAGMA max_page_count={pages}")

        return limit

    def test_a_put_fails_whole_and_old_handles_resolve(self, store: Store, full: Callable[[], None]) -> None:
        handle = put(store, b"old" * 5000)
        full()
        with pytest.raises(StoreDiskFull) as caught:
            put(store, b"new" * 50000)
        assert caught.value.todo
        assert store.get(handle).original == b"old" * 5000
        assert store.stats().originals == 1

    def test_an_original_that_is_there_counts_as_stored(self, store: Store, full: Callable[[], None]) -> None:
        handle = put(store, b"old" * 5000)
        full()
        assert put(store, b"old" * 5000, metadata=b"m" * 100_000) == handle


@pytest.mark.usefixtures("ticking")
class TestList:
    def test_newest_first_in_pages(self, store: Store) -> None:
        handles = [put(store, bytes([n])) for n in range(5)]
        assert [r.handle for r in store.list()] == handles[::-1]
        assert [r.handle for r in store.list(limit=2, offset=1)] == [handles[3], handles[2]]
        assert store.list(limit=0) == ()

    def test_search_looks_into_originals_in_both_spellings(self, store: Store) -> None:
        plain = put(store, '{"description":"Größe in Zoll"}'.encode())
        escaped = put(store, b'{"description":"Gr\\u00f6\\u00dfe in \\"Zoll\\""}')
        put(store, b"nothing of it")
        assert {r.handle for r in store.list("größe")} == {plain} | {escaped}
        assert [r.handle for r in store.list('"Zoll"')] == [escaped]
        assert [r.handle for r in store.list("DESCRIPTION", limit=1)] == [escaped]

    def test_search_by_handle_and_type(self, store: Store) -> None:
        handle = put(store, b"x", content_type="log")
        put(store, b"y")
        assert [r.handle for r in store.list(handle[4:20])] == [handle]
        assert [r.handle for r in store.list("LOG")] == [handle]
        assert store.list("%") == () and store.list("'") == ()

    def test_listing_reads_no_original(self, store: Store) -> None:
        put(store, b"x" * 100_000)
        with store._connections.use() as connection:
            asked: list[str] = []
            connection.set_trace_callback(asked.append)
        assert store.list()[0].original_bytes == 100_000
        assert asked and not any("CAST(original" in sql or "ccr_holds" in sql for sql in asked)


def test_threads_share_one_store(store: Store) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for n in range(10):
                original = b"%d-%d" % (number, n)
                assert store.get(put(store, original)).original == original
                store.list(limit=5)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert store.stats().originals == 60


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.list()


class TestOtherTools:
    def test_the_metadata_column_of_old_files_is_added(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700)
        raw(
            path,
            "CREATE TABLE recoveries (handle TEXT PRIMARY KEY, created_at TEXT NOT NULL, content_type TEXT NOT NULL, compressor TEXT"
            " NOT NULL, tokens_before INTEGER NOT NULL, tokens_after INTEGER NOT NULL, original BLOB NOT NULL)",
        )
        handle = handle_of(b"old")
        raw(path, "INSERT INTO recoveries VALUES (?, '2025-01-01T00:00:00.5Z', 'log', 'logs', 5, 2, ?)", handle, b"old")
        with open_store(path) as store:
            assert store.get(handle).original == b"old"
            put(store, b"new", metadata=b"m")
        assert raw(path, "SELECT original, metadata FROM recoveries ORDER BY 1") == [(b"new", b"m"), (b"old", None)]

    def test_unknown_tables_and_columns_are_left_alone(self, store: Store, path: Path) -> None:
        raw(path, "CREATE TABLE theirs (a)")
        raw(path, "INSERT INTO theirs VALUES (1)")
        raw(path, "ALTER TABLE recoveries ADD COLUMN extra TEXT DEFAULT 'kept'")
        with open_store(path) as again:
            put(again, b"x")
        assert raw(path, "SELECT * FROM theirs") == [(1,)]
        assert raw(path, "SELECT extra FROM recoveries") == [("kept",)]

    def test_a_foreign_table_of_that_name_is_refused_and_left(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700)
        raw(path, "CREATE TABLE recoveries (handle TEXT, metadata BLOB)")
        with pytest.raises(StoreError, match="created_at"):
            open_store(path)
        assert raw(path, "SELECT sql FROM sqlite_master") == [("CREATE TABLE recoveries (handle TEXT, metadata BLOB)",)]

    def test_text_written_by_another_tool_is_recovered_as_bytes(self, store: Store, path: Path) -> None:
        handle = handle_of("ä\0b".encode())
        raw(path, "INSERT INTO recoveries VALUES (?, '2026-01-01T00:00:00.5Z', 'log', 'logs', 0, 0, ?, 'm')", handle, "ä\0b")
        assert store.get(handle).original == "ä\0b".encode()
        assert store.get(handle).metadata == b"m"


class TestSessionObjects:
    DATA = b'{"exit": 1}'

    @pytest.fixture
    def add(self, store: Store, path: Path) -> Callable[..., str]:
        raw(
            path,
            "CREATE TABLE typed_objects (object_id TEXT PRIMARY KEY, object_type TEXT, content_hash TEXT, source TEXT, created_at TEXT,"
            " repository_state TEXT, session_id TEXT, transform_version TEXT, currentness TEXT, lifecycle TEXT, dependencies_json TEXT,"
            " original_byte_length INTEGER, stored_byte_length INTEGER, data BLOB)",
        )

        def add(handle: str, data: bytes, *, digest: str, original: int | None = None, stored: int | None = None) -> str:
            lengths = (len(data) if original is None else original, len(data) if stored is None else stored)
            raw(
                path,
                "INSERT INTO typed_objects VALUES (?, 'command', ?, 'bash', '2026-02-01T00:00:00.5Z', '', 's1', '1', 'current', 'hot',"
                " '[]', ?, ?, ?)",
                handle,
                digest,
                *lengths,
                data,
            )
            return handle

        return add

    @staticmethod
    def sha(data: bytes) -> str:
        import hashlib

        return "sha256:" + hashlib.sha256(data).hexdigest()

    def test_they_are_listed_searched_counted_and_recovered(self, store: Store, add: Callable[..., str]) -> None:
        handle = add("ccr_obj_1", self.DATA, digest=self.sha(self.DATA))
        found = store.get(f"ccr://{handle}")
        assert found.original == self.DATA
        assert found.record.is_object and found.record.verified
        assert (found.record.content_type, found.record.compressor, found.record.session) == ("command", "bash", "s1")
        put(store, b"newer")
        assert [r.handle for r in store.list()] == [handle_of(b"newer"), handle]
        assert [r.handle for r in store.list("EXIT")] == [handle]
        stats = store.stats()
        assert (stats.originals, stats.objects, stats.payload_bytes) == (1, 1, 5 + len(self.DATA) + 2)

    def test_a_wrong_hash_or_length_hands_nothing_out(self, store: Store, add: Callable[..., str]) -> None:
        bad = add("ccr_obj_1", self.DATA, digest=self.sha(b"other"))
        short = add("ccr_obj_2", self.DATA, digest=self.sha(self.DATA), stored=99, original=99)
        for handle in (bad, short):
            with pytest.raises(OriginalDamaged, match=handle):
                store.get(handle)
        assert {d.handle for d in store.check().damaged} == {bad, short}

    def test_one_stored_shorter_than_its_original_is_unverified(self, store: Store, add: Callable[..., str]) -> None:
        handle = add("ccr_obj_1", self.DATA, digest=self.sha(b"the whole"), original=5000)
        assert store.get(handle).original == self.DATA
        assert not store.record(handle).verified
        report = store.check()
        assert report.unverified == (handle,) and report.sound

    def test_they_are_never_deleted_from_here(self, store: Store, add: Callable[..., str]) -> None:
        handle = add("ccr_obj_1", self.DATA, digest=self.sha(self.DATA))
        with pytest.raises(NotOurs):
            store.delete(handle)
        assert store.get(handle).original == self.DATA

    def test_without_the_table_their_handles_are_unknown(self, store: Store) -> None:
        with pytest.raises(HandleUnknown):
            store.get("ccr_obj_1")

    def test_rows_with_missing_and_odd_values_are_listed_and_checked(self, store: Store, path: Path, add: Callable[..., str]) -> None:
        good = add("ccr_obj_good", self.DATA, digest=self.sha(self.DATA))
        text = "INSERT INTO typed_objects (object_id, data, content_hash, original_byte_length, stored_byte_length) VALUES (?, ?, ?, ?, ?)"
        raw(path, text, "ccr_obj_empty", None, None, None, None)
        raw(path, text, "ccr_obj_unhashed", b"x", None, 1, 1)
        raw(path, text, "no handle/at all", b"x", self.sha(b"x"), 1, 1)
        raw(path, text, None, b"x", self.sha(b"x"), 1, 1)
        raw(path, "INSERT INTO recoveries VALUES ('CCR', 20260101, ?, 'x', 'many', -1, 'o', NULL)", b"\xff")
        raw(path, "UPDATE typed_objects SET source = CAST(x'fffe' AS TEXT) WHERE object_id = ?", good)
        records = {record.handle: record for record in store.list()}
        assert set(records) == {good, "ccr_obj_empty", "ccr_obj_unhashed", "no handle/at all", "", "CCR"}
        for record in records.values():
            assert msgspec.json.decode(msgspec.json.encode(record), type=Record) == record
        assert records["CCR"].tokens_before is None
        assert store.get(good).original == self.DATA
        report = store.check()
        assert report.checked == 6
        assert {damage.handle for damage in report.damaged} == set(records) - {good}
        for handle in ("ccr_obj_empty", "ccr_obj_unhashed"):
            with pytest.raises(OriginalDamaged):
                store.get(handle)


class TestOfSomethingElse:
    @pytest.mark.parametrize(
        "tables",
        [
            ["CREATE TABLE bookmarks (a)"],
            ["CREATE TABLE recoveries (handle TEXT, metadata BLOB)"],
            [
                "CREATE TABLE r (handle, created_at, content_type, compressor, tokens_before, tokens_after, original, metadata)",
                "CREATE VIEW recoveries AS SELECT * FROM r",
            ],
        ],
    )
    @pytest.mark.parametrize("create", [True, False])
    def test_a_database_of_something_else_keeps_its_bytes(self, path: Path, tables: list[str], create: bool) -> None:
        path.parent.mkdir(mode=0o700)
        for table in tables:
            raw(path, table)
        before = path.read_bytes()
        with pytest.raises(StoreForeign, match="no recovery store; name another file"):
            open_store(path, create=create)
        assert path.read_bytes() == before
        assert [each.name for each in path.parent.iterdir()] == [path.name]

    def test_a_store_that_so_far_holds_session_objects_only_takes_originals(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700)
        raw(path, "CREATE TABLE typed_objects (object_id)")
        with open_store(path) as store:
            assert store.get(put(store, b"x")).original == b"x"

    def test_a_table_that_asks_for_more_is_named_as_such(self, store: Store, path: Path) -> None:
        raw(path, "CREATE UNIQUE INDEX one_type ON recoveries (content_type)")
        put(store, b"first")
        with pytest.raises(StoreForeign, match=r"recoveries\.content_type"):
            put(store, b"second")


class TestWhere:
    @pytest.mark.parametrize("given", ["~nobody-of-that-name/ccr.db", Path("~nobody-of-that-name/ccr.db")])
    def test_a_home_that_nobody_has(self, given: str | Path) -> None:
        with pytest.raises(StoreUnreachable, match="'~nobody-of-that-name'"):
            open_store(given)

    @pytest.mark.parametrize("name", ["CAVEMAN_CCR_DB", "CAVEMAN_HOME"])
    def test_a_home_that_nobody_has_from_the_environment(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("CAVEMAN_CCR_DB", raising=False)
        monkeypatch.setenv(name, "~nobody-of-that-name/x")
        assert str(default_path()).startswith("~nobody-of-that-name/x")
        with pytest.raises(StoreUnreachable, match="'~nobody-of-that-name'"):
            open_store()

    @pytest.mark.parametrize("given", ["0", "-1", "1e9", "\u0663", "9" * 5000])
    def test_a_budget_that_is_no_number_of_bytes(self, given: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CAVEMAN_CCR_MAX_BYTES", given)
        with pytest.raises(StoreError, match="CAVEMAN_CCR_MAX_BYTES is") as raised:
            open_store(path)
        assert len(str(raised.value)) < 200
