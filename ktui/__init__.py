"""ktui: what an on-call engineer types when an AI cluster misbehaves."""

__version__ = "0.1.0"
