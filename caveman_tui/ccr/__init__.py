"""The recovery store: exact originals by handle, in the file that all Caveman tools of a machine share.

`open_store` gives a `Store`; `Store.put` commits before it returns, `Store.get` checks the hash of what it read.
"""

from caveman_tui.ccr.damage import CheckReport, Damage, set_aside
from caveman_tui.ccr.errors import (
    HandleMalformed,
    HandleUnknown,
    NotOurs,
    OriginalDamaged,
    OverBudget,
    StoreCorrupt,
    StoreDiskFull,
    StoreError,
    StoreForeign,
    StoreLocked,
    StoreMissing,
    StoreReadOnly,
    StoreUnreachable,
    StoreUnsafe,
)
from caveman_tui.ccr.handles import handle_of, parse_handle
from caveman_tui.ccr.location import default_path
from caveman_tui.ccr.records import COMPRESSOR, TOOLSCHEMA, Record, Recovered, StoreStats
from caveman_tui.ccr.store import Store, open_store

__all__ = [
    "COMPRESSOR",
    "TOOLSCHEMA",
    "CheckReport",
    "Damage",
    "HandleMalformed",
    "HandleUnknown",
    "NotOurs",
    "OriginalDamaged",
    "OverBudget",
    "Record",
    "Recovered",
    "Store",
    "StoreCorrupt",
    "StoreDiskFull",
    "StoreError",
    "StoreForeign",
    "StoreLocked",
    "StoreMissing",
    "StoreReadOnly",
    "StoreStats",
    "StoreUnreachable",
    "StoreUnsafe",
    "default_path",
    "handle_of",
    "open_store",
    "parse_handle",
    "set_aside",
]
