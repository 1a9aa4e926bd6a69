"""Checks of candidates that renderers share."""

from zorank.errors import InvalidInput
from zorank.types import Vector, as_vector


def check_candidate(candidate: Vector, dim: int, owner: str) -> Vector:
    """Return a finite float64 copy of a candidate with `dim` coordinates.

    Args:
        candidate: what a renderer was given.
        dim: the number of coordinates it needs.
        owner: the renderer in the error message, such as "a landscape".
    """
    vector = as_vector(candidate, f"the candidate of {owner}")
    if vector.size != dim:
        raise InvalidInput(f"{owner} needs a candidate of {dim} numbers, found {vector.size}")
    return vector
