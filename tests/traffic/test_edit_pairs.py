from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.edit_pairs import edit_pairs
from caveman_tui.traffic.lines import plain
from tests.tui.session import HANDLE, story


def text(exchange: Exchange, width: int = 100) -> list[str]:
    return [plain(line) for line in edit_pairs(exchange, width)]


def test_each_edit_is_a_pair_with_its_reason() -> None:
    exchange = story().exchanges[3]
    lines = text(exchange)
    assert lines[0].startswith("~ 3 edits   ")
    assert " 1 /messages/2/content/1/cache_control  prompt-anchored" in lines
    assert "   - nothing" in lines and '   + {"type":"ephemeral","ttl":"1h"}' in lines
    assert '   - "1h"' in lines and '   + "5m"' in lines
    assert " 3 /tools  tools-shrunk" in lines and any(HANDLE in line for line in lines)


def test_an_untouched_request_says_so() -> None:
    assert text(story().exchanges[0]) == ["= This request went out as it came."]
