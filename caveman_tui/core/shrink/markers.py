"""The constraint markers of the caveman-shrink document: a sentence with one of them is kept in full."""

import re

MARKERS = re.compile(
    r"\b(?:must|cannot|can ?not|requires?|required|reject(?:s|ed)?|invalid|not allowed|exactly one|at least|at most|max(?:imum)?|min(?:imum)?"
    r"|ranges?|between|(?:greater|less|more|fewer|longer|shorter|larger|smaller|higher|lower) than|over|above|below|unique|mutually exclusive|format|ISO|RFC|absolute)\b",
    re.IGNORECASE,
)
"""Whole words; the comparisons of its "greater-than" in their other spellings too."""


def has_marker(text: str) -> bool:
    """Whether a sentence carries a constraint marker."""
    return MARKERS.search(text) is not None
