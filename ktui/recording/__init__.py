"""The recording format: reader and replay. Recordings are untrusted input."""
