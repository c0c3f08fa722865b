"""Text cut and filled to a number of columns."""

from rich.cells import cell_len, set_cell_size


def fit(text: str, width: int, *, right: bool = False) -> str:
    """`text` in exactly `width` columns: filled with blanks, or cut with `…` at its end. `right` fills on the left."""
    if width <= 0:
        return ""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - 1) + "…"
    blanks = " " * (width - length)
    return blanks + text if right else text + blanks
