"""A benchmark from the command line, and the files that it writes."""

import csv
import json


class BenchmarkCommand:
    """`zorank bench NAME ... --out results`, called in a test's own folder."""

    def __init__(self, printed, folder, name, *arguments):
        self.name, self.folder = name, folder / "results"
        self._printed, self._line = printed, ("bench", name, *arguments, "--out", "results")

    def run(self, *more):
        """Run it to its end; return what it prints and its report."""
        out = self._printed(*self._line, *more)
        return out, json.loads((self.folder / f"{self.name}.json").read_text())

    def rows(self):
        """The table of all finished trials, after a check that every kind of file is there."""
        with (self.folder / f"{self.name}.csv").open() as handle:
            rows = list(csv.DictReader(handle))
        assert len(rows) == self.trials().count("\n")
        assert (self.folder / f"{self.name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (self.folder / f"{self.name}.svg").read_text()
        return rows

    def trials(self):
        """The stored trials, as they are in their file."""
        return (self.folder / f"{self.name}.cells.jsonl").read_text()
