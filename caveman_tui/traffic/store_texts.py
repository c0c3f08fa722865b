"""What is said of the recovery store: where it is empty or can't be read, and what a check of all hashes found."""

from caveman_tui.ccr import CheckReport
from caveman_tui.traffic import format
from caveman_tui.traffic.lines import BLANK, Line, Role, Span, line, wrap
from caveman_tui.traffic.safe_text import safe


def verdict(report: CheckReport) -> str:
    """How many can be recovered, or are damaged."""
    if report.sound:
        return f"All {report.checked:,} can be recovered"
    return f"{len(report.damaged):,} of {report.checked:,} are damaged"


def found(report: CheckReport) -> str:
    """What is damaged, the first of it by name."""
    says = [f"{damage.what}." for damage in report.damaged[:5]] + [f"The file: {problem}." for problem in report.file_problems[:2]]
    if len(report.damaged) > 5:
        says.append(f"And {len(report.damaged) - 5:,} more; 'caveman-tui ccr check' names all.")
    if report.unverified:
        says.append(f"{format.plural(len(report.unverified), 'session object')} can't be checked: stored shorter than the original.")
    return " ".join(says) or "Every hash fits."


def nothing_found(text: str, width: int) -> list[Line]:
    """Where a search left nothing."""
    undo = (Span("esc", Role.ACCENT), Span(" shows all again", Role.MUTED))
    return [BLANK, *(line(part) for part in wrap(safe(f"No original contains {text}"), width)), BLANK, undo]


def nothing_stored(width: int) -> list[Line]:
    """Where there is no original yet: how one comes to be stored."""
    paragraphs = (
        ("Nothing has been replaced yet.", Role.STRONG),
        (
            "Tool shrinking only measures until you switch it on, because it drops text: names, types and stated constraints are proven "
            "kept, that a model chooses the same tool is not. Each original is stored here before its shorter form is sent.",
            Role.MUTED,
        ),
    )
    lines: list[Line] = [BLANK]
    for words, role in paragraphs:
        lines += [*(line(part, role) for part in wrap(words, width)), BLANK]
    return [*lines, (Span("s", Role.ACCENT), Span(" steps through off, measure and apply, for new conversations", Role.MUTED))]


def unreadable(reason: str, width: int) -> list[Line]:
    """Where the store can't be read, with the reason."""
    return [
        BLANK,
        line("✗ The store can't be read.", Role.BAD),
        *(line(part) for part in wrap(safe(reason), width)),
        BLANK,
        *(line(part, Role.MUTED) for part in wrap("Requests go out unshrunk meanwhile; nothing was changed in the file.", width)),
    ]
