"""The control protocol between worker and screen: events, exchanges, messages."""
