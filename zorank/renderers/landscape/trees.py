"""Trees along the nearest ridges: firs, round crowns, and what lies between them."""

from math import tanh
from typing import NamedTuple

import numpy as np

from zorank.renderers.landscape.colour import colour, ink, mix, paint, step
from zorank.renderers.landscape.noise import Array, billow_table, sample
from zorank.renderers.landscape.ridges import Ridge
from zorank.renderers.landscape.scene import Scene


class Tree(NamedTuple):
    """A tree: its number, which gives it its own shape, the place of its foot and its size."""

    number: int
    x: float
    foot: float
    height: float
    width: float


def add_trees(picture: Array, ridge: Ridge, growth: float, air: Array, scene: Scene) -> None:
    """Trees along a ridge, dark against the light; growth is smaller for those farther off."""
    dials = scene.dials
    leaf = mix(ink(_leaf(scene)), air.mean(axis=2, keepdims=True), 0.5 * ridge.depth)
    slimness = mix(0.42, 0.12, dials.tree_slimness)
    for i in range(int(30 / growth)):
        grown = step(0.0, 0.4, mix(-0.15, 1.35, dials.tree_amount) - i * 0.754878 % 1)
        tallest = growth * grown * mix(0.08, 0.34, dials.tree_height)
        height = tallest * (0.5 + 0.65 * (i * 0.569840 % 1))
        if height < scene.pixel:
            continue
        x = (i * 0.618034 + 0.35 * dials.tree_drift + ridge.depth) % 1.3 - 0.15
        foot = float(np.interp(x, scene.x[0], ridge.crest[0])) + 0.02 * growth
        _add_tree(picture, Tree(i, x, foot, height, height * slimness), leaf, scene)


def _leaf(scene: Scene) -> Array:
    """The colour of leaves in the light of the scene."""
    light = scene.light
    gloom = max(light.golden, light.night)
    albedo = colour(0.50, mix(0.08, 0.045, gloom), scene.ground.leaf_hue)
    from_sky, from_disc = mix(0.4, 0.3, light.golden), mix(0.14, 0.04, gloom)
    shown: Array = albedo * (light.ambient * from_sky + light.direct * from_disc)
    return shown


def _add_tree(picture: Array, tree: Tree, leaf: Array, scene: Scene) -> None:
    pixel, half = scene.pixel, tree.width + scene.pixel
    rows = scene.span(tree.foot - tree.height - pixel, tree.foot)
    columns = scene.span(tree.x - half, tree.x + half)
    if rows.start >= rows.stop or columns.start >= columns.stop:
        return
    aside = (scene.x[:, columns] - tree.x) / tree.width
    drop = (scene.y[rows] - tree.foot + tree.height) / tree.height
    leaves = sample(billow_table(), 0.2 * aside + 0.17 * tree.number, 0.4 * drop)
    inside = _inside(tree.number, aside, drop, leaves, scene.dials.tree_crown)
    cover = np.clip(inside * tree.width / (1.5 * pixel) + 0.5, 0, 1) * step(-0.01, 0.03, drop)
    side = tanh(3 * (scene.light.across - tree.x))
    shine = np.exp(0.6 * aside * side + 0.3 * leaves)
    paint(picture[:, rows, columns], leaf * shine, cover)


def _inside(number: int, aside: Array, drop: Array, leaves: Array, crown_dial: float) -> Array:
    """How far inside a tree's outline a place is, in widths; negative outside."""
    down = np.clip(drop, 0, 1)
    tiers = mix(9, 14, number * 0.38 % 1) * down**0.8 + 0.7 * number
    aside = np.abs(aside)
    fir = down**0.9 * (0.58 + 0.3 * (tiers - np.floor(tiers)) + 0.1 * leaves) - aside
    crown = 0.8 + 0.12 * leaves - np.sqrt(aside**2 + ((drop - 0.54) / 0.36) ** 2)
    kind = step(0.0, 0.12, mix(-0.1, 1.0, crown_dial) - number * 0.445 % 0.8)
    trunk = 0.13 * step(0.5, 0.8, drop) - 0.06 - aside
    return np.maximum(mix(fir, crown, kind), trunk)
