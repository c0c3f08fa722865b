"""The recovery store: exact originals by handle, in the file that all Caveman tools of a machine share.

`open_store` gives a `Store`; `Store.put` commits before it returns, `Store.get` checks the hash of what it read.
"""
