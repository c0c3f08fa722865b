import pytest

from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.completion import completed, values_of

VALUES = {"model": ["claude-opus-4-8", "gpt-5.2"], "conv": ["3f2a-1"]}


@pytest.mark.parametrize(
    ("typed", "whole"),
    [
        ("mod", "model:"),
        ("model:c", "model:claude-opus-4-8"),
        ("model:G", "model:Gpt-5.2"),
        ("in>20k has:e", "in>20k has:edit"),
        ("-sta", "-status:"),
        ("-conv:3", "-conv:3f2a-1"),
        ("status:o", "status:open"),
        ("bod", "body:"),
        ("", None),
        ("has:edit", None),
        ("has:edit ", None),
        ("zzz", None),
        ("model:zzz", None),
        ('body:"has:e', None),
        ("-", None),
    ],
)
def test_the_last_term_is_written_out(typed: str, whole: str | None) -> None:
    assert completed(typed, VALUES) == whole


def test_values_come_from_the_exchanges_newest_first_and_harmless() -> None:
    rows = [
        Exchange(id=str(number), started_at=0.0, method="POST", path="/", model=model)
        for number, model in enumerate(("one", "two", "one", "\x1b[2J", ""))
    ]
    assert values_of(rows) == {"model": ["one", "two"], "client": [], "conv": [], "agent": [], "provider": []}
