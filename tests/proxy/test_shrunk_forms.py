import functools
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from caveman_tui.core.policy import ClientKind, Dialect, Level, LoopTtlMode, Policy, ShrinkMode
from caveman_tui.core.rewrite import rewrite
from caveman_tui.core.shrink import shrink_catalog
from caveman_tui.core.shrink.model import ShrunkCatalog
from caveman_tui.proxy import shrunk_forms
from caveman_tui.proxy.shrunk_forms import ShrunkForms

TOOLS = b'[{"name":"read","description":"Reads a file. This is a truly wonderful tool.","input_schema":{"type":"object","title":"R"}}]'
BODY = b'{"tools":' + TOOLS + b',"messages":[]}'
APPLY = Policy(shrink=ShrinkMode.APPLY, loop_ttl=LoopTtlMode.OFF)
OLD = Policy(shrink=ShrinkMode.APPLY, loop_ttl=LoopTtlMode.OFF, shrinker="1")


def not_at_all(data: bytes, *, level: Level, exclude: tuple[str, ...]) -> ShrunkCatalog:
    """What the later version does."""
    return ShrunkCatalog(before=data, after=data, level=level)


def forms(directory: Path | None, version: str = "1", **more: Any) -> ShrunkForms:
    shrink = shrink_catalog if version == "1" else not_at_all
    rewriter = functools.partial(rewrite, shrink=shrink)
    return ShrunkForms(directory, rewriter, shrink, **{"version": version, "seconds": 7200.0, **more})


def sent(made: ShrunkForms, policy: Policy, body: bytes = BODY) -> bytes:
    return made.rewrite(body, Dialect.ANTHROPIC_MESSAGES, ClientKind(), policy).body


@pytest.fixture
def shrunk(tmp_path: Path) -> bytes:
    """What the first version made of the body, and left in the directory."""
    first = forms(tmp_path)
    made = sent(first, APPLY)
    first.close()
    assert made != BODY
    return made


def test_what_an_earlier_version_made_is_made_again(tmp_path: Path, shrunk: bytes) -> None:
    (kept,) = tmp_path.iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    later = forms(tmp_path, "2")
    assert (later.keeps("1"), later.keeps("3"), forms(tmp_path.parent).keeps("1")) == (True, False, False)
    assert [sent(later, OLD), sent(later, OLD), sent(later, APPLY)] == [shrunk, shrunk, BODY]
    later.close()


@pytest.mark.parametrize(
    "policy",
    [
        Policy(shrink=ShrinkMode.APPLY, shrinker="1", level=Level.TERSE),
        Policy(shrink=ShrinkMode.APPLY, shrinker="1", excluded_tools=("write",)),
        Policy(shrink=ShrinkMode.APPLY, shrinker="0"),
    ],
    ids=["another level", "other exclusions", "another version"],
)
def test_what_was_made_otherwise_is_not_taken_for_it(tmp_path: Path, shrunk: bytes, policy: Policy) -> None:
    later = forms(tmp_path, "2")
    assert sent(later, policy) == BODY
    later.close()


def test_another_catalog_is_shrunk_by_the_version_in_use(tmp_path: Path, shrunk: bytes) -> None:
    later = forms(tmp_path, "2")
    other = BODY.replace(b"wonderful", b"marvellous")
    assert sent(later, OLD, other) == other
    later.close()


@pytest.mark.parametrize("content", [b"", b"\x93\xc4\x01a\xc4", b'{"before":1}'])
def test_a_damaged_form_is_none(tmp_path: Path, shrunk: bytes, content: bytes) -> None:
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(content)
    later = forms(tmp_path, "2")
    assert sent(later, OLD) == BODY
    later.close()


def test_the_form_of_another_catalog_in_its_place_is_none(tmp_path: Path, shrunk: bytes) -> None:
    (kept,) = tmp_path.iterdir()
    other = TOOLS.replace(b"wonderful", b"marvellous")
    later = forms(tmp_path, "2")
    place = later._path("1", other, Level.STANDARD, ())
    assert place is not None
    kept.rename(place)
    body = b'{"tools":' + other + b"}"
    made = later.rewrite(body, Dialect.ANTHROPIC_MESSAGES, ClientKind(), OLD)
    assert (made.body, made.warning) == (body, "")
    later.close()


def test_a_form_that_is_used_is_marked_now_and_then(tmp_path: Path, shrunk: bytes) -> None:
    (kept,) = tmp_path.iterdir()
    os.utime(kept, (1e9, 1e9))
    passed = [0.0]
    made = forms(tmp_path, "2", seconds=1e12, clock=lambda: passed[-1])
    for at, marked in ((0.0, True), (1.0, False), (3600.0, True)):
        passed.append(at)
        sent(made, OLD)
        # One thread does it all, in order.
        made._threads.submit(int).result()
        assert (kept.stat().st_mtime != 1e9) == marked
        os.utime(kept, (1e9, 1e9))
    made.close()


def test_there_are_never_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shrunk_forms, "MOST_FILES", 3)
    made = forms(tmp_path)
    for number in range(10):
        sent(made, APPLY, BODY.replace(b"a file", b"file %d" % number))
    made.close()
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("policy", [Policy(shrink=ShrinkMode.MEASURE), Policy(shrink=ShrinkMode.OFF)])
def test_only_what_is_applied_is_kept(tmp_path: Path, policy: Policy) -> None:
    made = forms(tmp_path)
    assert sent(made, policy) == BODY
    made.close()
    assert list(tmp_path.iterdir()) == []


def test_without_a_directory_and_after_its_end_it_rewrites_all_the_same(tmp_path: Path, shrunk: bytes) -> None:
    made = forms(None)
    assert sent(made, APPLY) == shrunk
    made.close()
    ended = forms(tmp_path)
    ended.close()
    assert sent(ended, APPLY) == shrunk
