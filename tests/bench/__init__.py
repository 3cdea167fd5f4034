"""What a person waits for, measured from outside: processes on a pseudo-terminal, not functions in this one.

    terminal  runs one command on a pseudo-terminal and notes when what became visible
    measures  the lines of the table, and how each is taken
    fleet     fills an API server with thousands of running pods
    machine   what the figures were measured on
    subject   the ktui that is measured: this checkout, or its wheel in an environment of its own

`python -m tests.bench` prints a table; with `--fleet 8000` also one of a live cluster of that many pods.
It asserts nothing: a time on one machine says nothing about another.
"""
