"""JSON Schema of HAR 1.2, written from the specification, and the small part of a validator that it needs."""

import re
from datetime import datetime
from typing import Any

TEXT = {"type": "string"}
SIZE = {"type": "integer", "minimum": -1}
DATE = {"type": "string", "format": "date-time"}
TIME = {"type": "number", "minimum": -1}
SPENT = {"type": "number", "minimum": 0}


def obj(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object; members of our own begin with an underscore, others are not known to the specification."""
    properties = {**required, **(optional or {}), "comment": TEXT}
    return {"type": "object", "required": list(required), "properties": properties, "patternProperties": {"^_": {}}, "additional": False}


def list_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


PAIR = obj({"name": TEXT, "value": TEXT})
COOKIE = obj(
    {"name": TEXT, "value": TEXT},
    {"path": TEXT, "domain": TEXT, "expires": DATE, "httpOnly": {"type": "boolean"}, "secure": {"type": "boolean"}},
)
CREATOR = obj({"name": TEXT, "version": TEXT})
PAGE = obj(
    {"startedDateTime": DATE, "id": TEXT, "title": TEXT, "pageTimings": obj({}, {"onContentLoad": TIME, "onLoad": TIME})},
)
POST_DATA = obj({"mimeType": TEXT, "params": list_of(obj({"name": TEXT}, {"value": TEXT, "fileName": TEXT})), "text": TEXT})
REQUEST = obj(
    {
        "method": TEXT,
        "url": TEXT,
        "httpVersion": TEXT,
        "cookies": list_of(COOKIE),
        "headers": list_of(PAIR),
        "queryString": list_of(PAIR),
        "headersSize": SIZE,
        "bodySize": SIZE,
    },
    {"postData": POST_DATA},
)
CONTENT = obj({"size": SIZE, "mimeType": TEXT}, {"compression": {"type": "integer"}, "text": TEXT, "encoding": TEXT})
RESPONSE = obj(
    {
        "status": {"type": "integer", "minimum": 0},
        "statusText": TEXT,
        "httpVersion": TEXT,
        "cookies": list_of(COOKIE),
        "headers": list_of(PAIR),
        "content": CONTENT,
        "redirectURL": TEXT,
        "headersSize": SIZE,
        "bodySize": SIZE,
    }
)
CACHED = obj({"lastAccess": TEXT, "eTag": TEXT, "hitCount": {"type": "integer"}}, {"expires": TEXT})
TIMINGS = obj({"send": SPENT, "wait": SPENT, "receive": SPENT}, {"blocked": TIME, "dns": TIME, "connect": TIME, "ssl": TIME})
ENTRY = obj(
    {
        "startedDateTime": DATE,
        "time": SPENT,
        "request": REQUEST,
        "response": RESPONSE,
        "cache": obj({}, {"beforeRequest": CACHED, "afterRequest": CACHED}),
        "timings": TIMINGS,
    },
    {"pageref": TEXT, "serverIPAddress": TEXT, "connection": TEXT},
)
HAR = obj(
    {"log": obj({"version": TEXT, "creator": CREATOR, "entries": list_of(ENTRY)}, {"browser": CREATOR, "pages": list_of(PAGE)})},
)


class Invalid(ValueError):
    pass


def validate(value: Any, schema: dict[str, Any] = HAR, at: str = "$") -> None:
    """Raises Invalid, saying where."""
    match schema.get("type"):
        case "object":
            _validate_object(value, schema, at)
        case "array":
            if not isinstance(value, list):
                raise Invalid(f"{at} is no array")
            for index, item in enumerate(value):
                validate(item, schema["items"], f"{at}[{index}]")
        case "string":
            if not isinstance(value, str):
                raise Invalid(f"{at} is no string")
            if schema.get("format") == "date-time" and (not re.match(r"\d{4}-\d\d-\d\dT", value) or not _zone(value)):
                raise Invalid(f"{at} is no date with a time and a zone: {value}")
        case "integer" | "number" as kind:
            if isinstance(value, bool) or not isinstance(value, int if kind == "integer" else int | float):
                raise Invalid(f"{at} is no {kind}: {value}")
            if value < schema.get("minimum", value):
                raise Invalid(f"{at} is too small: {value}")
        case "boolean":
            if not isinstance(value, bool):
                raise Invalid(f"{at} is no boolean")


def _validate_object(value: Any, schema: dict[str, Any], at: str) -> None:
    if not isinstance(value, dict):
        raise Invalid(f"{at} is no object")
    if missing := [name for name in schema["required"] if name not in value]:
        raise Invalid(f"{at} lacks {missing}")
    for name, member in value.items():
        if name in schema["properties"]:
            validate(member, schema["properties"][name], f"{at}.{name}")
        elif not any(re.search(pattern, name) for pattern in schema["patternProperties"]):
            raise Invalid(f"{at}.{name} is not known")


def _zone(value: str) -> bool:
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False
