"""Which shrinker this is."""

SHRINKER_VERSION = "4"
"""Changes with every release that shrinks anything to other bytes: a conversation keeps the bytes that it began with."""
