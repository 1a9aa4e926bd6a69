"""Draws the photo that comes with the renderer `style`: a still life before one of our landscapes.

Spheres and a vase stand on a table and are lit by one lamp; every pixel is traced with NumPy. Run
it as `python training/style_photo.py`; it writes zorank/renderers/style/sample.jpg.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from zorank.renderers import Landscape
from zorank.renderers.style import SAMPLE

WIDTH, HEIGHT, FINER = 640, 480, 2
EYE, LAMP = np.array([0.0, 1.5, -5.2]), np.array([-3.2, 5.2, -3.4])
LANDSCAPE_SEED = 3
# Where it stands, its radius, its colour, and how far it is stretched upwards.
THINGS = [
    ((-1.15, 0.55, 0.1), 0.55, (0.86, 0.22, 0.13), 1.0),
    ((-0.25, 0.45, -0.75), 0.45, (0.95, 0.62, 0.10), 1.0),
    ((0.55, 0.36, -0.95), 0.36, (0.52, 0.66, 0.16), 1.0),
    ((0.95, 0.95, 0.45), 0.62, (0.16, 0.38, 0.62), 1.55),
    ((0.95, 2.02, 0.45), 0.24, (0.16, 0.38, 0.62), 1.2),
    ((-2.05, 0.38, -0.35), 0.38, (0.42, 0.14, 0.36), 1.0),
]


def hit(origin, rays, centre, radius, stretch):
    """Return the distance along each ray to a stretched sphere; infinity if it misses."""
    scale = np.array([1.0, 1.0 / stretch, 1.0])
    o, d = (origin - np.asarray(centre)) * scale, rays * scale
    a, b, c = (d * d).sum(-1), (o * d).sum(-1), (o * o).sum(-1) - radius**2
    inside = b * b - a * c
    far = (-b - np.sqrt(np.maximum(inside, 0))) / a
    return np.where((inside > 0) & (far > 1e-3), far, np.inf)


def shadow(points):
    """Return how much of the lamp each point sees, with a soft edge."""
    light = np.zeros(points.shape[:-1])
    draws = np.random.default_rng(0)
    for _ in range(12):
        lamp = LAMP + 0.45 * draws.standard_normal(3)
        to = lamp - points
        blocked = np.zeros(light.shape, bool)
        for centre, radius, _, stretch in THINGS:
            blocked |= np.isfinite(hit(points + 1e-3 * to, to, centre, radius, stretch))
        light += ~blocked
    return light / 12


def surface(rays):
    """Return the distance, colour and normal of what each ray meets; the colour −1 is nothing."""
    down = np.where(rays[..., 1] < -1e-6, -EYE[1] / np.minimum(rays[..., 1], -1e-6), np.inf)
    spot = EYE + np.where(np.isfinite(down), down, 0.0)[..., None] * rays
    table = np.isfinite(down) & (spot[..., 2] < 1.7)
    nearest = np.where(table, down, np.inf)
    # A cloth with stripes, and a grain.
    stripe = (np.sin(5.2 * spot[..., 0] + 0.4 * np.sin(3 * spot[..., 2])) > 0.82)[..., None]
    colour = np.where(stripe, (0.66, 0.25, 0.2), (0.88, 0.83, 0.72))
    colour = np.where(table[..., None], colour, -1.0)
    normal = np.broadcast_to((0.0, 1.0, 0.0), rays.shape).copy()
    for centre, radius, paint, stretch in THINGS:
        far = hit(EYE, rays, centre, radius, stretch)
        closer = far < nearest
        at = EYE + np.where(closer, far, 0.0)[..., None] * rays - np.asarray(centre)
        out = at / np.array([1.0, stretch**2, 1.0])
        out /= np.maximum(np.linalg.norm(out, axis=-1, keepdims=True), 1e-9)
        mottled = 1 + 0.07 * np.sin(21 * at[..., :1]) * np.sin(17 * at[..., 1:2] + 1)
        colour = np.where(closer[..., None], np.asarray(paint) * mottled, colour)
        normal = np.where(closer[..., None], out, normal)
        nearest = np.minimum(nearest, far)
    return nearest, colour, normal


def picture():
    """Return the photo, (HEIGHT, WIDTH, 3), uint8."""
    rows, columns = HEIGHT * FINER, WIDTH * FINER
    y, x = np.mgrid[0:rows, 0:columns]
    rays = np.stack(
        [(x / columns - 0.5) * 1.15, (0.40 - y / rows) * 0.8625, np.ones(x.shape)], axis=-1
    )
    rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
    far, colour, normal = surface(rays)
    met = np.isfinite(far)
    points = EYE + np.where(met, far, 0.0)[..., None] * rays
    to = LAMP - points
    to /= np.linalg.norm(to, axis=-1, keepdims=True)
    facing = np.maximum((normal * to).sum(-1), 0) * shadow(points)
    half = to - rays
    half /= np.linalg.norm(half, axis=-1, keepdims=True)
    shine = np.maximum((normal * half).sum(-1), 0) ** 60 * (facing > 0) * (normal[..., 1] < 0.999)
    ambient = 0.30 + 0.10 * normal[..., 1]
    lit = colour * (ambient + 0.85 * facing)[..., None] + 0.5 * shine[..., None]
    landscape = Landscape(size=columns)
    scene = landscape.picture(np.random.default_rng(LANDSCAPE_SEED).standard_normal(landscape.dim))
    seen = scene[columns - rows :] / 255
    whole = np.where(met[..., None], np.clip(lit, 0, 1) ** (1 / 1.15), seen)
    small = Image.fromarray((255 * whole + 0.5).astype(np.uint8))
    return small.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    picture().save(Path(SAMPLE), "JPEG", quality=90)
