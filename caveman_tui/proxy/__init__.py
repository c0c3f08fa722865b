"""The worker: a loopback model-API proxy and its control API."""
