"""What a conversation is pinned to, and the small file that lets it outlive a worker."""

from pathlib import Path

import msgspec

from caveman_tui.core.policy import Level, ShrinkMode
from caveman_tui.proxy.state_files import remove_lapsed, replace_file


class Pin(msgspec.Struct, kw_only=True):
    """A conversation with the decision that holds for it, and what its provider refused."""

    conversation: str
    shrink: ShrinkMode | None = None
    """None where no request with tools has come yet."""
    level: Level = Level.STANDARD
    excluded_tools: tuple[str, ...] = ()
    shrinker: str = ""
    """Version of the shrinker that the decision was made with."""
    pinned_at: float | None = None
    last_request_at: float = 0.0
    """Seconds since the epoch, of the last request that a cache entry can come from."""
    requests: int = 0
    markers_refused: bool = False
    tools_refused: bool = False


class _PinDocument(msgspec.Struct, kw_only=True):
    version: int
    pins: list[Pin]


_VERSION = 1
_MOST_FILES, _MOST_BYTES = 256, 64 * 1024 * 1024
"""What the files of all ports together may take: each start on a free port makes one."""


class PinFile:
    """Pins on disk: 0600, replaced as a whole, so that a crash leaves the file before or the file after."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> tuple[list[Pin], str]:
        """The pins and an empty string; or no pins and what is wrong with the file. An absent file is right and empty."""
        try:
            document = msgspec.json.decode(self.path.read_bytes(), type=_PinDocument)
        except FileNotFoundError:
            return [], ""
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            return [], f"{self.path} could not be read ({error})"
        if document.version != _VERSION:
            return [], f"{self.path} is of version {document.version}, and this program reads version {_VERSION}"
        return document.pins, ""

    def save(self, packed: bytes) -> None:
        """Replace the content by `packed`, see `pack`. Raises OSError."""
        replace_file(self.path, packed)


def remove_lapsed_pins(directory: Path, seconds: float) -> None:
    """Remove the files of workers, on whatever port, none of whose conversations had a request for `seconds`."""
    remove_lapsed(directory, "pins-*.json", seconds=seconds, most_files=_MOST_FILES, most_bytes=_MOST_BYTES)


def pack(pins: list[Pin]) -> bytes:
    """The file's content for these pins."""
    return msgspec.json.encode(_PinDocument(version=_VERSION, pins=pins))
