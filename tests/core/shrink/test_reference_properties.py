import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, unquote

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caveman_tui.core.policy import Level
from caveman_tui.core.selection_profile import selection_profile
from caveman_tui.core.shrink import shrink_catalog
from tests.core.shrink.noisy_schemas import dumped, exactly, schemas

thorough = settings(
    max_examples=int(os.environ.get("CAVEMAN_TEST_EXAMPLES", "25")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def pointers(node: Any, here: str = "") -> Iterator[str]:
    """Every place in a document, as a pointer."""
    yield here
    if isinstance(node, dict):
        for key, value in node.items():
            yield from pointers(value, here + "/" + key.replace("~", "~0").replace("/", "~1"))
    elif isinstance(node, list):
        for index, item in enumerate(node):
            yield from pointers(item, f"{here}/{index}")


def target(pairs: Any, fragment: str) -> Any:
    """What a pointer leads to in the nested pairs that `exactly` returns; raises LookupError where it leads nowhere."""
    for token in unquote(fragment).split("/")[1:]:
        step = token.replace("~1", "/").replace("~0", "~")
        pairs = dict(pairs[1])[step] if isinstance(pairs, tuple) else pairs[int(step)]
    return pairs


def spelled(draw: st.DrawFn, pointer: str) -> str:
    return quote(pointer, safe="/~") if draw(st.booleans()) else pointer.replace("%", "%25")


@st.composite
def referring(draw: st.DrawFn) -> tuple[Any, list[str]]:
    """A schema with annotations and with references to anything in it, and where those lead."""
    schema, _ = draw(schemas(2))
    chosen = draw(st.lists(st.sampled_from(list(pointers(schema))), min_size=1, max_size=3))
    fragments = [spelled(draw, pointer) for pointer in chosen]
    return schema | {"contains": {"anyOf": [{"$ref": "#" + fragment} for fragment in fragments]}}, fragments


@given(referring(), st.booleans())
@thorough
def test_every_reference_that_led_somewhere_still_does(made: tuple[Any, list[str]], inside_a_resource: bool) -> None:
    schema, fragments = made
    root = (
        {"title": "R", "examples": [1], "properties": {"inner": {"$id": "https://x.test/inner", **schema}}} if inside_a_resource else schema
    )
    data = dumped([{"name": "t", "inputSchema": root}])
    shrunk = shrink_catalog(data, level=Level.CAREFUL)
    before, after = exactly(data), exactly(shrunk.after)
    place = "/0/inputSchema/properties/inner" if inside_a_resource else "/0/inputSchema"
    for fragment in fragments:
        target(target(before, place), fragment)
        target(target(after, place), fragment)
    assert selection_profile(shrunk.after) == selection_profile(data)
    assert shrink_catalog(shrunk.after, level=Level.CAREFUL).after == shrunk.after
