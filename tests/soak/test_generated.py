"""Generated requests through the real worker and back: input plus recorded edits one way, the provider's bytes the other."""

import asyncio
import json

from hypothesis import HealthCheck, given, settings

from caveman_tui.core.edits import EditKind, apply_edits
from caveman_tui.core.policy import ShrinkMode
from caveman_tui.protocol.events import Settings
from tests.proxy.conftest import Got
from tests.proxy.provider import Seen
from tests.soak.conftest import PHASES, Report, whole_or_sample
from tests.soak.generated import Field, GeneratedRequest, GeneratedResponse, generated_requests, generated_responses, without_edits
from tests.soak.loopback import FRAMING, Loopback, without_framing

EXAMPLES = whole_or_sample(10_000, 100)


def test_what_arrives_is_what_was_sent_plus_the_recorded_edits(report: Report) -> None:
    edited = 0
    with asyncio.Runner() as runner, Loopback(Settings(shrink=ShrinkMode.APPLY), runner) as loopback:

        @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck), phases=PHASES)
        @given(generated_requests(), generated_responses())
        def pass_through(request: GeneratedRequest, response: GeneratedResponse) -> None:
            nonlocal edited
            seen, got = loopback.pass_through(request, response)
            edited += _check_request(loopback, request, seen)
            _check_response(response, got)

        pass_through()
    report(f"{EXAMPLES} generated requests and their answers passed, {edited} of the requests edited")
    assert edited > EXAMPLES // 20


def _check_request(loopback: Loopback, request: GeneratedRequest, seen: Seen) -> bool:
    assert seen.line == f"POST {request.path} HTTP/1.1"
    recorded = loopback.recorded[-1] if loopback.recorded else None
    fields = _first_spellings([("Host", f"127.0.0.1:{loopback.provider.port}"), *request.fields])
    if recorded is None or not recorded.edits:
        assert seen.body == request.body
        assert without_framing(seen.fields) == fields
        return False
    assert recorded.body == request.plain
    assert seen.body == apply_edits(request.plain, recorded.edits)
    assert loopback.worker.log.bodies.read(recorded.id, "request-before").data == request.plain
    assert loopback.worker.log.bodies.read(recorded.id, "request-after").data == seen.body
    assert seen.values("content-length") == [str(len(seen.body))]
    coded = any(name == "Content-Encoding" and value != "identity" for name, value in request.fields)
    dropped = ("content-encoding",) if coded else ()
    assert [edit.split(":")[0] for edit in recorded.header_edits if not edit.startswith("content-length")] == list(dropped)
    assert without_framing(seen.fields) == without_framing(fields, *dropped)
    assert {edit.kind for edit in recorded.edits} <= set(EditKind)
    assert without_edits(json.loads(seen.body)) == without_edits(json.loads(request.plain))
    return True


def _check_response(response: GeneratedResponse, got: Got) -> None:
    assert got.clean
    assert got.head.split(b"\r\n", 1)[0].decode() == f"HTTP/1.1 {response.status}"
    assert got.body == response.body
    assert without_framing(got.fields) == _first_spellings(list(response.fields))


def _first_spellings(fields: list[Field]) -> list[Field]:
    """Names that differ in case only take the first one's spelling; what frames the body is left out. Values as the wire has them."""
    first: dict[str, str] = {}
    return [
        (first.setdefault(name.lower(), name), value.encode().decode("latin-1")) for name, value in fields if name.lower() not in FRAMING
    ]
