"""The vocabulary of JSON Schema as far as it says where schemas lie: which keyword holds one, a list of them, or a map of names to them.

Sources: JSON Schema draft 4 to 2020-12, and the OpenAPI 3 subset that Gemini speaks. What is in no table is data, and is never read
as a schema: `default`, `const`, `enum`, vendor keywords, keywords of tomorrow.
"""

from typing import Any

ONE = frozenset(
    {
        "items",
        "additionalItems",
        "additionalProperties",
        "unevaluatedItems",
        "unevaluatedProperties",
        "contains",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
        "contentSchema",
    }
)
"""Keywords whose value is a schema (`items` may be a list of them too)."""

MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
"""Keywords whose value is a list of schemas."""

ALTERNATIVES = frozenset({"anyOf", "oneOf"})
"""Keywords whose schemas exclude or replace one another, so that a title may be all that tells two constants apart."""

NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
"""Keywords whose value maps names to schemas. The names are the author's: one that looks like a keyword is none."""

REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})

ANNOTATIONS = frozenset({"title", "examples", "example", "$comment", "$schema"})
"""Keywords that constrain nothing, besides `description`."""

TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})


def looks_like_schema(value: Any) -> bool:
    """Whether `value` is an object that can be a schema: empty, or with a word that only schemas start with."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    return (
        not value
        or isinstance(value.get("properties"), dict)
        or (isinstance(kind, str) and (kind.lower() in TYPES or kind == "dict"))
        or isinstance(kind, list)
        or any(isinstance(value.get(word), str) for word in ("$ref", "$schema"))
        or any(isinstance(value.get(word), dict) for word in ("$defs", "definitions"))
        or any(isinstance(value.get(word), list) for word in ("anyOf", "oneOf", "allOf", "enum"))
    )
