"""Trees along the nearest ridges: firs, round crowns, and what lies between them."""

from __future__ import annotations

from collections.abc import Iterator
from math import tanh
from typing import NamedTuple

import numpy as np

from zorank.renderers.landscape.colour import clamp, colour, ink, mix, paint, step
from zorank.renderers.landscape.noise import Array, billow_table, sample
from zorank.renderers.landscape.ridges import Ridge
from zorank.renderers.landscape.scene import Scene, centres

_PIXELS_IN_A_BATCH = 8_192


class Trees(NamedTuple):
    """Trees in the order of painting: every array has an entry for each of them."""

    number: Array  # gives a tree its own shape
    x: Array
    foot: Array
    height: Array
    width: Array
    top: Array  # from here on the pixels of the picture that a tree can cover
    bottom: Array
    left: Array
    right: Array

    def only(self, chosen: Array | slice) -> Trees:
        """Some of the trees."""
        return Trees(*(values[chosen] for values in self))

    def batches(self) -> Iterator[Trees]:
        """Yield groups of successive trees, which are faster to shape together in equal boxes."""
        first = tall = wide = 0
        sizes = np.stack([self.bottom - self.top, self.right - self.left], 1)
        for i, (rows, columns) in enumerate(sizes.tolist()):
            tall, wide = max(tall, rows), max(wide, columns)
            if i > first and tall * wide * (i + 1 - first) > _PIXELS_IN_A_BATCH:
                yield self.only(slice(first, i))
                first, tall, wide = i, rows, columns
        if first < len(self.x):
            yield self.only(slice(first, None))


def add_trees(picture: Array, ridge: Ridge, growth: float, air: Array, scene: Scene) -> None:
    """Trees along a ridge, dark against the light; growth is smaller for those farther off."""
    leaf = mix(ink(_leaf(scene)), air.mean(axis=2, keepdims=True), 0.5 * ridge.depth)
    for trees in _trees(ridge, growth, scene).batches():
        layers, covers = _shapes(trees, leaf, scene)
        boxes = np.stack([trees.top, trees.bottom, trees.left, trees.right], 1).tolist()
        for (top, bottom, left, right), layer, cover in zip(boxes, layers, covers, strict=True):
            rows, columns = bottom - top, right - left
            part = picture[:, top:bottom, left:right]
            paint(part, layer[:, :rows, :columns], cover[:rows, :columns])


def _trees(ridge: Ridge, growth: float, scene: Scene) -> Trees:
    """The trees of a ridge that can be seen."""
    dials, size, pixel, number = scene.dials, scene.size, scene.pixel, np.arange(int(30 / growth))
    grown = step(0.0, 0.4, mix(-0.15, 1.35, dials.tree_amount) - number * 0.754878 % 1)
    tallest = growth * grown * mix(0.08, 0.34, dials.tree_height)
    height = tallest * (0.5 + 0.65 * (number * 0.569840 % 1))
    x = (number * 0.618034 + 0.35 * dials.tree_drift + ridge.depth) % 1.3 - 0.15
    foot = np.interp(x, scene.x[0], ridge.crest[0]) + 0.02 * growth
    width = height * mix(0.42, 0.12, dials.tree_slimness)
    half = width + pixel
    start, end = np.stack([foot - height - pixel, x - half]), np.stack([foot, x + half])
    top, left = clamp((start * size).astype(np.int64), 0, size)
    bottom, right = clamp((end * size).astype(np.int64) + 1, 0, size)
    trees = Trees(number, x, foot, height, width, top, bottom, left, right)
    return trees.only((height >= pixel) & (top < bottom) & (left < right))


def _leaf(scene: Scene) -> Array:
    """The colour of leaves in the light of the scene."""
    light = scene.light
    gloom = max(light.golden, light.night)
    albedo = colour(0.50, mix(0.08, 0.045, gloom), scene.ground.leaf_hue)
    from_sky, from_disc = mix(0.4, 0.3, light.golden), mix(0.14, 0.04, gloom)
    shown: Array = albedo * (light.ambient * from_sky + light.direct * from_disc)
    return shown


def _shapes(trees: Trees, leaf: Array, scene: Scene) -> tuple[Array, Array]:
    """The colours and the cover of every tree, in boxes as large as the largest of them."""
    tall, wide = (trees.bottom - trees.top).max(), (trees.right - trees.left).max()
    columns, rows = trees.left[:, None] + np.arange(wide), trees.top[:, None] + np.arange(tall)
    x, y = centres(columns, scene.size)[:, None, :], centres(rows, scene.size)[:, :, None]
    middle, foot, height, width = map(_each, (trees.x, trees.foot, trees.height, trees.width))
    aside, drop = (x - middle) / width, (y - foot + height) / height
    leaves = sample(billow_table(), 0.2 * aside + _each(0.17 * trees.number), 0.4 * drop)
    inside = _inside(trees.number, aside, drop, leaves, scene.dials.tree_crown)
    cover = clamp(inside * width / (1.5 * scene.pixel) + 0.5, 0, 1) * step(-0.01, 0.03, drop)
    side = np.array([tanh(3 * (scene.light.across - place)) for place in trees.x.tolist()])
    with np.errstate(over="ignore"):  # far from a slim tree, where its box is not painted
        shine = np.exp(0.6 * aside * _each(side) + 0.3 * leaves)
        return leaf * shine[:, None], cover


def _inside(number: Array, aside: Array, drop: Array, leaves: Array, crown_dial: float) -> Array:
    """How far inside a tree's outline a place is, in widths; negative outside."""
    down = clamp(drop.copy(), 0, 1)
    tiers = _each(mix(9, 14, number * 0.38 % 1)) * down**0.8 + _each(0.7 * number)
    aside = np.abs(aside)
    fir = down**0.9 * (0.58 + 0.3 * (tiers - np.floor(tiers)) + 0.1 * leaves) - aside
    crown = 0.8 + 0.12 * leaves - np.sqrt(aside**2 + ((drop - 0.54) / 0.36) ** 2)
    kind = step(0.0, 0.12, mix(-0.1, 1.0, crown_dial) - number * 0.445 % 0.8)
    trunk = 0.13 * step(0.5, 0.8, drop) - 0.06 - aside
    return np.maximum(mix(fir, crown, _each(kind)), trunk)


def _each(values: Array) -> Array:
    """A number for each tree, shaped to broadcast over their boxes."""
    return values.astype(np.float32)[:, None, None]
