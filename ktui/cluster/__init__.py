"""The state: stores, indexes and joins (allocation, taints, gangs), fed by frames. Plain data: no I/O, no Textual,
no clock of its own."""
