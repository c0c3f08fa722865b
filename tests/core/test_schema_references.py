"""References that are hostile: addresses that are none, indexes beyond reason, chains that are long."""

import json
from typing import Any

import pytest

from caveman_tui.core.catalog_diff import diff_catalogs
from caveman_tui.core.policy import Level
from caveman_tui.core.schema_references import References
from caveman_tui.core.selection_profile import selection_profile
from caveman_tui.core.shrink import shrink_catalog


def catalog(schema: dict[str, Any]) -> bytes:
    return json.dumps([{"name": "t", "inputSchema": schema}]).encode()


@pytest.mark.parametrize(
    "reference",
    [
        "#/allOf/" + "9" * 5000,
        "#/allOf/" + "0" * 5000,
        "#/allOf/\u0663",
        "http://[x#a",
        "//\u2100.test/x#",
        "http://a\u2100b/",
        "#/%zz%ff",
        "#",
    ],
)
@pytest.mark.parametrize("identity", ["", "http://[x", "https://x.test/a", "//\u2100.test"])
def test_a_reference_that_makes_no_sense_leads_nowhere_and_harms_nothing(reference: str, identity: str) -> None:
    schema = {"$id": identity, "type": "object", "allOf": [{"title": "t"}], "properties": {"p": {"title": "P", "$ref": reference}}}
    data = catalog(schema)
    shrunk = shrink_catalog(data, level=Level.CAREFUL)
    assert shrunk.changed
    assert b'"title"' not in shrunk.after
    assert selection_profile(shrunk.after) == selection_profile(data)
    assert diff_catalogs(data, shrunk.after).count("changed") == 1


class _Counted(dict[str, Any]):
    """An object that counts how often its members were walked over."""

    walks = 0

    def items(self) -> Any:
        _Counted.walks += 1
        return super().items()


@pytest.mark.parametrize("forwards", [True, False])
def test_a_chain_of_references_through_annotations_is_walked_once(forwards: bool) -> None:
    length = 300

    def link(number: int) -> dict[str, Any]:
        return _Counted(examples=[_Counted({"$ref": f"#/properties/p{number + 1}/examples/0"})])

    order = range(length) if forwards else range(length - 1, -1, -1)
    properties = {f"p{number}": link(number) for number in order}
    start = _Counted({"$ref": "#/properties/p0/examples/0"})
    schema = _Counted(properties=_Counted(properties, z=start))
    _Counted.walks = 0
    references = References([schema], {(id(node), "examples") for node in properties.values()})
    assert len(references.found) == length + 1
    assert len(references.kept) == length
    assert _Counted.walks == 2 * length + 3


@pytest.mark.parametrize("named", [{"$id": "https://x.test/late"}, {"$anchor": "late"}])
def test_a_place_that_is_named_inside_of_what_a_reference_keeps_is_found(named: dict[str, str]) -> None:
    late = named.get("$id") or "#late"
    kept = {"examples": [{**named, "$defs": {"x": {"examples": [1]}}}]}
    schema = {
        "properties": {
            "first": {"$ref": f"{late}#/$defs/x" if "$id" in named else late},
            "second": {"$ref": "#/properties/kept/examples/0"},
            "kept": kept,
        }
    }
    references = References([schema], {(id(kept), "examples")})
    assert all(references.resolve(reference) is not None for reference in references.found)
