"""A JupyterLab and a browser that the tests of the widget share."""

import pytest

from tests.helpers.browser import DESKTOP, PATIENCE, launched


@pytest.fixture(scope="package")
def lab(tmp_path_factory):
    for package in ("jupyterlab", "anywidget"):
        pytest.importorskip(package, reason=f"{package} is not installed (extra dev)")
    from tests.helpers.jupyter import JupyterLab

    started = JupyterLab(tmp_path_factory.mktemp("jupyter"))
    try:
        yield started.start()
    finally:
        started.stop()


# Of this package, not of the session: see tests/studio/browser/conftest.py.
@pytest.fixture(scope="package")
def chromium(lab):
    with launched() as started:
        yield started


@pytest.fixture
def page(chromium):
    context = chromium.new_context(**DESKTOP, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()
