"""Experiments that measure what zorank claims; each can be run again with one command.

`sweep` runs trials; `claims` and `report` describe and write results. `paper` has the figures of
the paper (`zorank reproduce`); `judges`, `looks` and `bbob` are the benchmarks (`zorank bench`).
"""
