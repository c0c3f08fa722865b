"""What the commands on the recovery store share: the option that names one, and how its errors end a command."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from caveman_tui.ccr import HandleMalformed, Store, StoreError, open_store

store_option = click.option(
    "--store",
    metavar="PATH",
    help="The recovery store's database file. Without it: CAVEMAN_CCR_DB, $CAVEMAN_HOME/ccr.db or ~/.caveman/ccr.db, which all Caveman "
    "tools of this machine share.",
)


@contextmanager
def existing_store(path: str | None) -> Iterator[Store]:
    """The store at `path`, or the shared one; errors inside the `with` end the command. None is made."""
    with store_errors(), open_store(path, create=False) as store:
        yield store


@contextmanager
def store_errors() -> Iterator[None]:
    """Turn a StoreError into the command's error message: exit code 2 for what is no handle, else 1."""
    try:
        yield
    except HandleMalformed as error:
        raise click.UsageError(_sentence(error)) from None
    except StoreError as error:
        raise click.ClickException(_sentence(error)) from None


def _sentence(error: StoreError) -> str:
    return " ".join(f"{_capitalised(part)}." for part in (error.what, error.todo) if part)


def _capitalised(text: str) -> str:
    """With a capital at the beginning, unless a handle or a path stands there, which must stay what it is."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0].rstrip(":").isalpha() else text
