"""What a worker imports soon after its start although it is needed later.

An upgrade replaces the package's files under a worker that runs for weeks. What it has imported by then fits together; a module of
the new version among those of the old one need not.
"""

from caveman_tui.core.tokens import load_vocabulary


def preload() -> None:
    """Import it all; takes a quarter of a second, for a thread. What is missing is missed when it is needed, as it would be anyway."""
    try:
        import caveman_tui.core.selection_profile
        import caveman_tui.core.shrink.catalog  # noqa: F401

        load_vocabulary()
    except (ImportError, OSError):
        return
