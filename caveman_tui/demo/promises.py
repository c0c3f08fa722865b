"""What the product promises, checked on the evidence of one session: what was sent, forwarded, answered and recorded.

Each check returns a sentence for every breach. None of them asks the product's own code whether it was right; they take from it only
what it recorded, and hold that against the bytes at both ends.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from caveman_tui.demo.json_place import place
from caveman_tui.demo.provider import Received
from caveman_tui.demo.tool_structure import structure
from caveman_tui.demo.wire import Sent
from caveman_tui.protocol.exchanges import Exchange

HOP_BY_HOP = frozenset(
    {"host", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-connection", "content-length"}
)
"""Headers that belong to one connection, or follow from the body; they are not compared."""

PROMISES = {
    "forwarded-once": "every request reached the provider, once",
    "bytes-outside-edits": "outside the recorded edits, the provider got the agent's bytes",
    "selection-profile": "shrunk tools differ from the originals in prose and annotations only",
    "handle-resolves": "every handle gives the exact original, in another process",
    "marker-rules": "the provider found no marker rule violated",
    "every-byte": "the agent saw every byte that the provider sent",
    "script": "the conversations went as scripted",
}
"""Each promise and what it says."""

_Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One request of the agent, from all sides."""

    sent: Sent
    received: tuple[Received, ...]
    """What arrived at the provider for it; one, where all is well."""
    exchange: Exchange | None
    """What the worker recorded, None where it recorded nothing."""

    @property
    def applied_tools(self) -> tuple[tuple[str, str], ...]:
        """Pointer and handle of each tools array that the worker says it replaced."""
        return tuple((tools.pointer, tools.handle) for tools in self.exchange.tools if tools.applied) if self.exchange else ()


@dataclass(frozen=True, slots=True)
class Breach:
    """A promise that was broken."""

    promise: str
    """A key of `PROMISES`."""
    text: str


def breaches(evidence: tuple[Evidence, ...], originals: Mapping[str, bytes | None]) -> tuple[Breach, ...]:
    """All broken promises. `originals` are the bytes that each handle gave in another process, None where it gave none."""
    found: list[Breach] = []
    for item in evidence:
        if len(item.received) != 1:
            text = f"arrived {len(item.received)} times at the provider"
            found.append(Breach("forwarded-once", f"request {item.sent.number} {text}"))
        checks = {
            "bytes-outside-edits": _outside_edits(item),
            "selection-profile": _profile(item),
            "handle-resolves": _handles(item, originals),
            "marker-rules": _marker_rules(item),
            "every-byte": _every_byte(item),
        }
        for promise, texts in checks.items():
            found += [Breach(promise, f"request {item.sent.number}: {text}") for text in texts]
    return tuple(found)


def _outside_edits(item: Evidence) -> Iterator[str]:
    for received in item.received:
        yield from _missing_headers(item.sent.headers, received.headers, "the provider did not get")
        if received.method != item.sent.method or received.target != item.sent.target:
            yield f"{item.sent.method} {item.sent.target} became {received.method} {received.target}"
        if item.exchange is None:
            yield "the worker has no record of it"
            continue
        if received.body == item.sent.body:
            if item.exchange.marker_edits or item.applied_tools:
                yield "edits are recorded, but the body is the same"
            continue
        try:
            before = _without_edits(item.sent.body, item, arrived=False)
            after = _without_edits(received.body, item, arrived=True)
        except (KeyError, ValueError) as error:
            yield f"a recorded edit is not in the bytes: {error}"
            continue
        if before != after:
            at = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after)))
            yield f"outside its recorded edits the body differs, first at byte {at}"


def _without_edits(body: bytes, item: Evidence, *, arrived: bool) -> bytes:
    """`body` without what was put in, and with a sign where something was replaced."""
    assert item.exchange is not None
    cuts = [(*place(body, pointer), b"\0") for pointer, _ in item.applied_tools]
    for edit in item.exchange.marker_edits:
        if edit.before:
            cuts.append((*_recorded(body, edit.pointer, edit.after if arrived else edit.before), b"\0"))
        elif arrived:
            cuts.append((*_recorded(body, edit.pointer, edit.after), b""))
    for start, end, sign in sorted(cuts, reverse=True):
        body = body[:start] + sign + body[end:]
    return body


def _recorded(body: bytes, pointer: str, text: str) -> tuple[int, int]:
    """The stretch that ends with the value at `pointer` and holds `text`. Raises KeyError or ValueError where it doesn't."""
    expected = text.encode()
    _, end = place(body, pointer)
    start = end - len(expected)
    if body[max(start, 0) : end] != expected:
        raise ValueError(f"at {pointer} stands {body[max(start, 0) : end][:80]!r}, recorded is {expected[:80]!r}")
    return start, end


def _profile(item: Evidence) -> Iterator[str]:
    for received in item.received:
        for pointer, _ in item.applied_tools:
            try:
                before, after = (structure(_at(body, pointer)) for body in (item.sent.body, received.body))
            except (KeyError, ValueError) as error:
                yield f"the tools at {pointer} can't be read: {error}"
                continue
            if before != after:
                yield f"the tools at {pointer} lost more than prose and annotations"


def _handles(item: Evidence, originals: Mapping[str, bytes | None]) -> Iterator[str]:
    for pointer, handle in item.applied_tools:
        if not handle and not item.sent.counts_tokens:
            yield f"the tools at {pointer} were replaced without a handle"
        elif handle and originals.get(handle) != _at(item.sent.body, pointer):
            yield f"{handle} does not give the tools at {pointer} back"


def _marker_rules(item: Evidence) -> Iterator[str]:
    for received in item.received:
        if received.rule_broken:
            yield f"the provider refused its markers: {received.rule_broken}"


def _every_byte(item: Evidence) -> Iterator[str]:
    if not item.received:
        return
    sent, answered = item.sent, item.received[-1]
    if sent.status != answered.status:
        yield f"the provider answered {answered.status}, the agent saw {sent.status}"
    yield from _missing_headers(answered.sent_headers, sent.received_headers, "the agent did not get")
    came, went = bytes(sent.received), bytes(answered.sent)
    if not (went.startswith(came) if sent.hung_up else went == came):
        yield f"the provider sent {len(went)} bytes, the agent got {len(came)} that are not the same"
    if sent.hung_up and not answered.hung_up:
        yield "the agent hung up, but the provider's connection stayed open"


def _missing_headers(had: _Headers, got: _Headers, what: str) -> Iterator[str]:
    rest = [(name.lower(), value) for name, value in got]
    for name, value in had:
        field = (name.lower(), value)
        if field in rest:
            rest.remove(field)
        elif field[0] not in HOP_BY_HOP:
            yield f"{what} the header {name}"


def _at(body: bytes, pointer: str) -> bytes:
    start, end = place(body, pointer)
    return body[start:end]
