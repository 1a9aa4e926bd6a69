"""Named numbers of all server processes of a studio, in memory that they share.

Each process writes only its own rows, so no process waits for another. The rows of a process that
died stay: the process that replaces it continues them, and sums never decrease.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from zorank.studio.shared_place import SharedPlace, SharedRows

WIDTH = 8
"""How many numbers a row has."""
LONGEST_NAME = 192
ROWS = 512
"""Rows of one process; numbers beyond them are not counted."""
KIND = np.dtype([("name", f"S{LONGEST_NAME}"), ("values", "f8", (WIDTH,))])

Values = NDArray[np.float64]


class Numbers:
    """Rows of numbers by name.

    Args:
        place: the place of this process among the workers; None if it is alone.
    """

    def __init__(self, place: SharedPlace | None = None) -> None:
        self.is_shared = place is not None
        self._rows = SharedRows.of(place, "numbers", KIND, ROWS)
        self._found = {name.decode(): i for i, name in enumerate(self._rows.own["name"]) if name}
        self._lock = threading.Lock()

    def own(self, name: str) -> Values:
        """Return the row of this process with this name, to be changed in place."""
        with self._lock:
            if name not in self._found:
                row = len(self._found)
                if row == ROWS:
                    return np.zeros(WIDTH)
                self._rows.own["name"][row] = name.encode()[:LONGEST_NAME]
                self._found[name] = row
            values: Values = self._rows.own["values"][self._found[name]]
            return values

    def of_each(self, name: str) -> list[Values]:
        """Return the rows with this name of all processes that have one."""
        return [values for found, values in self._named() if found == name]

    def totals(self) -> dict[str, Values]:
        """Return the sums of the rows with the same name, in the order of the names."""
        sums: dict[str, Values] = {}
        for name, values in self._named():
            sums[name] = sums.get(name, 0.0) + values
        return dict(sorted(sums.items()))

    def _named(self) -> Iterator[tuple[str, Values]]:
        for process in self._rows.all:
            used = process[process["name"] != b""]
            for name, values in zip(used["name"], used["values"], strict=True):
                yield name.decode(errors="replace"), values
