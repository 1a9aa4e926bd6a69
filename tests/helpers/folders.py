"""Folders of small files that tests rank."""

import io
import wave

import numpy as np
from PIL import Image


def write_pictures(folder, count):
    """Grey squares, brighter with their number: grey 0.png, grey 1.png and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    for level in range(count):
        shade = 20 + 220 * level // count
        Image.new("RGB", (48, 48), (shade, shade, shade)).save(folder / f"grey {level}.png")
    return folder


def sound(pitch):
    """A short WAV file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setparams((1, 2, 8000, 0, "NONE", ""))
        wave_form = 9000 * np.sin(np.arange(800) * pitch / 8000 * 2 * np.pi)
        wav.writeframes(wave_form.astype("<i2").tobytes())
    return file.getvalue()
