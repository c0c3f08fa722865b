"""What is read of a request before it is rewritten."""

import json

import pytest

from caveman_tui.proxy import transform
from caveman_tui.proxy.transform import Head, read_head


@pytest.mark.parametrize(
    ("body", "head"),
    [
        (b'{"model":"m","tools":[{"name":"a"}]}', Head(model="m", has_tools=True)),
        (b'{"tools":[ ],"model":"m"}', Head(model="m", has_tools=False)),
        (b'{"tools":[],"model":"m"}', Head(model="m", has_tools=False)),
        (b'{"tools":null,"model":"m"}', Head(model="m", has_tools=False)),
        (b'{"model":"m","messages":[{"content":"tools"}]}', Head(model="m", has_tools=False)),
        (b'{"model":"m","input":[{"type":"additional_tools","tools":[{}]}]}', Head(model="m", has_tools=True)),
        (b'{"model":5}', Head()),
        (b"{}", Head()),
    ],
)
def test_model_and_tools_are_read_the_fast_way(body: bytes, head: Head, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transform, "json", None)
    assert read_head(body) == head


@pytest.mark.parametrize("body", [rb'{"model":"m","tools":[{"name":"a"}],"x":"\ud800"}', b'{"model":"m","tools":[1],"x":NaN}'])
def test_what_the_fast_way_refuses_is_read_all_the_same(body: bytes) -> None:
    assert read_head(body) == Head(model="m", has_tools=True)


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b'"x"', b"\xff", b"[" * 100_000, b'{"a":' * 100_000])
def test_what_is_no_request_has_neither(body: bytes) -> None:
    assert read_head(body) == Head()


def test_a_long_model_name_is_cut() -> None:
    assert len(read_head(json.dumps({"model": "m" * 5000}).encode()).model) == 200
