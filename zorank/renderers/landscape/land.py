"""The faces of ridges: what they are made of, how the light falls on them, and the mist below."""

from math import exp

import numpy as np

from zorank.renderers.landscape.colour import clamp, grey, ink, mix, paint, step
from zorank.renderers.landscape.noise import (
    Array,
    dune_slope_table,
    mountain_slope_table,
    sample,
    soft_table,
    tuft_table,
)
from zorank.renderers.landscape.ridges import Ridge, snow_line
from zorank.renderers.landscape.scene import Scene

_SNOW = np.array([0.93, 0.95, 1.0])


def draw_ridge(picture: Array, ridge: Ridge, bottom: float, air: Array, scene: Scene) -> None:
    """Paint a ridge down to the row from which nearer things hide it."""
    top = ridge.highest - 3 * scene.pixel
    for rows, strip in scene.strips(top, bottom + scene.pixel):
        cover = clamp((strip.y - ridge.crest) / ridge.edge + 0.5, 0, 1)
        paint(picture[:, rows], _face(ridge, air, strip), cover)


def add_mist(picture: Array, ridge: Ridge, air: Array, scene: Scene) -> None:
    """Mist that gathers at the foot of a ridge."""
    height = mix(0.02, 0.13, scene.dials.mist_height)
    foot = scene.light.level - 0.03 * ridge.depth
    top, dense = foot - 3.2 * height, 0.85 * step(0.15, 0.95, scene.dials.mist)
    if dense == 0:
        return
    for rows, strip in scene.strips(top, scene.light.level):
        wisps = sample(
            soft_table(), 0.5 * strip.x + 0.31 * ridge.depth, 1.6 * strip.y + 0.17 * ridge.depth
        )
        fade = np.exp(-np.maximum(foot - strip.y, 0) / height) * step(top, foot - height, strip.y)
        paint(picture[:, rows], 1.05 * air, dense * clamp(0.75 + 0.25 * wisps, 0, 1) * fade)


def _face(ridge: Ridge, air: Array, scene: Scene) -> Array:
    """A ridge in the light of the scene, seen through the air before it."""
    light = scene.light
    albedo, lit = (_mountain_face if ridge.depth > 0.6 else _ground_face)(ridge, scene)
    pale = grey(albedo)
    paint(albedo, pale, 0.6 * light.night)
    # Shaded areas take more of the sky's colour than of the ground's, as in paintings.
    body: Array = (0.6 * albedo + 0.4 * pale) * ink(light.ambient * mix(0.75, 1.15, light.night))
    sunlight = mix(1.25 * mix(1.0, 0.6, light.golden), 0.5, light.night)
    body += albedo * ink(light.direct * sunlight) * lit
    body *= mix(0.6, 1.0, step(0.0, 0.5, ridge.depth))
    thickest = mix(1.6, 1.25, max(light.golden, light.night))
    paint(body, air, 1 - exp(-mix(0.12, thickest, scene.dials.haze) * ridge.depth**1.6))
    return body


def _mountain_face(ridge: Ridge, scene: Scene) -> tuple[Array, Array]:
    """Albedo and share of direct light of bare slopes, with snow above and growth below.

    The relief continues, down the face, the noise that shapes the crest: spurs start at peaks.
    """
    dials, altitude = scene.dials, scene.light.level - scene.y
    slope = sample(
        mountain_slope_table(),
        ridge.stretch * scene.x + ridge.pan,
        ridge.row + 0.85 * ridge.stretch * (scene.y - ridge.outline),
    )
    contrast = mix(0.05, 0.9, dials.relief) * mix(0.7, 1.0, ridge.roughness)
    lit = 0.45 + contrast * _facing(slope, scene)
    green = step(0.12, 0.0, altitude + 0.02 * slope.real)
    ragged = altitude + 0.025 * slope.imag - 0.012 * np.abs(slope.real)
    rock, growth = scene.ground.rock, scene.ground.growth
    albedo = ink(rock) + ink(growth - rock) * green
    paint(albedo, ink(_SNOW), step(-0.03, 0.05, ragged - snow_line(dials)))
    return albedo, clamp(lit, 0.0, 1.25)


def _ground_face(ridge: Ridge, scene: Scene) -> tuple[Array, Array]:
    """Albedo and share of direct light of rolling ground, seen in perspective."""
    dials, below = scene.dials, np.maximum(scene.y - ridge.outline, -0.1)
    reach = 0.3 + below
    across = ridge.stretch * (scene.x - 0.5) / reach + 0.37 * ridge.depth
    down = 1.5 * ridge.stretch * np.log(reach)
    swell = sample(
        dune_slope_table(), 0.45 * across + 0.3 * ridge.pan, 0.9 * down + 0.3 * ridge.row
    )
    tufts = sample(tuft_table(), 1.2 * across, 0.9 * down)
    white, wooded = step(0.76, 0.94, dials.snow), step(0.35, 0.8, dials.vegetation)
    rough = mix(0.2, 1.6, dials.relief) * mix(0.05, 0.2, wooded) * (1 - 0.8 * white)
    relief = mix(0.05, 0.4, dials.swell) * mix(0.4, 1.4, dials.relief) * (1 - 0.65 * white)
    lit = 0.5 + relief * _facing(swell, scene) + rough * tufts
    albedo = _ground_albedo(swell.imag, tufts, ridge.depth, scene)
    paint(albedo, ink(0.87 * _SNOW), 0.85 * white)
    return albedo, clamp(lit, 0.0, 1.2) * np.exp(-2.2 * np.maximum(below, 0))


def _ground_albedo(swell: Array, tufts: Array, depth: float, scene: Scene) -> Array:
    """Patches of growth and bare ground, with flowers in the foreground."""
    rock, growth, flowers, _ = scene.ground
    patches = 0.5 + 0.4 * np.tanh(swell + 0.3 * tufts)
    albedo = mix(ink(0.8 * growth), ink(1.1 * mix(growth, rock, 0.55)), patches)
    abundance = step(0.4, 1.0, scene.dials.bloom) * step(0.6, 0.3, depth)
    if abundance > 0:
        paint(albedo, ink(flowers), abundance * step(-0.2, 2.2, tufts + 1.5 * swell))
    return albedo


def _facing(slope: Array, scene: Scene) -> Array:
    """Return how much a slope faces the light, which comes from the side of the disc."""
    tilt = np.tanh(2.5 * (scene.light.across - scene.x))
    towards: Array = slope.imag * np.sqrt(1 - tilt**2) - slope.real * tilt
    return towards
