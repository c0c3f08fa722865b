"""The marker ladder: a request's prefix from tools to the last message, with every cache marker before and after."""

from dataclasses import dataclass

from caveman_tui.core.cache_markers import Marker
from caveman_tui.core.reasons import REASONS
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format
from caveman_tui.traffic.fit import columns_of, fit
from caveman_tui.traffic.lines import BLANK, Line, Role, Span, line, wrap
from caveman_tui.traffic.safe_text import one_line

SLOTS = 4
"""Markers that the provider allows in one request (Anthropic prompt caching)."""
_NARROW_BELOW = 72
_SUFFIXES = ("/cache_control/ttl", "/cache_control")


@dataclass(frozen=True, slots=True)
class Rung:
    """One marker, as it came and as it went out."""

    pointer: str
    before: Marker | None
    after: Marker | None
    reason: str
    """Reason code of the edit that changed it, empty where none did."""
    why: str
    """The reason as a sentence, where there is one."""
    at_fault: bool = False
    """Whether a rule is broken because of it."""

    @property
    def marker(self) -> Marker:
        """Whichever of the two there is; as it went out, if both."""
        marker = self.after or self.before
        assert marker is not None
        return marker

    @property
    def sign(self) -> str:
        """`=` as it came, `~` another lifetime, `+` added, `-` removed, `✗` at fault for a broken rule."""
        if self.at_fault:
            return "✗"
        if self.before is None:
            return "+"
        if self.after is None:
            return "-"
        return "=" if self.before.ttl == self.after.ttl else "~"


def rungs(exchange: Exchange) -> list[Rung]:
    """All markers of an exchange in prefix order."""
    before = {marker.pointer: marker for marker in exchange.markers_before}
    after = {marker.pointer: marker for marker in exchange.markers_after}
    edits = {_block(edit.pointer): edit.reason for edit in exchange.marker_edits}
    sentences = {reason.code: reason.text for reason in exchange.reasons}
    placed = {_block(reason.pointer): reason.text for reason in exchange.reasons if reason.pointer}
    culprits = {_block(violation.culprit) for violation in exchange.violations}
    result = []
    for pointer in dict.fromkeys((*before, *after)):
        reason = edits.get(pointer, "")
        why = (placed.get(pointer) or sentences.get(reason) or REASONS.get(reason, "")) if reason else ""
        result.append(Rung(pointer, before.get(pointer), after.get(pointer), reason, why, pointer in culprits))
    return sorted(result, key=lambda rung: (rung.pointer == "", rung.marker.block_index))


def ladder(exchange: Exchange, width: int) -> list[Line]:
    """The ladder of an exchange as lines of at most `width` columns."""
    steps = rungs(exchange)
    lines = _summary(exchange, steps, width)
    if steps:
        lines += [BLANK, *_slots(exchange), BLANK]
        lines += _narrow(steps, width) if width < _NARROW_BELOW else _wide(steps, width)
    lines += _violations(exchange, width)
    lines += _reasons(exchange, steps, width)
    return lines


def _summary(exchange: Exchange, steps: list[Rung], width: int) -> list[Line]:
    if not exchange.dialect:
        return [line("Forwarded untouched: this request carries no conversation.", Role.MUTED)]
    if exchange.dialect.startswith("openai") and not steps:
        return [line("No cache markers: this provider caches prefixes by itself.", Role.MUTED)]
    if not steps:
        return [line("No cache markers in this request.", Role.MUTED)]
    changed = len(exchange.marker_edits)
    kind = "headless client" if exchange.client_kind.headless else "interactive client"
    head = Span(f"~ {format.plural(changed, 'marker')} changed", Role.ADDED) if changed else Span("= no marker changed", Role.MUTED)
    signed = f", by {one_line(exchange.client_kind.sign)}" if exchange.client_kind.sign else ""
    told = f"{kind}{signed}"
    if len(head.text) + 3 + columns_of(told) > width:
        return [(head,), *(line(part, Role.MUTED) for part in wrap(told, width))]
    return [(head, Span(f"   {told}", Role.MUTED))]


def _slots(exchange: Exchange) -> list[Line]:
    result: list[Line] = []
    for name, markers in (("before", exchange.markers_before), ("after ", exchange.markers_after)):
        boxes = [Span(f" {marker.ttl[:3]:>2} ", _ttl_role(marker)) for marker in markers]
        boxes += [Span(" ·  ", Role.MUTED)] * (SLOTS - len(markers))
        over = Role.BAD if len(markers) > SLOTS else Role.MUTED
        result.append((Span(f"slots {name} ", Role.MUTED), *boxes, Span(f" {len(markers)} of {SLOTS} used", over)))
    return result


