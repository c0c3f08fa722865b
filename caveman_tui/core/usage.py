"""What a provider billed, read from its response."""

import msgspec


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Token counts as the provider reported them; None where it said nothing.

    `input_tokens` is what was neither read from nor written to the cache (Anthropic's meaning; OpenAI's cached tokens are taken
    out of its input count). Source: Anthropic prompt caching, "Tracking cache performance"; OpenAI usage objects.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    """All cache writes; the two below split it where the provider does."""
    cache_write_5m_tokens: int | None = None
    cache_write_1h_tokens: int | None = None

    @property
    def total_input_tokens(self) -> int | None:
        """Everything the model read: input, cache reads and cache writes. None where the provider gave no input count."""
        if self.input_tokens is None:
            return None
        return self.input_tokens + (self.cache_read_tokens or 0) + (self.cache_write_tokens or 0)

    @property
    def cache_read_share(self) -> float | None:
        """Cache reads as a fraction of all input, 0 to 1."""
        total = self.total_input_tokens
        if not total or self.cache_read_tokens is None:
            return None
        return self.cache_read_tokens / total
