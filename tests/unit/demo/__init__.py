"""The embedded API server, apart from the protocol (tests/contract)."""
