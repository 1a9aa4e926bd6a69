"""An oracle that ranks by the scores of pictures, from any model that scores pictures.

Pictures are RGB images of Pillow, as the processors of models take them; `np.asarray(picture)` is
a (rows, columns, 3) array of bytes. Higher scores are better.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from zorank.errors import InvalidInput, required_by, short
from zorank.protocols import Renderer
from zorank.slates import Slate
from zorank.types import Answer, Exhibit, Vector

if TYPE_CHECKING:
    from PIL.Image import Image

Score: TypeAlias = "Callable[[Sequence[Image]], Any]"
"""Pictures → a number for each, higher is better."""

REMEMBERED = 4096
"""The number of candidates whose scores an oracle caches."""


@dataclass(frozen=True, eq=False)
class PictureOracle:
    """Ranks candidates by a model's scores of their pictures.

    Attributes:
        renderer: renders the candidates; its exhibits must be pictures.
        score: pictures → a number for each, higher is better.
        k: the maximal depth of a ranking; None ranks as deep as the slate asks for.
        batch: how many pictures are scored at once.
    """

    renderer: Renderer
    score: Score
    k: int | None = None
    batch: int = 8
    _known: OrderedDict[bytes, float] = field(default_factory=OrderedDict, init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.score, type):
            raise InvalidInput(
                f"score is the class {self.score.__name__}; create a judge and pass its method: "
                f"{self.score.__name__}(...).score"
            )
        if not callable(self.score):
            raise InvalidInput(
                "score must be a function of pictures that returns a number for each, "
                f"found {short(self.score)}; if it is a judge, pass its method judge.score"
            )
        _check_batch(self.batch)

    def answer(self, slate: Slate) -> Answer:
        """Return the answer to the slate's question."""
        return slate.answer_from(-self.scores(slate), self.k)

    def scores(self, candidates: Iterable[Vector]) -> Vector:
        """Return the score of each candidate; cached ones are not rendered again."""
        named = [(_name(x), x) for x in candidates]
        new = {name: x for name, x in named if name not in self._known}
        found = score_exhibits(self.score, self._draw(list(new.values())), self.batch)
        known = {name: self._known[name] for name, _ in named if name not in new}
        known |= zip(new, found.tolist(), strict=True)
        self._remember(known)
        return np.array([known[name] for name, _ in named])

    def _draw(self, candidates: list[Vector]) -> Sequence[Exhibit]:
        return self.renderer.render(candidates) if candidates else ()

    def _remember(self, known: dict[bytes, float]) -> None:
        for name in known:
            self._known.pop(name, None)
        self._known.update(known)  # the latest last
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)


def score_exhibits(score: Score, exhibits: Sequence[Exhibit], batch: int = 8) -> Vector:
    """Score exhibits, `batch` at a time."""
    _check_batch(batch)
    parts = [
        _checked(score([decode(exhibit) for exhibit in part]), len(part))
        for part in (exhibits[i : i + batch] for i in range(0, len(exhibits), batch))
    ]
    return np.concatenate([np.empty(0), *parts])


def decode(exhibit: Exhibit) -> Image:
    """Decode an exhibit as an RGB picture."""
    with required_by("a judge of pictures", "pillow", "studio"):
        from PIL import Image, UnidentifiedImageError
    try:
        return Image.open(BytesIO(exhibit.data)).convert("RGB")
    except UnidentifiedImageError as error:
        raise InvalidInput(
            f"a judge of pictures cannot decode {exhibit.media_type}; it needs exhibits that "
            "Pillow can open, such as JPEG, PNG or WebP"
        ) from error


def _checked(scores: Any, count: int) -> Vector:
    # A tensor may require gradients or be on another device.
    plain = scores.detach().cpu().tolist() if hasattr(scores, "detach") else scores
    try:
        numbers = np.asarray(plain, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"a judge must return numbers, found {short(plain)}") from error
    if numbers.size != count:
        raise InvalidInput(
            f"a judge must return {count} numbers for {count} pictures, "
            f"found an array of shape {numbers.shape}"
        )
    if not np.isfinite(numbers).all():
        raise InvalidInput(f"a judge must return finite numbers, found {short(plain)}")
    return numbers.reshape(count)


def _name(candidate: Vector) -> bytes:
    return blake2b(candidate.tobytes(), digest_size=16).digest()


def _check_batch(batch: Any) -> None:
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise InvalidInput(f"batch must be a whole number from 1, found {short(batch)}")
