"""The controllers of the demo cluster, one for each of Kubernetes' own that it imitates."""
