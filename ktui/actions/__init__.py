"""Everything that writes to a cluster: plan, preview, apply, audit. One file an action; one path for all of them."""
