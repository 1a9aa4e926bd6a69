"""Texts of errors: one for the page, and one for the owner in the terminal."""

from __future__ import annotations

import logging

from zorank.errors import StoreError


def shown_text(error: Exception) -> str:
    """Return the sentence of an error for a response; log one that says where the store is."""
    if isinstance(error, StoreError) and error.public != str(error):
        logging.getLogger("zorank").warning("%s", error)
        return error.public
    return str(error)
