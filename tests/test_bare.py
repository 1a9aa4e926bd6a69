"""The base install: what `import zorank` loads, and what it says when an extra is missing."""

from tests.helpers.processes import python

HEAVY = [
    "sqlalchemy",
    "scipy",
    "matplotlib",
    "rich",
    "typer",
    "torch",
    "diffusers",
    "optuna",
    "transformers",
    "PIL",
    "pandas",
    "platformdirs",
    "concurrent.futures",
]


def test_importing_zorank_loads_numpy_and_nothing_heavier():
    loaded = python("import sys, zorank; print(*sys.modules)").split()
    assert "numpy" in loaded
    assert [name for name in HEAVY if name in loaded] == []


BLOCK = """
import sys
class Missing:
    def find_spec(self, name, *_):
        if name.split('.')[0] in {blocked!r}:
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Missing())
import numpy as np, zorank
"""


def message_without(blocked, program):
    attempt = f"\ntry:\n    {program}\nexcept zorank.MissingExtra as e:\n    print(e)"
    return python(BLOCK.format(blocked=blocked) + attempt)


def test_a_missing_extra_is_named_with_its_remedy():
    assert "pip install 'zorank[sql]'" in message_without(
        ["sqlalchemy"], "zorank.stores.open_store('x.db')"
    )
    assert "pip install 'zorank[experiments]'" in message_without(
        ["scipy"], "zorank.theory.lemma_1_constant(3)"
    )
    assert "pip install 'zorank[optuna]'" in message_without(
        ["optuna"], "zorank.integrations.optuna.RankSampler()"
    )
    assert "pip install 'zorank[experiments]'" in message_without(
        ["matplotlib"], "__import__('zorank.cli.plots').cli.plots.plot_history([{}], 'x.png')"
    )


def test_the_bare_package_works_without_any_extra():
    program = "print(zorank.minimize(zorank.problems.sphere, np.ones(4), points=300).fun < 1)"
    out = python(BLOCK.format(blocked=["sqlalchemy", "scipy", "matplotlib", "psycopg"]) + program)
    assert out.strip() == "True"
