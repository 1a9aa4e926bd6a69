"""A renderer for tests, which fails while it is told to."""

from zorank.types import Exhibit


class Breakable:
    """Writes the coordinates of candidates, unless it is broken."""

    dim = 4
    media_type = "text/plain"
    broken = False

    def render(self, candidates):
        if self.broken:
            raise RuntimeError("out of ink")
        return self.exhibits(candidates)

    def exhibits(self, candidates):
        return [Exhibit(self.media_type, str(x.tolist()).encode()) for x in candidates]
