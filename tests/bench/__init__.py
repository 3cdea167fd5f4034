"""What a person waits for, measured from outside: processes on a pseudo-terminal, not functions in this one.

    terminal    runs one command on a pseudo-terminal and notes when what was written
    screen      what a terminal shows after that, drawn by an emulator
    processes   memory and processor time of a command with its children
    measures    the lines of the table of replays, and how each is taken

    fleet       fills an API server with thousands of running pods
    programs    ktui, the floor, k9s and kubectl: how each is started, and what it shows when
    floor       the least program with the same screen
    lives       one life of a program, from start to end
    comparison  all of them on one cluster, by turns
    gateway     stands before the API server: counts what is asked, adds storms of events
    table       the lines of that comparison with their budgets

    links       a slow line between ktui and its terminal
    apilink     a slow line between ktui and the API server

    machine     what the figures were measured on
    subject     the ktui that is measured: this checkout, or its wheel in an environment of its own

`python -m tests.bench` measures replays of recordings; with `--fleet 8000 --peers` it compares on a live cluster of so many pods.
It asserts nothing: a time on one machine says nothing about another.
"""
