"""The transforms: pure functions of bytes. No files, sockets, clock or environment."""
