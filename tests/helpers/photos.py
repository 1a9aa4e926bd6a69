"""Photos as files, harmless and hostile."""

import struct
import zlib
from io import BytesIO

import numpy as np
from PIL import Image

SCRIPT = b"<script>alert(1)</script>"


def picture(width=90, height=60, seed=0):
    """A smooth picture with a red half at the left."""
    y, x = np.mgrid[0:height, 0:width]
    waves = 90 + 60 * np.sin(x / 9 + seed) * np.cos(y / 7)
    rgb = np.stack([waves + 80 * (x < width / 2), waves, waves], axis=-1)
    return Image.fromarray(rgb.clip(0, 255).astype(np.uint8))


def file_of(shown, form="JPEG", **options):
    file = BytesIO()
    shown.save(file, form, **options)
    return file.getvalue()


def with_script_and_place():
    """A JPEG whose metadata have a script, a place, and the orientation "turned right"."""
    shown = picture()
    exif = shown.getexif()
    exif[0x010E] = exif[0x9286] = SCRIPT.decode()
    exif[0x0112] = 6
    exif.get_ifd(0x8825)[1] = "N"
    return file_of(shown, exif=exif, comment=SCRIPT) + SCRIPT


def bomb(width, height):
    """A PNG of a few bytes that says it has this many pixels."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def animated():
    frames = [picture(seed=seed) for seed in range(3)]
    return file_of(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True)


def sixteen_bits():
    """A grey PNG with 16 bits: brighter to the right."""
    ramp = np.linspace(0, 65535, 90 * 60).reshape(90, 60).T.astype(np.uint16)
    return file_of(Image.fromarray(ramp), "PNG")
