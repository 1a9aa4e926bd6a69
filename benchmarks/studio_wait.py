"""Measures the wait from an answer to the next pictures on screen, with and without looks.

    python benchmarks/studio_wait.py
    python benchmarks/studio_wait.py --renderers landscape dream --rounds 20 --think 6

A real browser (Playwright with the system's Chromium) uses two real `zorank studio`s on SQLite.
One run uses rank-process and the other rank-looks, with the same seed. A scripted person prefers
red: in each round they click the pictures in that order, spread over the thinking time, and press
Enter shortly after the last click. A wait is the time from that key to the first frame in which
every picture of the next round is loaded and has begun to fade in, by the page's own clock.

The two alternate round by round, and also alternate who is first, so that both meet the same load
of the machine; results are differences of rounds of the same index. The inactive studio is stopped
(SIGSTOP), so that it can neither work ahead nor take processor time. Windows has no such signals.
"""

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
from chromium import chromium
from playwright.sync_api import Browser, Page, ViewportSize
from studio_process import TOKEN, studio

PROCESS, LOOKS = "rank-process", "rank-looks"
METHODS = (PROCESS, LOOKS)
LONGEST = 120.0
"""Seconds of one wait after which the measurement fails."""

SCREEN = ViewportSize(width=1280, height=800)

SHOWN = """
window.shown = (index) => {
  const cards = [...document.querySelectorAll("[data-testid=card]")];
  return cards.length > 0 && cards.every((card) => {
    const picture = card.querySelector("img.media");
    return picture?.complete && picture.naturalWidth > 0
      && picture.src.includes(`/rounds/${index}/`)
      && picture.checkVisibility({ opacityProperty: true });
  });
};
performance.setResourceTimingBufferSize(100_000);
"""

SEE = """() => {
  const canvas = new OffscreenCanvas(16, 16);
  const brush = canvas.getContext("2d", { willReadFrequently: true });
  const cards = [...document.querySelectorAll("[data-testid=card]")].map((card) => {
    const picture = card.querySelector("img.media");
    brush.drawImage(picture, 0, 0, 16, 16);
    const { data } = brush.getImageData(0, 0, 16, 16);
    let red = 0;
    for (let i = 0; i < data.length; i += 4) red += data[i] - (data[i + 1] + data[i + 2]) / 2;
    const { x, y, width, height } = picture.getBoundingClientRect();
    return { red, x: x + width / 2, y: y + height / 2 };
  });
  return { question: document.querySelector("#grid").dataset.question, cards };
}"""

MARKED = "() => document.querySelectorAll('[data-testid=badge]').length"

ARM = """([index, longest]) => {
  const about = (end, begin) => performance.getEntriesByType("resource")
    .findLast(({ name, startTime }) => name.endsWith(end) && startTime >= begin);
  const served = (entry) => entry ? (entry.responseStart - entry.requestStart) / 1000 : null;
  const found = (begin, end) => {
    const before = performance.getEntriesByType("resource")
      .filter(({ responseEnd }) => responseEnd > 0 && responseEnd <= begin);
    const loaded = new Set(before.map(({ name }) => name));
    const pictures = [...document.querySelectorAll("[data-testid=card] img.media")];
    return {
      wait: (end - begin) / 1000,
      answer: served(about(`/rounds/${index}/answer`, begin)),
      next_round: served(about("/round", begin)),
      foreseen: pictures.filter(({ src }) => loaded.has(src)).length,
      pictures: pictures.length,
    };
  };
  window.measured = new Promise((resolve, reject) => addEventListener("keydown", (event) => {
    const begin = event.timeStamp;
    const look = () => {
      const now = performance.now();
      if (shown(index + 1)) return resolve(found(begin, now));
      if (now - begin > 1000 * longest)
        return reject(new Error(`round ${index + 1} did not come: `
          + document.querySelector("#banner").textContent));
      return requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, { capture: true, once: true }));
  window.measured.catch(() => {});
}"""


@dataclass
class Wait:
    """The wait after one round, in seconds.

    Attributes:
        wait: from Enter to all pictures of the next round.
        answer: the part of it for the request that answers.
        next_round: the part of it for the request of the next round.
        foreseen: how many of the next pictures the page had loaded before Enter.
    """

    index: int
    question: str
    wait: float
    answer: float | None
    next_round: float | None
    foreseen: int
    pictures: int


@dataclass
class ScriptedRater:
    """A scripted person at the page of one run."""

    page: Page
    pid: int
    optimizer: dict[str, Any]
    waits: list[Wait] = field(default_factory=list)

    def stop(self) -> None:
        """Stop the studio until this person's next turn."""
        os.killpg(self.pid, signal.SIGSTOP)

    def play(self, index: int, think: float, last: float) -> None:
        """Answer one round, and measure the wait for the next."""
        os.killpg(self.pid, signal.SIGCONT)
        begin = time.perf_counter()
        seen = self.page.evaluate(SEE)
        order = sorted(seen["cards"], key=lambda card: -card["red"])
        if seen["question"] != "rank":  # one click answers
            order = order[:1]
        self.page.evaluate(ARM, [index, LONGEST])
        for number, card in enumerate(order, 1):
            due = begin + (think - last) * number / len(order)
            time.sleep(max(due - time.perf_counter(), 0.0))
            self.page.mouse.click(card["x"], card["y"])
        time.sleep(last)
        marked = self.page.evaluate(MARKED)
        if marked != len(order):
            raise SystemExit(f"{len(order)} pictures were clicked, but {marked} are marked")
        self.page.keyboard.press("Enter")
        found = self.page.evaluate("() => window.measured")
        self.stop()
        self.waits.append(Wait(index, seen["question"], **found))


