"""What a person waits for, measured from outside: processes on a pseudo-terminal, not functions in this one.

    terminal  runs one command on a pseudo-terminal and notes when what became visible
    machine   what the figures were measured on
    subject   the ktui that is measured: this checkout, or its wheel in an environment of its own

`python -m tests.bench` prints a table. It asserts nothing: a time on one machine says nothing about another.
"""
