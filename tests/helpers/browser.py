"""A real browser, and the people who sit in front of it: what they see, click, press and tap."""

import re
import time
from types import SimpleNamespace

import numpy as np
from playwright.sync_api import expect

from benchmarks.chromium import chromium
from tests.helpers.studio_server import TOKEN
from zorank import Run
from zorank.optimizers import PickStart
from zorank.renderers import Landscape
from zorank.stores import open_store
from zorank.studio.presentation import shown_order

# Generous, because the machine may be busy: every wait is for a condition, so this costs nothing.
PATIENCE = 300_000
ARGUMENTS = (
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP rank.example.org 127.0.0.1",
)
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
}
UP_TO_RANK, UP_TO_BEST = ([[0]],), ([[0]], [[1], [4]])
A_WHILE = ([[0]], *([[i % 6], [(i + 2) % 6]] for i in range(9)))
HEADINGS = {"start": r"start from", "rank": r"[Rr]ank", "best": r"best\?"}
# Browsers log every refusal; this is the one that a page answers by itself, without a word.
QUIET = r"status of 409"

expect.set_options(timeout=PATIENCE)

PICTURES_LOADED = """(index) => {
  const cards = [...document.querySelectorAll("[data-testid=card]")];
  const pictures = cards.map((card) => card.querySelector("img"));
  return cards.length > 0 && pictures.every((picture) => picture?.complete
    && picture.naturalWidth > 0 && picture.src.includes(`/rounds/${index}/`));
}"""

ALL_IMAGES_LOADED = """() => [...document.images].every((image) =>
  !image.checkVisibility() || (image.complete && image.naturalWidth > 0))"""

NOTHING_MOVES = """() => document.getAnimations().every((motion) =>
  motion.playState !== "running" || motion.effect.getComputedTiming().endTime === Infinity)"""


def launched():
    """Chromium, which finds the studio under the name of a public server too."""
    return chromium(ARGUMENTS)


class Person:
    """Somebody with a browser of their own, who notes whatever it complains about."""

    def __init__(self, context, forgives=QUIET):
        self.context = context
        self.forgives = forgives
        self._complaints = []
        context.set_default_timeout(PATIENCE)

    def open(self, server, path="/", token=TOKEN):
        """A new tab; whoever has a token uses it once, as people do with the printed link."""
        page = self.context.new_page()
        page.on("console", lambda said: said.type == "error" and self._note(said.text))
        page.on("pageerror", lambda error: self._note(str(error)))
        page.goto(f"{server.url}{path}" + (f"?token={token}" if token else ""))
        return Tab(page, server)

    def _note(self, complaint):
        self._complaints.append(complaint)

    @property
    def complaints(self):
        return [said for said in self._complaints if not re.search(self.forgives, said)]


