"""The base install: what `import zorank` loads, and what it says when an extra is missing."""

import json
import shlex
from pathlib import Path
from types import SimpleNamespace

from tests.helpers.processes import python
from zorank.errors import install_command

ROOT = Path(__file__).parents[1]

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
    assert install_command("sql") in message_without(
        ["sqlalchemy"], "zorank.stores.open_store('x.db')"
    )
    assert install_command("experiments") in message_without(
        ["scipy"], "zorank.theory.lemma_1_constant(3)"
    )
    assert install_command("optuna") in message_without(
        ["optuna"], "zorank.integrations.optuna.RankSampler()"
    )
    assert install_command("experiments") in message_without(
        ["matplotlib"], "__import__('zorank.cli.plots').cli.plots.plot_history([{}], 'x.png')"
    )


def test_the_bare_package_works_without_any_extra():
    program = "print(zorank.minimize(zorank.problems.sphere, np.ones(4), points=300).fun < 1)"
    out = python(BLOCK.format(blocked=["sqlalchemy", "scipy", "matplotlib", "psycopg"]) + program)
    assert out.strip() == "True"


def test_commands_to_install_extras_fit_the_installation(monkeypatch):
    def installed(direct_url):
        distribution = SimpleNamespace(read_text=lambda name: direct_url)
        monkeypatch.setattr("importlib.metadata.distribution", lambda name: distribution)
        return install_command("studio")

    assert installed(None) == install_command("studio")
    assert installed('{"url": "file:///a/zorank.whl", "archive_info": {}}') == installed(None)
    editable = json.dumps({"url": ROOT.as_uri(), "dir_info": {"editable": True}})
    constraints, folder = shlex.quote(f"{ROOT}/constraints.txt"), shlex.quote(f"{ROOT}[studio]")
    assert installed(editable) == f"pip install --constraint {constraints} --editable {folder}"
