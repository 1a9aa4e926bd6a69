"""Old names of a renderer's optional members work for one version, with a warning."""

import pytest

from zorank.renderers.interface import resolve


class Old:
    dim = 1
    keepsake = "thing.json"

    def render(self, candidates):
        return []

    def keep(self, candidate):
        return b"thing"


def test_keepsake_and_keep_are_read_as_export_name_and_export():
    with pytest.warns(DeprecationWarning, match=r"keep.* is deprecated.*name it export") as warned:
        found = resolve(Old())
    assert len(warned) == 2
    assert found.export_name == "thing.json"
    assert found.export(None) == b"thing"
