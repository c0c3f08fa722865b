"""With both policies off, and with nothing to edit, provider and client can't tell the worker from nothing at all."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caveman_tui.core.policy import LoopTtlMode, ShrinkMode
from caveman_tui.protocol.events import Settings
from tests.proxy.conftest import Got
from tests.proxy.provider import Seen
from tests.soak.conftest import PHASES, Report, whole_or_sample
from tests.soak.generated import (
    EDITABLE_PATHS,
    OTHER_PATHS,
    GeneratedRequest,
    GeneratedResponse,
    bodies,
    generated_requests,
    generated_responses,
)
from tests.soak.loopback import Loopback, without_framing

EXAMPLES = whole_or_sample(2_000, 30)
_OFF = Settings(loop_ttl=LoopTtlMode.OFF, shrink=ShrinkMode.OFF)
_ON = Settings(loop_ttl=LoopTtlMode.APPLY, shrink=ShrinkMode.APPLY)


def _nothing_to_edit(body: bytes) -> bytes:
    """Without an hour marker, however it is spelled, and without tools."""
    for word in (b"ttl", b"tools", b"functions", b"\\u"):
        body = body.replace(word, b"xx")
    return body


@pytest.mark.parametrize(("policies", "plain"), [(_OFF, bodies), (_ON, bodies.map(_nothing_to_edit))], ids=["off", "nothing-to-edit"])
def test_direct_and_through_the_worker_are_the_same(policies: Settings, plain: st.SearchStrategy[bytes], report: Report) -> None:
    with asyncio.Runner() as runner, Loopback(policies, runner) as loopback:

        @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck), phases=PHASES)
        @given(generated_requests(plain, EDITABLE_PATHS + OTHER_PATHS), generated_responses())
        def compare(request: GeneratedRequest, response: GeneratedResponse) -> None:
            direct = loopback.direct(request, response)
            through = loopback.pass_through(request, response)
            assert _of_request(through[0], loopback.provider.port) == _of_request(direct[0], loopback.provider.port)
            assert _of_response(through[1]) == _of_response(direct[1])

        compare()
    report(f"{EXAMPLES} generated exchanges, the same direct and through the worker")


def _of_request(seen: Seen, port: int) -> tuple[object, ...]:
    """All of it but the framing where chunks came: a body that was read goes on with its length."""
    assert seen.values("host") == [f"127.0.0.1:{port}"]
    return seen.line, without_framing(seen.fields), seen.body


def _of_response(got: Got) -> tuple[object, ...]:
    return got.head.split(b"\r\n", 1)[0], got.fields, got.body, got.clean
