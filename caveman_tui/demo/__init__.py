"""A provider stand-in and a scripted agent: the whole product without network or key."""
