"""How long a person waits: from an answer to the next pictures on screen, with and without looks.

    python benchmarks/studio_wait.py
    python benchmarks/studio_wait.py --renderers landscape dream --rounds 20 --think 6

A real browser (Playwright with the system's Chromium) at two real `zorank studio`s on SQLite, one
whose run uses rank-process and one whose run uses rank-looks, with the same seed. A scripted
person likes red: in each round they click the pictures in that order, spread over the time they
think, and a moment after the last click they press Enter. A wait is from that key to the first
frame in which every picture of the next round is loaded and has begun to fade in, by the page's
own clock.

The two take turns, round by round, and who goes first alternates, so that both meet the same load
of the machine; figures are differences of rounds of the same index in the same run. A studio whose
turn it is not is stopped (SIGSTOP): neither may think ahead while the other's person thinks, nor
take processor time from it. So this runs where there are such signals: not on Windows.
"""

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

PROCESS, LOOKS = "rank-process", "rank-looks"
METHODS = (PROCESS, LOOKS)
LONGEST = 120.0
"""Seconds of one wait after which the measurement is given up."""

TOKEN = "owner-token-of-the-benchmark"
SCREEN = ViewportSize(width=1280, height=800)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]

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
class Waited:
    """One round: the wait after it, and where it went, in seconds.

    Attributes:
        wait: from Enter to all pictures of the next round.
        answer: of that, until the studio had taken the answer.
        next_round: and until it had said what comes next.
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
class Seat:
    """A person in front of the page of one run."""

    page: Page
    pid: int
    optimizer: dict[str, Any]
    waited: list[Waited] = field(default_factory=list)

    def stop(self) -> None:
        """Let the studio do nothing at all until this person's next turn."""
        os.killpg(self.pid, signal.SIGSTOP)

    def play(self, index: int, think: float, last: float) -> None:
        """Answer one round, and note the wait for the next."""
        os.killpg(self.pid, signal.SIGCONT)
        begin = time.perf_counter()
        seen = self.page.evaluate(SEE)
        order = sorted(seen["cards"], key=lambda card: -card["red"])
        if seen["question"] != "rank":  # one is asked for, and one click answers
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
        self.waited.append(Waited(index, seen["question"], **found))


@contextmanager
def studio(store: str, renderer: str) -> Iterator[tuple[str, int]]:
    """The address and the process of a studio on this store, the leader of a group of its own."""
    command = [sys.executable, "-m", "zorank", "studio", "--no-browser", "--token", TOKEN]
    command += ["--store", store, "--renderer", renderer, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        line = process.stdout.readline() if process.stdout else ""
        found = re.fullmatch(r"Studio at (http://127\.0\.0\.1:\d+)/\?token=\S+\n", line)
        if found is None:
            raise SystemExit(f"the studio did not start, it said {line!r}")
        yield found[1], process.pid
    finally:
        process.terminate()
        process.send_signal(signal.SIGCONT)  # one that is stopped does not hear the other
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's, else Playwright's own."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def seated(
    browser: Browser, folder: Path, renderer: str, method: str, seed: int
) -> Iterator[Seat]:
    """A person who sees the first pictures of a new run; its studio is stopped until they play."""
    with studio(f"sqlite:///{folder / method}.db", renderer) as (address, pid):
        header = {"Authorization": f"Bearer {TOKEN}"}
        with httpx.Client(base_url=address, headers=header, timeout=LONGEST) as client:
            # As the page that starts a run does; else the first look also loads code.
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
        seat = Seat(page, pid, optimizer)
        seat.stop()
        try:
            yield seat
        finally:
            context.close()


def measure(
    browser: Browser, renderer: str, rounds: int, think: float, last: float, seed: int
) -> dict[str, Seat]:
    """Both methods in turn; what each person waited for."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="zorank-wait-")))
        seats = {
            method: stack.enter_context(seated(browser, folder, renderer, method, seed))
            for method in METHODS
        }
        for index in range(rounds):
            for method in METHODS if index % 2 == 0 else reversed(METHODS):
                seats[method].play(index, think, last)
                print(f"{renderer} {method} {seats[method].waited[-1]}", file=sys.stderr)
    return seats


def middle(seconds: list[float]) -> float | None:
    """The median; None of nothing."""
    return statistics.median(seconds) if seconds else None


def summary(waited: list[Waited]) -> dict[str, Any]:
    """What one method's waits come to."""
    waits = [one.wait for one in waited]
    return {
        "median": statistics.median(waits),
        "p90": statistics.quantiles(waits, n=10, method="inclusive")[8],
        "longest": max(waits),
        "answer_median": middle([one.answer for one in waited if one.answer is not None]),
        "next_round_median": middle(
            [one.next_round for one in waited if one.next_round is not None]
        ),
        "foreseen": sum(one.foreseen for one in waited) / sum(one.pictures for one in waited),
    }


def report(seats: dict[str, Seat]) -> dict[str, Any]:
    """Both methods, and the difference that looks make, round against round."""
    pairs = zip(seats[PROCESS].waited, seats[LOOKS].waited, strict=True)
    differences = [looks.wait - process.wait for process, looks in pairs]
    return {
        "median_difference": statistics.median(differences),
        "methods": {
            method: {
                **summary(seat.waited),
                "optimizer": seat.optimizer,
                "rounds": [asdict(one) for one in seat.waited],
            }
            for method, seat in seats.items()
        },
    }


def print_table(renderer: str, found: dict[str, Any]) -> None:
    """Seconds, and the share of pictures that were there before they were asked for."""
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
    """Measure every renderer; print a table of each, and everything as JSON on the last line."""
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
            seats = measure(browser, renderer, given.rounds, given.think, given.last, given.seed)
            found["renderers"][renderer] = report(seats)
            print_table(renderer, found["renderers"][renderer])
    found["load_after"] = os.getloadavg()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
