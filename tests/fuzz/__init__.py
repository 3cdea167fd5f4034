"""Random clusters, played on a real control plane: what ktui says of each gang must be what the scheduler then does.

    worlds     makes a cluster, its occupants and its gangs from a seed
    variants   the same gang without its constraints, its selectors, ...; the same cluster without its taints, ...
    undo       a recording in which a gang has not been placed yet
    play       plays a world and compares

`python -m tests.fuzz --worlds N --seed S` plays N worlds from the seed S on and prints what does not agree.
"""
