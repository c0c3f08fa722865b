"""The simulated cache against examples worked out by hand. A text of 4 * n characters less the block's JSON makes n tokens."""

from typing import Any

import pytest

from caveman_tui.demo.provider import MarkerRuleBroken, PromptCache, Usage

HOUR = {"type": "ephemeral", "ttl": "1h"}
SHORT = {"type": "ephemeral"}
SHELL = len('{"type":"text","text":""}')


def block(name: str, tokens: int, marker: dict[str, str] | None = None) -> dict[str, Any]:
    """A text block of exactly `tokens`, different for each name."""
    words = name.ljust(4 * tokens - SHELL, ".")
    return {"type": "text", "text": words} | ({"cache_control": marker} if marker else {})


def body(*content: dict[str, Any], system: tuple[dict[str, Any], ...] = (), model: str = "claude-opus-5", **more: Any) -> dict[str, Any]:
    return {"model": model, "system": list(system), "messages": [{"role": "user", "content": list(content)}], **more}


def ask(cache: PromptCache, request: dict[str, Any], now: float) -> Usage:
    bill = cache.bill(request, now)
    cache.publish(bill)
    return bill.usage


def test_without_markers_everything_is_input() -> None:
    assert ask(PromptCache(), body(block("a", 600), block("b", 100)), 0) == Usage(input=700)


def test_written_once_then_read() -> None:
    cache = PromptCache()
    request = body(block("a", 600, SHORT), block("b", 100))
    assert ask(cache, request, 0) == Usage(input=100, write_5m=600)
    assert ask(cache, request, 1) == Usage(input=100, read=600)


@pytest.mark.parametrize(("marker", "life"), [(SHORT, 300), (HOUR, 3600)])
def test_an_entry_lives_from_the_start_of_the_request_and_no_longer(marker: dict[str, str], life: int) -> None:
    request = body(block("a", 600, marker))
    for age, read in ((life - 1, 600), (life, 0)):
        cache = PromptCache()
        ask(cache, request, 1000)
        assert ask(cache, request, 1000 + age).read == read


def test_a_read_renews_the_entry() -> None:
    cache = PromptCache()
    request = body(block("a", 600, SHORT))
    for now in (0, 299, 598, 897):
        usage = ask(cache, request, now)
    assert usage == Usage(read=600)
    assert ask(cache, request, 897 + 300) == Usage(write_5m=600)


def test_writes_are_split_by_lifetime_at_the_markers() -> None:
    request = body(block("p", 700, HOUR), block("x", 50), block("t", 200, SHORT), block("rest", 30), system=(block("s", 600, HOUR),))
    assert ask(PromptCache(), request, 0) == Usage(input=30, write_1h=1300, write_5m=250)


def test_only_the_new_tail_is_written() -> None:
    cache = PromptCache()
    first = body(block("p", 600, HOUR), block("t1", 100, SHORT))
    second = body(block("p", 600, HOUR), block("t1", 100), block("t2", 40, SHORT))
    ask(cache, first, 0)
    assert ask(cache, second, 10) == Usage(read=700, write_5m=40)


def test_a_short_entry_lapses_and_the_hour_before_it_stays() -> None:
    cache = PromptCache()
    request = body(block("p", 600, HOUR), block("t", 100, SHORT))
    ask(cache, request, 0)
    assert ask(cache, request, 600) == Usage(read=600, write_5m=100)


def test_a_marker_read_past_is_renewed_too() -> None:
    """Within a loop each request reads a nearer entry; the prompt's hour must not run out under it."""
    cache = PromptCache()
    request = body(block("p", 600, HOUR), block("t", 100, SHORT))
    for minute in range(0, 80, 4):
        ask(cache, request, minute * 60)
    assert ask(cache, request, 76 * 60 + 1200) == Usage(read=600, write_5m=100)


