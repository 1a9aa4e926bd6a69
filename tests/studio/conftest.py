"""Fixtures that the tests of the studio share."""

import pytest

from zorank.stores import open_store


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "runs.db"))
    yield opened
    opened.close()
