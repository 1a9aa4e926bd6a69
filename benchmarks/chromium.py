"""A real browser, for the benchmarks and the tests of the studio."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
)


@contextmanager
def chromium(more: Sequence[str] = ()) -> Iterator[Browser]:
    """Launch the system's Chromium, or else Playwright's own, with more arguments if given.

    The shell without a window has the same engine and needs a third less processor time.
    """
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*ARGUMENTS, *more])
        try:
            yield browser
        finally:
            browser.close()