def test_below_the_minimum_there_are_only_zeros() -> None:
    cache = PromptCache()
    request = body(block("a", 511, HOUR))
    assert ask(cache, request, 0) == Usage(input=511)
    assert ask(cache, request, 1) == Usage(input=511)
    assert ask(cache, body(block("a", 512, HOUR)), 2) == Usage(write_1h=512)


@pytest.mark.parametrize(
    ("model", "minimum"),
    [
        ("claude-opus-5", 512),
        ("claude-opus-4-8", 1024),
        ("claude-sonnet-4-5-20250929", 1024),
        ("claude-opus-4-7", 2048),
        ("claude-haiku-4-5-20251001", 4096),
        ("claude-opus-4-6[1m]", 4096),
    ],
)
def test_minimum_by_model(model: str, minimum: int) -> None:
    assert ask(PromptCache(), body(block("a", minimum - 1, HOUR), model=model), 0).write_1h == 0
    assert ask(PromptCache(), body(block("a", minimum, HOUR), model=model), 0).write_1h == minimum


@pytest.mark.parametrize(("steps_back", "read"), [(20, 600), (21, 0)])
def test_reads_walk_back_twenty_positions(steps_back: int, read: int) -> None:
    cache = PromptCache()
    ask(cache, body(block("a", 600, HOUR)), 0)
    later = [block(f"b{n}", 10) for n in range(steps_back - 1)]
    usage = ask(cache, body(block("a", 600), *later, block("last", 10, HOUR)), 1)
    assert usage == Usage(read=read, write_1h=600 + 10 * steps_back - read)


def test_writes_happen_only_at_markers() -> None:
    cache = PromptCache()
    ask(cache, body(block("a", 600), block("b", 600, SHORT)), 0)
    assert ask(cache, body(block("a", 600, SHORT), block("other", 600)), 1) == Usage(input=600, write_5m=600)


def test_an_entry_is_readable_once_the_response_has_begun() -> None:
    cache = PromptCache()
    request = body(block("a", 600, SHORT))
    first, parallel = cache.bill(request, 0), cache.bill(request, 0)
    assert parallel.usage == first.usage == Usage(write_5m=600)
    cache.publish(first)
    assert cache.bill(request, 0).usage == Usage(read=600)


@pytest.mark.parametrize(
    ("change", "reads"),
    [
        ({"model": "claude-opus-5-1"}, 0),
        ({"tools": [{"name": "other", "input_schema": {}}]}, 0),
        ({"speed": "fast"}, 1),
        ({"tool_choice": {"type": "any"}}, 2),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, 2),
    ],
)
def test_what_a_change_invalidates(change: dict[str, Any], reads: int) -> None:
    """Sections are tools (2,000 and some), system (2,000), messages (2,000): how many of the three survive."""
    tools = [{"name": "look", "description": "x" * 8000, "input_schema": {}, "cache_control": HOUR}]
    request = body(block("m", 2000, HOUR), system=(block("s", 2000, HOUR),), tools=tools)
    cache = PromptCache()
    ask(cache, request, 0)
    assert ask(cache, request | change, 1).read // 2000 == reads


def test_a_picture_anywhere_invalidates_the_messages() -> None:
    cache = PromptCache()
    system = (block("s", 600, HOUR),)
    ask(cache, body(block("m", 600, HOUR), system=system), 0)
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 9000}}
    assert ask(cache, body(block("m", 600, HOUR), picture, system=system), 1).read == 600


def test_match_is_by_content_and_markers_are_none() -> None:
    cache = PromptCache()
    ask(cache, body(block("a", 600, HOUR)), 0)
    as_string = {
        "model": "claude-opus-5",
        "messages": [{"role": "user", "content": block("a", 600)["text"]}, *body(block("b", 9, SHORT))["messages"]],
    }
    assert ask(cache, as_string, 1).read == 600


