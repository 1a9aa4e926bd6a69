"""Stores, which keep runs and their logs: in memory, in SQLite or in PostgreSQL.

`zorank.protocols.Store` documents their methods.
"""

import os

from zorank.errors import InvalidInput, StoreError, required_by, short
from zorank.protocols import Store
from zorank.stores.memory import MemoryStore


def open_store(url: str | os.PathLike[str]) -> Store:
    """Open the store at a URL: sqlite:///runs.db, postgresql+psycopg://…, memory://, or a path.

    A missing database is created; one of an older zorank is upgraded.
    """
    if not isinstance(url, (str, os.PathLike)):
        raise StoreError(f"a store must be a URL or the path of a file, found {short(url)}")
    url = os.fspath(url)
    if url == "memory://":
        return MemoryStore()
    with required_by("a store on disk", "sqlalchemy", "sql"):
        from zorank.stores._engine import sqlite_url
        from zorank.stores.sql import SQLStore
    if not url or "\0" in url:
        raise StoreError(f"a store must be a URL or the path of a file, found {url!r}")
    return SQLStore(url if "://" in url else sqlite_url(url))


def as_store(store: Store | str | os.PathLike[str] | None) -> Store:
    """Return a store, open the store at a URL, or create one in memory for None."""
    if store is None:
        return MemoryStore()
    if isinstance(store, (str, os.PathLike)):
        return open_store(store)
    methods = ("create", "record", "runs", "rounds", "last", "append", "answer")
    if isinstance(store, type) or not all(callable(getattr(store, m, None)) for m in methods):
        raise InvalidInput(
            f"a store must be a URL, the path of a file or a store object, found {short(store)}"
        )
    return store


def default_url() -> str:
    """Return the URL of the default store: $ZORANK_STORE, or a file in the user's data folder."""
    if url := os.environ.get("ZORANK_STORE"):
        return url
    with required_by("a store on disk", "platformdirs", "sql"):
        from platformdirs import user_data_path
    return f"sqlite:///{user_data_path('zorank') / 'runs.db'}"


__all__ = ["MemoryStore", "as_store", "default_url", "open_store"]