class Tab:
    """A page of the studio through the eyes and hands of a person."""

    def __init__(self, page, server):
        self.page = page
        self.server = server

    # What is seen.

    def see(self, name):
        """The visible elements of this name."""
        return self.page.get_by_test_id(name).filter(visible=True)

    def card(self, position):
        return self.page.locator(f'[data-testid=card][data-position="{position}"]')

    def badges(self):
        """What each marked picture's badge says, by its position."""
        cards = self.page.locator("[data-testid=card]:has([data-testid=badge])")
        return {
            int(card.get_attribute("data-position")): card.get_by_test_id("badge").inner_text()
            for card in cards.all()
        }

    def expect_badges(self, **by_picture):
        """Picture numbers as on screen, from 1: `p3="1"` is "picture 3 has place 1"."""
        wanted = {int(name[1:]) - 1: place for name, place in by_picture.items()}
        expect(self.page.get_by_test_id("badge")).to_have_count(len(wanted))
        for position, place in wanted.items():
            expect(self.card(position).get_by_test_id("badge")).to_have_text(place)

    def expect_round(self, index, question):
        """The round is on screen and every picture of it can be seen."""
        self.page.wait_for_function(PICTURES_LOADED, arg=index)
        expect(self.see("heading")).to_have_text(re.compile(HEADINGS[question]))

    def pictures(self):
        """The addresses of the pictures in their order on screen; each names what it shows."""
        shown = "cards => cards.map(card => card.querySelector('img').getAttribute('src'))"
        return self.page.get_by_test_id("card").evaluate_all(shown)

    def expect_no_overflow(self):
        wide, room = self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= room, f"{self.page.url} is {wide} pixels wide on a screen of {room}"

    def settle(self):
        """Wait until every picture is there and nothing moves any more."""
        self.page.wait_for_function(ALL_IMAGES_LOADED)
        self.page.wait_for_function(NOTHING_MOVES)

    def set_system_theme(self, scheme):
        """The page follows one frame later, so wait for it."""
        self.page.emulate_media(color_scheme=scheme)
        follows = "scheme => document.documentElement.dataset.theme === scheme"
        self.page.wait_for_function(follows, arg=scheme)
        self.settle()

    # What is done.

    def click(self, *positions, **how):
        for position in positions:
            self.card(position).locator(".pick").click(**how)

    def tap(self, *positions):
        for position in positions:
            self.card(position).locator(".pick").tap()

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def enlarge(self):
        """Press Space until a picture is enlarged; a slow press counts as holding, which ends."""
        for _ in range(50):
            self.press("Space")
            if self.page.get_by_test_id("enlarged").is_visible():
                return
        raise AssertionError("Space enlarges no picture")

    def tab_to(self, name, steps=40):
        """Press Tab until the element of this name, or one inside it, has the focus."""
        focused = "document.activeElement?.closest('[data-testid]')?.dataset.testid"
        for _ in range(steps):
            self.press("Tab")
            if self.page.evaluate(focused) == name:
                return
        raise AssertionError(f"{name} cannot be reached with {steps} presses of Tab")

    def drag(self, handle, target, *, beyond=0):
        """With the mouse, from the middle of one element to the middle of another."""
        start, end = handle.bounding_box(), target.bounding_box()
        mouse = self.page.mouse
        mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
        mouse.down()
        x = end["x"] + end["width"] / 2 + beyond
        mouse.move(x, end["y"] + end["height"] / 2, steps=8)
        mouse.up()


def new_run(server, *answers, size=96, **settings):
    """A run of real landscapes, small to be quick, with its first rounds answered; its id.

    Unless its test says otherwise it works without looks, which take time to look at.
    """
    settings = {"method": "rank-process", **settings}
    body = {"renderer": "landscape", "seed": 5, "options": {"size": size}, **settings}
    with server.client() as client:
        run_id = client.post("/api/runs", json=body).raise_for_status().json()["id"]
        for index, order in enumerate(answers):
            url = f"/api/runs/{run_id}/rounds/{index}/answer"
            client.post(url, json={"order": order}).raise_for_status()
    return run_id


def older_run(server, *answers, size=96):
    """A run as studios made them before they had a model of their rater."""
    options = {"m": 6, "space": "gaussian", "mu": 0.35, "step": 2.0, "gamma": 0.5}
    meta = {"renderer": "landscape", "renderer_options": {"size": size}, "title": "", "raters": 1}
    x0 = np.random.default_rng(5).standard_normal(Landscape().dim)
    store = open_store(server.store)
    run = Run(PickStart(options=options), x0, 5, store, meta=meta)
    for order in answers:
        run.ask()
        run.tell(order, rater="owner")
    store.close()
    return run.name


def log(server, run_id):
    """The answered rounds as the exported recipe has them."""
    with server.client() as client:
        exported = client.get(f"/api/runs/{run_id}/export").raise_for_status().json()
    return [line for line in exported["rounds"] if line["answer"] is not None]


def told(server, run_id, index, *groups):
    """What the log must say when these groups of screen positions were chosen."""
    with server.client() as client:
        exported = client.get(f"/api/runs/{run_id}/export").json()
    record = SimpleNamespace(seed=exported["seed"], name=exported["name"])
    shown = shown_order(record, index, exported["options"]["m"])
    return [[shown[position] for position in group] for group in groups]


def run_of(tab):
    return re.search(r"/runs/([\w-]+)", tab.page.url)[1]


def judges_order(server, run_id):
    """The judge's order on screen, as the interface gives it once it has looked."""
    with server.client() as client:
        for _ in range(12_000):
            judge = client.get(f"/api/runs/{run_id}/round").json()["judge"]
            if judge["order"]:
                return [position for (position,) in judge["order"]]
            time.sleep(0.05)
    raise AssertionError("the judge has not looked")


def expect_order(tab, order):
    tab.expect_badges(**{f"p{position + 1}": str(i + 1) for i, position in enumerate(order)})
