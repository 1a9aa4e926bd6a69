"""Names that cannot be told apart by eye."""

import pytest

from zorank.errors import InvalidInput
from zorank.studio.names import check_name


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("AIice", "Alice"),
        ("A1ice", "Alice"),
        ("A|ice", "Alice"),
        ("Bob", "B0b"),
        ("Otto", "0tt0"),
        ("Carneri", "Cameri"),
        ("alice", "AIice"),
    ],
)
def test_names_that_look_alike_are_refused(name, other):
    for new, taken in ((name, other), (other, name)):
        with pytest.raises(InvalidInput, match="looks like") as refused:
            check_name(new, ["Zoe", taken])
        assert repr(taken) in str(refused.value)


@pytest.mark.parametrize(
    ("name", "other"), [("Ali", "All"), ("Ian", "Lan"), ("Mia", "Mla"), ("Tim", "Tom")]
)
def test_names_that_differ_to_the_eye_are_taken(name, other):
    check_name(name, [other])
    check_name(other, [name])
