"""An original out of the store into a new private file, its hash checked."""

from pathlib import Path

from caveman_tui.ccr import Recovered, open_store
from caveman_tui.traffic.private_file import new_private, write_private


def recover_into(directory: Path, store: Path | None, handle: str) -> Path:
    """Write the original under `handle` to a new file of `directory`, named for it; the file's path.

    `store` None is the shared default. Raises StoreError, and OSError where the file can't be made.
    """
    recovered = get(store, handle)
    return write_private(directory, _name(recovered), recovered.original)


def recover_to(place: str, store: Path | None, handle: str) -> Path:
    """Write the original to the new file `place`, as a person typed it, or to one in it where it is a folder; the file's path.

    Raises StoreError, OSError where the file can't be made or is there already, and RuntimeError where `~` leads nowhere.
    """
    recovered = get(store, handle)
    target = Path(place).expanduser().absolute()
    if target.is_dir():
        target = target / _name(recovered)
    with new_private(target) as file:
        file.write(recovered.original)
    return target


def get(store: Path | None, handle: str) -> Recovered:
    """The original under `handle`. Raises StoreError."""
    with open_store(store, create=False) as opened:
        return opened.get(handle)


def _name(recovered: Recovered) -> str:
    suffix = "json" if recovered.original[:1] in (b"{", b"[") else "txt"
    return f"{recovered.record.handle}.{suffix}"
