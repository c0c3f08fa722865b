"""Stable codes for why something was, or was not, changed, each with its sentence for a person."""

import msgspec

REASONS: dict[str, str] = {
    # loop TTL: what was changed
    "loop-shortened": "Inside an agent loop the next request comes within seconds, so this 1h marker was written for 5m.",
    "nested-shortened": "This 1h marker inside a tool result, document or search result counts like any other and was written for 5m.",
    "automatic-shortened": "The automatic 1h marker lands inside the loop and was written for 5m with it.",
    "headless-shortened": "Nobody comes back to a headless client after a pause, so this 1h marker was written for 5m.",
    "headless-system-shortened": "The last of several system markers covers what only this session shares, so it was written for 5m.",
    "prompt-anchored": "The person's prompt got a 1h marker of its own: a long pause loses at most this loop.",
    "prompt-raised": "The marker on the person's prompt became 1h: a long pause loses at most this loop.",
    "re-anchored": "The previous prompt lies out of reach of every later marker; its 1h marker lets the next pause read from there.",
    # loop TTL: how it was decided
    "anchor-kept": "The person's prompt already carries a 1h marker.",
    "anchor-elsewhere": "No marker is free, but another block of the person's prompt carries a 1h marker, which serves.",
    "last-eligible-block": "The prompt's last block cannot carry a marker, so its last eligible block was taken.",
    "system-message-skipped": "A system message at the end does not end the loop.",
    "marker-keys-kept": "The marker carries other keys than its lifetime; they stay as they are.",
    "null-marker-replaced": "`cache_control: null` is no marker; it was replaced by one.",
    "illegal-made-legal": "The request broke a rule of the API as it came; as edited it does not.",
    # loop TTL: why nothing was changed
    "loop-ttl-off": "Loop TTL is switched off.",
    "markers-refused": "The provider refused edited markers in this conversation before, so they stay as they come.",
    "no-cache-control": "This API has no cache markers to change.",
    "count-tokens": "Counting tokens writes no cache, so its markers stay as they come.",
    "no-hour-marker": "The request holds no 1h marker.",
    "not-a-request": "The document is JSON, but no request: there is no object with a list of messages.",
    "ends-in-prompt": "The request ends in a person's prompt: nobody knows when the next one comes.",
    "not-in-loop": "The request does not end in tool results.",
    "loop-without-hour": "No marker of the loop says 1h.",
    "no-prompt": "No message is a person's prompt alone, so there is nothing to anchor the loop to.",
    "prompt-is-text": "The person's prompt is a plain string: making a block of it would miss the cache its first request wrote.",
    "prompt-without-block": "The person's prompt is empty, or its last item is no object.",
    "no-eligible-block": "No block of the person's prompt can carry a marker.",
    "malformed-marker": "The marker on the person's prompt is no object.",
    "no-free-slot": "All four markers are in use: the loop keeps 1h rather than risk the whole turn.",
    "no-slot-to-re-anchor": "The previous prompt lies out of reach, but all four markers are in use.",
    "result-illegal": "The edited markers would break a rule of the API, so they stay as they came.",
    "request-illegal": "The request breaks a rule of the API as its client made it, and will be refused.",
    "duplicate-key": "A key stands twice on the way to this place, and who reads it decides which counts, so nothing there is changed.",
    "markers-undone": "The provider refused the request, so it was sent again with its markers as they came.",
    # client
    "client-headless": "No person sits behind this client.",
    "client-interactive": "A person sits behind this client.",
    "client-overridden": "What this client is was given, not read from its User-Agent.",
    # body
    "byte-order-mark": "The body begins with a byte order mark, so nothing in it is changed.",
    "invalid-utf-8": "The body is not UTF-8, so nothing in it is changed.",
    "not-json": "The body is not exactly one JSON value, so nothing in it is changed.",
    "too-deep": "The body nests too deep to be read, so nothing in it is changed.",
    "internal-error": "Our own code failed, so the request went out as it came.",
    # tools
    "tools-shrunk": "The tool definitions lost filler text; the original is in the recovery store.",
    "tools-measured": "Shrinking only measures: the tool definitions went out as they came.",
    "tools-unchanged": "Nothing in the tool definitions could be taken away.",
    "tools-refused": "The provider refused shrunk tools in this conversation before, so they stay as they come.",
    "tools-profile-changed": "Shrinking would have changed a name, type or constraint, so the tools went out as they came.",
    "tools-markers-changed": "Shrinking would have changed a cache marker of a tool, so the tools went out as they came.",
    "tools-failed": "Shrinking failed, so the tools went out as they came.",
    "tools-undone": "The shrunk tools were taken back, so they went out as they came.",
}
"""Code to sentence. Codes are stable: screens, exports and scripts name them."""

BODY_REFUSALS = frozenset({"byte-order-mark", "invalid-utf-8", "not-json", "too-deep"})
"""Codes that say the body could not be read at all."""


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """Why something was, or was not, changed."""

    code: str
    """Stable code, a key of REASONS."""
    text: str
    """One sentence for a person."""
    pointer: str = ""
    """Where, if it is about one place."""


def reason(code: str, pointer: str = "", detail: str = "") -> Reason:
    """The reason of this code; `detail` is added to its sentence. Raises KeyError for an unknown code."""
    text = REASONS[code]
    return Reason(code=code, text=f"{text} {detail}" if detail else text, pointer=pointer)
