"""The runs that a studio has in memory, bounded in number."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from zorank.studio.sessions import Session


class LoadedRuns:
    """Sessions by the name of their run; the least recently used ones are dropped.

    A dropped run is loaded again when it is used next: a session only caches the store.

    Args:
        most: the largest number of runs. Runs in use or with open pages are kept beyond it.
        load: loads a run.
        is_open: whether a run has open pages.
        on_drop: called with the name of each dropped run.
    """

    def __init__(
        self,
        most: int,
        load: Callable[[str], Session],
        is_open: Callable[[str], bool],
        on_drop: Callable[[str], None] = lambda run: None,
    ) -> None:
        self._most = most
        self._load = load
        self._is_open = is_open
        self._on_drop = on_drop
        self._kept: OrderedDict[str, Session] = OrderedDict()
        self._users: Counter[str] = Counter()
        self._loaders: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, name: str) -> bool:
        return name in self._kept

    def __getitem__(self, name: str) -> Session:
        return self._kept[name]

    def get(self, name: str) -> Session | None:
        """Return a run's session if it is loaded."""
        return self._kept.get(name)

    def all(self) -> list[Session]:
        """Return all sessions."""
        with self._lock:
            return list(self._kept.values())

    @contextmanager
    def use(self, name: str) -> Iterator[Session]:
        """Load a run if necessary, and keep it as long as it is in use."""
        with self._lock:
            self._users[name] += 1
            found = self._kept.get(name)
            if found is not None:
                self._kept.move_to_end(name)
        try:
            yield found or self._loaded(name)
        finally:
            with self._lock:
                self._users -= Counter([name])  # removes a run that nobody uses

    def add(self, session: Session) -> None:
        """Keep a new session, and drop others if there are too many."""
        name = session.run.name
        with self._lock:
            self._kept[name] = session
            self._kept.move_to_end(name)
            others = [other for other in self._kept if other != name]
            excess = len(self._kept) - self._most
            idle = (n for n in others if not self._users[n] and not self._is_open(n))
            dropped = [next(idle, None) for _ in range(excess)]
            for old in filter(None, dropped):
                del self._kept[old]
        for old in filter(None, dropped):
            self._on_drop(old)

    def forget(self, name: str) -> None:
        """Drop a run that was deleted."""
        with self._lock:
            self._kept.pop(name, None)

    def _loaded(self, name: str) -> Session:
        with self._lock:
            lock = self._loaders.setdefault(name, threading.Lock())
        with lock:  # a page sends many requests at once; the log is replayed once
            if (found := self._kept.get(name)) is not None:
                return found
            try:
                session = self._load(name)
                self.add(session)
                return session
            finally:
                with self._lock:
                    self._loaders.pop(name, None)
