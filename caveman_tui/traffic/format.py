"""Numbers as the screens spell them. What is not known is `–` and never 0; rounding never turns a part into the whole."""

from datetime import UTC, datetime, tzinfo

from caveman_tui.core.amounts import Label

UNKNOWN = "–"


def count(number: float | None) -> str:
    """`842`, `1.2k`, `48.2k`, `312k`, `1.24M`: at most six characters up to a billion."""
    if number is None:
        return UNKNOWN
    sign = "-" if number < 0 else ""
    size = abs(number)
    if size < 999.5:
        return f"{sign}{size:.0f}"
    if size < 99_950:
        return f"{sign}{size / 1e3:.1f}k"
    if size < 999_500:
        return f"{sign}{size / 1e3:.0f}k"
    if size < 99_950_000:
        return f"{sign}{size / 1e6:.2f}M" if size < 9_995_000 else f"{sign}{size / 1e6:.1f}M"
    if size < 999_500_000:
        return f"{sign}{size / 1e6:.0f}M"
    return f"{sign}{size / 1e9:.1f}G"


def exact(number: int | None) -> str:
    """All digits, grouped: `48,213`."""
    return UNKNOWN if number is None else f"{number:,}"


def size(number: float | None) -> str:
    """Bytes in decimal units: `842 B`, `3.4 kB`, `412 kB`, `1.2 MB`."""
    if number is None:
        return UNKNOWN
    value = float(number)
    if abs(value) < 999.5:
        return f"{value:.0f} B"
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if abs(value) < 99.95:
            return f"{value:.1f} {unit}"
        if abs(value) < 999.5:
            return f"{value:.0f} {unit}"
    return f"{value / 1000:.1f} TB"


def percent(fraction: float | None) -> str:
    """A fraction as `93%`. Neither end is reached by rounding: 0.996 is `99%`, 0.001 is `<1%`."""
    if fraction is None:
        return UNKNOWN
    value = fraction * 100
    if 0 < value < 1:
        return "<1%"
    if -1 < value < 0:
        return "-<1%"
    if 99 < value < 100:
        return "99%"
    return f"{value:.0f}%"


def duration(milliseconds: float | None) -> str:
    """`840ms`, `4.2s`, `42s`, `1m05s`, `2h03m`."""
    if milliseconds is None:
        return UNKNOWN
    if milliseconds < 999.5:
        return f"{max(milliseconds, 0):.0f}ms"
    seconds = milliseconds / 1000
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    if seconds < 59.5:
        return f"{seconds:.0f}s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


def money(dollars: float | None) -> str:
    """US dollars: `$1.82`, `$0.0042`, `<$0.0001`, `-$0.20`."""
    if dollars is None:
        return UNKNOWN
    sign = "-" if dollars < 0 else ""
    amount = abs(dollars)
    if amount == 0:
        return "$0.00"
    if amount < 0.0001:
        return f"{sign}<$0.0001"
    if amount < 0.095:
        return f"{sign}${amount:.4f}"
    return f"{sign}${amount:,.2f}"


def clock(at: float | None, zone: tzinfo | None = UTC) -> str:
    """Seconds since the epoch as a time of day; `zone` None is the machine's own."""
    return UNKNOWN if at is None else datetime.fromtimestamp(at, zone).strftime("%H:%M:%S")


def date_and_clock(at: float | None, zone: tzinfo | None = UTC) -> str:
    """Seconds since the epoch as `2026-11-29 21:03:11`; `zone` None is the machine's own."""
    return UNKNOWN if at is None else datetime.fromtimestamp(at, zone).strftime("%Y-%m-%d %H:%M:%S")


def short_id(identifier: str, length: int = 6) -> str:
    """Enough of an identifier to tell rows apart; UUIDs and digests differ from their first digits on."""
    tail = identifier.rsplit(":", 1)[-1].removeprefix("opening-")
    return tail[:length] if tail else UNKNOWN


def labelled(text: str, label: Label) -> str:
    """A number with its label, where there is a number."""
    return UNKNOWN if text == UNKNOWN else f"{text} {label.value}"


def plural(number: int, noun: str) -> str:
    """`1 marker`, `2 markers`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
