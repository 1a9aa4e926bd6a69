"""Judges declare what they need and which renderers they fit; everything else has a default."""

import pytest

from zorank import InvalidInput
from zorank.oracles import JUDGES, JudgeKind, judge_kinds
from zorank.protocols import Judge
from zorank.studio.catalog import select_judges


class Plain:
    def score(self, pictures):
        return [0.0] * len(pictures)


class Declaring(Plain):
    requires = ("numpy",)
    renderers = ("mine:Waves",)


def plain(pictures):
    return [0.0] * len(pictures)


@pytest.mark.parametrize("found", [Plain, Plain(), plain], ids=["class", "object", "function"])
def test_a_judge_that_declares_nothing_has_the_defaults_of_the_protocol(found):
    kind = JudgeKind.of("mine:it", found)
    assert (kind.requires, kind.renderers) == (Judge.requires, Judge.renderers) == ((), None)
    assert kind.is_installed
    assert not kind.reads_prompts
    assert kind.fits("any", "image/png")
    assert not kind.fits("any", "image/svg+xml")
    assert not kind.fits("any", "video/mp4")
    assert kind.make({}).score([None]) == [0.0]


@pytest.mark.parametrize("found", [Declaring, Declaring()], ids=["class", "object"])
def test_declarations_of_a_users_own_judge_reach_the_studio(found):
    panel = select_judges("mine:it", {}, {"mine:it": found}.__getitem__)
    assert panel.judges["mine:it"].requires == ("numpy",)
    assert panel.judges["mine:it"].fits("mine:Waves", "image/jpeg")
    assert not panel.judges["mine:it"].fits("landscape", "image/jpeg")


def test_the_default_judge_is_offered_even_if_a_package_is_missing():
    class Lacking(Plain):
        requires = ("a_module_that_nobody_has",)

    assert not JudgeKind.of("mine:it", Lacking).is_installed
    assert "mine:it" in select_judges("mine:it", {}, {"mine:it": Lacking}.__getitem__).offered()


def test_the_judges_of_zorank():
    kinds = judge_kinds()
    assert set(kinds) == set(JUDGES)
    assert kinds["clip"].requires == ("torch", "transformers")
    assert kinds["dream"].renderers == ("dream", "landscape")
    assert kinds["clip"].reads_prompts
    assert kinds["dream"].reads_prompts


@pytest.mark.parametrize("value", ["torch", ["torch"], (3,), 3])
@pytest.mark.parametrize("member", ["requires", "renderers"])
def test_a_declaration_of_another_type_is_refused(member, value):
    wrong = type("Wrong", (Plain,), {member: value})
    with pytest.raises(InvalidInput, match=f"mine:it declares {member} = .*expected a tuple"):
        JudgeKind.of("mine:it", wrong)