@contextmanager
def open_rater(
    browser: Browser, folder: Path, renderer: str, method: str, seed: int
) -> Iterator[ScriptedRater]:
    """Open the page of a new run, and stop its studio until the first turn."""
    with studio(f"sqlite:///{folder / method}.db", renderer) as (address, pid):
        header = {"Authorization": f"Bearer {TOKEN}"}
        with httpx.Client(base_url=address, headers=header, timeout=LONGEST) as client:
            # As the start page does; otherwise the first look would also import modules.
            client.get(f"/api/renderers/{renderer}/sample").raise_for_status()
            wanted = {"renderer": renderer, "method": method, "seed": seed}
            made = client.post("/api/runs", json=wanted)
            if made.status_code != 201:
                raise SystemExit(f"{method} on {renderer}: {made.text:.300}")
            run_id = made.json()["id"]
            optimizer = client.get(f"/api/runs/{run_id}").json()["optimizer"]
        context = browser.new_context(viewport=SCREEN)
        context.set_default_timeout(1000 * LONGEST)
        context.add_init_script(SHOWN)
        page = context.new_page()
        page.goto(f"{address}/runs/{run_id}?token={TOKEN}")
        page.wait_for_function("() => shown(0)")
        rater = ScriptedRater(page, pid, optimizer)
        rater.stop()
        try:
            yield rater
        finally:
            context.close()


def measure(
    browser: Browser, renderer: str, rounds: int, think: float, last: float, seed: int
) -> dict[str, ScriptedRater]:
    """Measure both methods in turn."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="zorank-wait-")))
        raters = {
            method: stack.enter_context(open_rater(browser, folder, renderer, method, seed))
            for method in METHODS
        }
        for index in range(rounds):
            for method in METHODS if index % 2 == 0 else reversed(METHODS):
                raters[method].play(index, think, last)
                print(f"{renderer} {method} {raters[method].waits[-1]}", file=sys.stderr)
    return raters


def median_or_none(seconds: list[float]) -> float | None:
    """Return the median, or None of an empty list."""
    return statistics.median(seconds) if seconds else None


def summary(rounds: list[Wait]) -> dict[str, Any]:
    """Summarise the waits of one method."""
    waits = [one.wait for one in rounds]
    return {
        "median": statistics.median(waits),
        "p90": statistics.quantiles(waits, n=10, method="inclusive")[8],
        "longest": max(waits),
        "answer_median": median_or_none([one.answer for one in rounds if one.answer is not None]),
        "next_round_median": median_or_none(
            [one.next_round for one in rounds if one.next_round is not None]
        ),
        "foreseen": sum(one.foreseen for one in rounds) / sum(one.pictures for one in rounds),
    }


def report(raters: dict[str, ScriptedRater]) -> dict[str, Any]:
    """Return the results of both methods, and their paired difference."""
    pairs = zip(raters[PROCESS].waits, raters[LOOKS].waits, strict=True)
    differences = [looks.wait - process.wait for process, looks in pairs]
    return {
        "median_difference": statistics.median(differences),
        "methods": {
            method: {
                **summary(rater.waits),
                "optimizer": rater.optimizer,
                "rounds": [asdict(one) for one in rater.waits],
            }
            for method, rater in raters.items()
        },
    }


def print_table(renderer: str, found: dict[str, Any]) -> None:
    """Print seconds, and the share of pictures that were loaded ahead."""
    keys = ["median", "p90", "longest", "answer_median", "next_round_median"]
    names = ["median", "90%", "longest", "answer", "next round"]
    print(f"{renderer:<14}" + "".join(f"{name:>12}" for name in [*names, "foreseen"]))
    for method, what in found["methods"].items():
        cells = "".join(
            f"{what[key]:>10.3f} s" if what[key] is not None else f"{'-':>12}" for key in keys
        )
        print(f"{method:<14}{cells}{100 * what['foreseen']:>10.0f} %")
    print(f"{'difference':<14}{found['median_difference']:>+10.3f} s, the median over rounds")


def main() -> None:
    """Measure every renderer; print a table of each, and all results as JSON in the last line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--renderers", nargs="+", default=["landscape"])
    parser.add_argument("--rounds", type=int, default=12, help="at least 2")
    parser.add_argument("--think", type=float, default=3.0, help="seconds from pictures to Enter")
    parser.add_argument("--last", type=float, default=0.5, help="seconds from last click to Enter")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.rounds < 2 or not 0 <= given.last <= given.think:
        parser.error("there must be at least 2 rounds, and 0 <= last <= think")
    print(
        f"{given.rounds} rounds, {given.think:g} s to think, {given.last:g} s after a last click"
    )
    found: dict[str, Any] = {
        "settings": vars(given),
        "processors": os.cpu_count(),
        "renderers": {},
    }
    found["load_before"] = os.getloadavg()
    with chromium() as browser:
        for renderer in given.renderers:
            raters = measure(browser, renderer, given.rounds, given.think, given.last, given.seed)
            found["renderers"][renderer] = report(raters)
            print_table(renderer, found["renderers"][renderer])
    found["load_after"] = os.getloadavg()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
