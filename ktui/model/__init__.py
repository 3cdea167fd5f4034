"""Typed objects as they are on the wire, one concept a file; quantities, times, frames. No I/O, no joins."""
