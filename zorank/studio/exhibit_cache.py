"""A cache of rendered exhibits, bounded in bytes; the least recently used ones are evicted."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from zorank.studio.render_queue import Key
from zorank.types import Exhibit


class ExhibitCache:
    """Exhibits by key. Its callers hold a lock.

    Args:
        capacity: size in bytes; the latest exhibit is always kept.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[Key, Exhibit] = OrderedDict()
        self.size = 0

    def __contains__(self, key: Key) -> bool:
        return key in self._kept

    def get(self, key: Key) -> Exhibit | None:
        """Return an exhibit, which then is the most recently used one; None if it is not kept."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def add(self, key: Key, exhibit: Exhibit) -> None:
        """Keep an exhibit, and evict others if the capacity is exceeded."""
        self._drop(key)
        self._kept[key] = exhibit
        self.size += len(exhibit.data)
        while self.size > self._capacity and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))

    def forget(self, run: str) -> None:
        """Drop the exhibits of a run."""
        for key in [key for key in self._kept if key[0] == run]:
            self._drop(key)

    def _drop(self, key: Key) -> None:
        if key in self._kept:
            self.size -= len(self._kept.pop(key).data)


def check_data(exhibits: Iterable[Exhibit]) -> None:
    """Raise a TypeError if the data of a renderer's exhibit are neither bytes nor text."""
    for exhibit in exhibits:
        if not isinstance(exhibit.data, bytes | bytearray | memoryview | str):
            raise TypeError(
                f"the data of an Exhibit must be bytes, found {type(exhibit.data).__name__}"
            )
