"""Ids and signatures that look like the provider's and are the same on every run."""

import base64
import hashlib
import string

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_SIGNATURE_HEAD = b"stand-in\x01"


def made_id(prefix: str, *parts: object, length: int = 22) -> str:
    """`prefix` and `length` characters drawn from `parts`."""
    number = int.from_bytes(hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).digest(), "big")
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return f"{prefix}_01{''.join(digits)}"


def sign(thinking: str) -> str:
    """The signature of a thinking text."""
    data = thinking.encode("utf-8", "surrogatepass")
    return base64.b64encode(_SIGNATURE_HEAD + b"".join(hashlib.sha512(bytes([n]) + data).digest() for n in range(4))).decode()


def is_forged(thinking: str, signature: str) -> bool:
    """Whether `signature` is one of ours but not of this text. Those of other providers can't be judged and pass."""
    try:
        ours = base64.b64decode(signature, validate=True).startswith(_SIGNATURE_HEAD)
    except ValueError:
        return False
    return ours and signature != sign(thinking)
