"""Old names of the core work for one version, with a warning."""

from importlib import import_module

import pytest

RENAMED = {
    ("zorank.looks", "Plan"): ("zorank.looks", "LookPlan"),
    ("zorank.run", "question"): ("zorank._run_slates", "ask_optimizer"),
    ("zorank.theory", "Costs"): ("zorank.planning", "Costs"),
    ("zorank.theory", "Plan"): ("zorank.planning", "Plan"),
    ("zorank.theory", "TYPICAL"): ("zorank.planning", "DEFAULT_COSTS"),
    ("zorank.theory", "comparisons_to_rank"): ("zorank.planning", "comparisons_to_rank"),
    ("zorank.theory", "plan"): ("zorank.planning", "plan"),
    ("zorank.theory", "plans"): ("zorank.planning", "plans"),
    ("zorank.theory", "recommend"): ("zorank.planning", "recommend"),
}


@pytest.mark.parametrize(("old", "new"), RENAMED.items(), ids=lambda place: ".".join(place))
def test_a_renamed_name_is_the_new_one_with_a_warning(old, new):
    with pytest.warns(DeprecationWarning, match=rf"use {new[0]}\.{new[1]}"):
        found = getattr(import_module(old[0]), old[1])
    assert found is getattr(import_module(new[0]), new[1])


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'plant'"):
        _ = import_module("zorank.theory").plant