def _ttl_role(marker: Marker) -> Role:
    return Role.STRONG if marker.ttl == "1h" else Role.ACCENT


def _wide(steps: list[Rung], width: int) -> list[Line]:
    place = min(max([columns_of(_place(rung)) for rung in steps] + [20]), max(20, width - 42))
    lines: list[Line] = [line(f"     {'PREFIX':<{place}}  BEFORE   AFTER  WHY", Role.HEADING)]
    previous = -1
    for number, rung in enumerate(steps, 1):
        lines += _gap(rung, previous)
        previous = rung.marker.block_index
        lines.append(
            (
                Span(f"{number:>2} ", Role.MUTED),
                Span(f"{rung.sign} ", _sign_role(rung)),
                Span(fit(_place(rung), place), Role.TEXT),
                Span(f"  {_ttl(rung.before):<6}", _before_role(rung)),
                Span(" > ", Role.MUTED),
                Span(f"{_ttl(rung.after):<5}", _after_role(rung)),
                Span("  " + fit(rung.reason, width - place - 22).rstrip(), Role.MUTED),
            )
        )
    return lines


def _narrow(steps: list[Rung], width: int) -> list[Line]:
    lines: list[Line] = []
    previous = -1
    for number, rung in enumerate(steps, 1):
        lines += _gap(rung, previous)
        previous = rung.marker.block_index
        place = fit(_place(rung), width - 5).rstrip()
        lines.append((Span(f"{number:>2} ", Role.MUTED), Span(f"{rung.sign} ", _sign_role(rung)), Span(place)))
        change = (
            Span(f"     {_ttl(rung.before)}", _before_role(rung)),
            Span(" > ", Role.MUTED),
            Span(_ttl(rung.after), _after_role(rung)),
            Span(f"  {fit(rung.reason, max(0, width - 18)).rstrip()}", Role.MUTED),
        )
        lines.append(change)
    return lines


def _gap(rung: Rung, previous: int) -> list[Line]:
    between = rung.marker.block_index - previous - 1
    if between <= 0 or not rung.pointer:
        return []
    return [line(f"   ┆ {format.plural(between, 'block')}", Role.MUTED)]


def _place(rung: Rung) -> str:
    if not rung.pointer:
        return "automatic, on the last block"
    what = " ".join(part for part in (rung.marker.role, rung.marker.block_type) if part)
    notes = "".join((", nested" if rung.marker.nested else "", ", bare" if rung.marker.bare else ""))
    return one_line(f"{rung.pointer}  {what}{notes}".rstrip())


def _ttl(marker: Marker | None) -> str:
    if marker is None:
        return "none"
    return fit(one_line(marker.ttl), 6).rstrip()


def _sign_role(rung: Rung) -> Role:
    return {"=": Role.MUTED, "✗": Role.BAD, "~": Role.ADDED, "+": Role.ADDED, "-": Role.REMOVED}[rung.sign]


def _after_role(rung: Rung) -> Role:
    return Role.ADDED if rung.sign in "~+" else Role.TEXT


def _before_role(rung: Rung) -> Role:
    return Role.REMOVED if rung.sign in "~-" else Role.MUTED


def _violations(exchange: Exchange, width: int) -> list[Line]:
    lines: list[Line] = []
    for violation in exchange.violations:
        lines.append(BLANK)
        head = Span(f"✗ {one_line(violation.code)}", Role.BAD)
        lines.append((head, Span("  as it came; the provider will refuse it", Role.MUTED)))
        lines += [line("  " + part) for part in wrap(one_line(violation.text), max(10, width - 2))]
        lines.append((Span("  at fault  ", Role.MUTED), Span(one_line(violation.culprit) or "the automatic marker", Role.STRONG)))
        if violation.pointer != violation.culprit:
            lines.append((Span("  named by the provider  ", Role.MUTED), Span(one_line(violation.pointer) or "the automatic marker")))
    return lines


def _reasons(exchange: Exchange, steps: list[Rung], width: int) -> list[Line]:
    if not exchange.reasons:
        return []
    lines: list[Line] = [BLANK, line("REASONS", Role.HEADING)]
    indent = 2
    for reason in exchange.reasons:
        at = f"  {one_line(reason.pointer)}" if reason.pointer else ""
        lines.append((Span(one_line(reason.code), Role.STRONG), Span(at, Role.MUTED)))
        lines += [line(" " * indent + part) for part in wrap(one_line(reason.text), max(10, width - indent))]
    return lines


def _block(pointer: str) -> str:
    for suffix in _SUFFIXES:
        if pointer.endswith(suffix):
            return pointer[: -len(suffix)]
    return pointer
