"""What counts as this machine: for the address to listen on, and for the names that clients may call it by."""

import ipaddress
from functools import lru_cache
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Whether `host`, a name or an address, is this machine by its spelling; nothing is resolved."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def page_is_foreign(origin: str | None, fetch_site: str | None) -> bool:
    """Whether a page of another machine had a browser make a request: by its `Origin` and `Sec-Fetch-Site`, None where absent.

    A page may post to any address without asking first, and what it posts reaches the provider even if it can't read the answer.
    Editors and extensions have origins of schemes of their own, and a page without any (`null`) may be anyone's.
    """
    if origin is None:
        return fetch_site == "cross-site"
    try:
        parts = urlsplit(origin)
        return origin == "null" or (parts.scheme in {"http", "https"} and not is_loopback(parts.hostname or ""))
    except ValueError:
        return True


@lru_cache(256)
def authority_is_loopback(authority: str) -> bool:
    """Whether a `Host` value, with or without a port, names this machine.

    A page in a browser can have its own host name resolve to a loopback address, and then reads what answers there: so a worker
    answers to no other name.
    """
    try:
        parts = urlsplit(f"//{authority}")
        plain = not (parts.path or parts.query or parts.fragment) and parts.username is None
        return plain and parts.port != 0 and is_loopback(parts.hostname or "")
    except ValueError:
        return False
