"""The real control plane: Kubernetes 1.37.2 with simulated nodes on loopback, and the tests that need it."""
