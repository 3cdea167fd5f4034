"""The least that a program in Python can do for the same screen: what is above its figures is ktui's own.

    __main__  the first frame, before anything slow is imported
    wire      of each object, what its rows need
    program   four lists, the watch of pods, a cursor

It has no errors, no other screens, and no answer to anything unexpected.
"""
