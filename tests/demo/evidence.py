"""Evidence written by hand: one request, from all sides, all of it in order."""

from caveman_tui.core.policy import Level
from caveman_tui.demo.promises import Evidence
from caveman_tui.demo.provider import Received
from caveman_tui.demo.wire import Sent
from caveman_tui.protocol.events import MarkerEdit, ToolsSummary
from caveman_tui.protocol.exchanges import Exchange

TOOLS = (
    b'[ {"name":"look","description":"Looks. Really.",'
    b'"input_schema":{"title":"T","properties":{"at":{"enum":[1,"1"]}},"required":["at"]}} ]'
)
SHRUNK = b'[{"name":"look","description":"Looks.","input_schema":{"properties":{"at":{"enum":[1,"1"]}},"required":["at"]}}]'
BODY = (
    b'{"messages":[{"role":"user","content":[{"type":"text","text":"\\u00e4 ]}\\""}]},{"role":"user","content":['
    b'{"type":"tool_result","cache_control":{"ttl":"1h","type":"ephemeral"}}]}], "tools" : ' + TOOLS + b',"x":1.0}'
)
FORWARDED = (
    b'{"messages":[{"role":"user","content":[{"type":"text","text":"\\u00e4 ]}\\"","cache_control":{"type":"ephemeral","ttl":"1h"}}]},'
    b'{"role":"user","content":[{"type":"tool_result","cache_control":{"ttl":"5m","type":"ephemeral"}}]}], "tools" : '
    + SHRUNK
    + b',"x":1.0}'
)
EDITS = (
    MarkerEdit(
        pointer="/messages/0/content/0/cache_control",
        kind="marker",
        before="",
        after=',"cache_control":{"type":"ephemeral","ttl":"1h"}',
        reason="prompt-anchored",
    ),
    MarkerEdit(pointer="/messages/1/content/0/cache_control/ttl", kind="ttl", before='"1h"', after='"5m"', reason="loop-shortened"),
)
HANDLE = "ccr_00112233445566778899aabbccddeeff"
ANSWER = b"event: ping\n\n"


def sound() -> Evidence:
    """Evidence that breaks no promise; each call gives a new one."""
    sent = Sent(
        number=1,
        conversation="c",
        method="POST",
        target="/v1/messages?beta=true",
        headers=(("X-A", "1"), ("X-A", "2"), ("Host", "here")),
        body=BODY,
        at=0.0,
        status=200,
        received_headers=(("Set-Cookie", "a"), ("Set-Cookie", "b"), ("Date", "now")),
        received=bytearray(ANSWER),
    )
    received = Received(
        at=0.0,
        method="POST",
        target="/v1/messages?beta=true",
        headers=(("x-a", "1"), ("X-A", "2"), ("Host", "there")),
        body=FORWARDED,
        status=200,
        sent_headers=(("set-cookie", "a"), ("set-cookie", "b")),
        sent=bytearray(ANSWER),
    )
    tools = ToolsSummary(
        pointer="/tools",
        digest="d",
        level=Level.STANDARD,
        applied=True,
        handle=HANDLE,
        tools=1,
        bytes_before=len(TOOLS),
        bytes_after=len(SHRUNK),
    )
    exchange = Exchange(id="1", started_at=0.0, method="POST", path="/v1/messages", marker_edits=EDITS, tools=(tools,), state="done")
    return Evidence(sent=sent, received=(received,), exchange=exchange)
