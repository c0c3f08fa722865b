"""Watch, cheapen and recover what a coding agent sends to its model provider."""

__version__ = "0.1.0"