def test_the_attribution_line_is_no_part_of_the_prefix() -> None:
    cache = PromptCache()
    lines = [{"type": "text", "text": f"x-anthropic-billing-header: cch={n}"} for n in (1, 2)]
    ask(cache, body(block("m", 600), system=(lines[0], block("s", 600, HOUR))), 0)
    assert ask(cache, body(block("m", 600), system=(lines[1], block("s", 600, HOUR))), 1).read == 600


def test_a_refused_request_changes_nothing() -> None:
    cache = PromptCache()
    request = body(block("a", 600, SHORT))
    ask(cache, request, 0)
    with pytest.raises(MarkerRuleBroken):
        cache.bill(body(block("a", 600, SHORT), block("b", 600, HOUR)), 200)
    assert ask(cache, request, 301) == Usage(write_5m=600)


def test_cost_in_usd() -> None:
    usage = Usage(input=1_000_000, read=1_000_000, write_5m=1_000_000, write_1h=1_000_000, output=1_000_000)
    assert usage.cost("claude-opus-4-8") == pytest.approx(5 + 0.5 + 6.25 + 10 + 25)
    assert usage.cost("claude-sonnet-5") == pytest.approx(2 + 0.2 + 2.5 + 4 + 10)
    assert usage.cost("claude-haiku-4-5-20251001") == pytest.approx(1 + 0.1 + 1.25 + 2 + 5)
    assert usage.cost("nobody-knows") is None


class TestLongLoop:
    """A loop of 40 calls, a pause of ten minutes, the next prompt. Bodies built by hand, as the worker should and should not send them."""

    STEPS = 40
    SYSTEM = (block("system", 3000, HOUR),)

    def conversation(self, cache: PromptCache) -> tuple[list[dict[str, Any]], float]:
        """Runs the loop with the prompt as hour anchor and a five-minute tail; returns the bare messages and the time."""
        now = 0.0
        ask(cache, self.request([self.user(block("prompt", 1000, HOUR))]), now)
        history = [self.user(block("prompt", 1000))]
        for step in range(self.STEPS):
            now += 10
            history.append({"role": "assistant", "content": [block(f"call {step}", 30)]})
            history.append(self.user(block(f"result {step}", 300)))
            sent = [self.user(block("prompt", 1000, HOUR)), *history[1:-1], self.user(block(f"result {step}", 300, SHORT))]
            usage = ask(cache, self.request(sent), now)
            assert usage.write_5m == 330 and usage.write_1h == 0
        return history, now

    def user(self, content: dict[str, Any]) -> dict[str, Any]:
        return {"role": "user", "content": [content]}

    def request(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        return {"model": "claude-opus-5", "system": list(self.SYSTEM), "messages": messages}

    def test_without_an_anchor_in_reach_the_conversation_is_written_again(self) -> None:
        cache = PromptCache()
        history, now = self.conversation(cache)
        bill = cache.bill(self.request([*history, self.user(block("next", 100, HOUR))]), now + 600)
        assert bill.read_up_to == "system.0"
        assert bill.usage == Usage(read=3000, write_1h=1000 + self.STEPS * 330 + 100)

    def test_with_the_old_prompt_marked_again_it_is_read_up_to_there(self) -> None:
        cache = PromptCache()
        history, now = self.conversation(cache)
        anchored = [self.user(block("prompt", 1000, HOUR)), *history[1:], self.user(block("next", 100, HOUR))]
        bill = cache.bill(self.request(anchored), now + 600)
        assert bill.read_up_to == "messages.0.content.0"
        assert bill.usage == Usage(read=4000, write_1h=self.STEPS * 330 + 100)

    def test_without_a_pause_the_tail_is_still_there(self) -> None:
        cache = PromptCache()
        history, now = self.conversation(cache)
        assert cache.bill(self.request([*history, self.user(block("next", 100, HOUR))]), now + 200).usage == Usage(
            read=4000 + self.STEPS * 330, write_1h=100
        )
