"""Gangs and pods whose trouble is known, because it was made: played on a real control plane, and kept as recordings.

The truth of a scenario follows from how it was built, and is proven by the scheduler: what is said to be in the way is taken
away, and then the gang runs; what only looks like the trouble is taken away first, and the gang still waits.
"""
