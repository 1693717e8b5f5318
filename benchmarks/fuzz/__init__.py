"""Random and degenerate problems, each from one seed, and what must hold of every answer.

`draw` makes them, `judge` and `models` say what is wrong with an answer, `dense` and `resampled` compute it in other
ways, `command` counts. The tests run the same checks on fewer problems.
"""
