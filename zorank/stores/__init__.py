"""Where runs are kept."""

import os

from zorank.errors import MissingExtra, StoreError
from zorank.protocols import Store
from zorank.stores.memory import MemoryStore


def open_store(url: str | os.PathLike[str]) -> Store:
    """The store at a URL: sqlite:///runs.db, postgresql+psycopg://…, memory://, or a file's path.

    A database that does not exist yet is made; one of an older zorank is brought up to date.
    """
    url = os.fspath(url)
    if url == "memory://":
        return MemoryStore()
    try:
        from zorank.stores.sql import SQLStore, sqlite_url
    except ModuleNotFoundError as error:
        raise MissingExtra("a store on disk", "sqlalchemy", "sql") from error
    if not url or "\0" in url:
        raise StoreError(f"a store needs a URL or a file's path, found {url!r}")
    return SQLStore(url if "://" in url else sqlite_url(url))


def default_url() -> str:
    """Where runs are kept if nothing else is said: $ZORANK_STORE, or the user's data folder."""
    if url := os.environ.get("ZORANK_STORE"):
        return url
    try:
        from platformdirs import user_data_path
    except ModuleNotFoundError as error:
        raise MissingExtra("a store on disk", "platformdirs", "sql") from error
    return f"sqlite:///{user_data_path('zorank') / 'runs.db'}"


__all__ = ["MemoryStore", "default_url", "open_store"]
