import pytest

from tests.data_export.runs import RENDERED, answered, new_run


@pytest.fixture(autouse=True)
def _nothing_rendered():
    RENDERED.clear()


@pytest.fixture
def run():
    return answered(new_run())
