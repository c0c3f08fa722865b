"""What an SDK handed to its caller, case by case, as JSON on standard output. Runs in the client's process."""

import asyncio
import inspect
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

CASE_HEADER = "x-demo-step"
"""Carries the name of the case, by which the stand-in picks its answer."""


Case = Callable[[Any], Iterator[Any] | AsyncIterator[Any]]
"""Uses the client that it is given and yields what came of it; an asynchronous one gets the SDK's asynchronous client."""


def main(cases: Iterable[Case], client: type[Any], async_client: type[Any], errors: tuple[type[Exception], ...]) -> None:
    """Run every case and print what each yielded; one of `errors` ends a case and is its last value."""
    got: dict[str, list[Any]] = {case.__name__: [] for case in cases}
    # A field that the SDK declares and the stand-in leaves out is an error, so that what is compared is not full of holes.
    options: dict[str, Any] = {"max_retries": 0, "_strict_response_validation": True}
    with client(**options) as shared:
        for case in cases:
            headers, values = {CASE_HEADER: case.__name__}, got[case.__name__]
            try:
                if inspect.isasyncgenfunction(case):
                    asyncio.run(_collect(case, async_client(**options, default_headers=headers), values))
                else:
                    for value in case(shared.with_options(default_headers=headers)):
                        values.append(_plain(value))
            except errors as error:
                values.append(_plain_error(error))
    json.dump(got, sys.stdout)


async def _collect(case: Callable[[Any], AsyncIterator[Any]], client: Any, values: list[Any]) -> None:
    async with client:
        async for value in case(client):
            values.append(_plain(value))


def _plain(value: Any) -> Any:
    if not hasattr(value, "model_dump"):
        return value
    # The helpers' objects hold narrower types than their fields declare, of which pydantic warns when it writes them.
    return {"class": type(value).__name__} | value.model_dump(mode="json", warnings=False)


def _plain_error(error: Exception) -> Any:
    """Everything that a caller can tell errors apart by."""
    response = getattr(error, "response", None)
    return {
        "class": type(error).__name__,
        "text": str(error),
        "status": getattr(error, "status_code", None),
        "body": getattr(error, "body", None),
        "request_id": getattr(error, "request_id", None),
        "headers": header_fields(response.headers) if response is not None else None,
    }


def header_fields(headers: Any) -> list[list[str]]:
    """All fields of a response in their order, duplicates too; without the date, which is the moment's."""
    return [[name, value] for name, value in headers.multi_items() if name != "date"]
