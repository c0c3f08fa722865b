"""Failures, said: those of our own background work too, which are no reason to leave."""

from textual.app import App
from textual.worker import Worker, WorkerState

from caveman_tui.ccr import StoreError


def tell(app: App[int], event: Worker.StateChanged) -> bool:
    """Say what failed, if it did; whether it did."""
    if event.state is not WorkerState.ERROR:
        return False
    error = event.worker.error
    app.notify(
        f"{type(error).__name__}: {error}. Requests are not affected. Try again; if it stays, please report it.",
        title=f"This screen failed at '{event.worker.group}'",
        severity="error",
        timeout=10,
        markup=False,
    )
    return True


def sentence(error: StoreError) -> str:
    """What happened and what to do, as a sentence."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def reason(error: Exception) -> str:
    """What went wrong with a path, without the path: whoever shows the reason names that already."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
