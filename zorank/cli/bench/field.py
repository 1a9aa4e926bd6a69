"""zorank bench field: auto against pycma and cmaes on BBOB."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zorank.cli.bench.common import FolderOption, WorkersOption, print_report, run_to_end
from zorank.cli.common import log
from zorank.cli.tables import field_tables


def field(
    dim: Annotated[
        list[int] | None, typer.Option(min=2, help="A dimension; default: 10 and 40.")
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            help="An optimizer: auto, pycma, pycma diagonal, pycma VkD, cmaes CMA, cmaes SepCMA. "
            "These run only if named: pycma IPOP, pycma BIPOP, cmaes LRA (adaptive learning "
            "rates), variants such as 'auto: no quadratic model' and, with other libraries, "
            "nevergrad OnePlusOne, nevergrad CMA, nevergrad DE, pypop7 LM-MA-ES."
        ),
    ] = None,
    instances: Annotated[
        str, typer.Option(help="Instances of every function, FIRST-LAST.")
    ] = "61-65",
    points: Annotated[int, typer.Option(min=2, help="Evaluated points per dimension.")] = 300,
    folder: FolderOption = Path("bench-field"),
    workers: WorkersOption = None,
) -> None:
    """Compare auto with pycma and cmaes on the 24 functions of BBOB, with ranks only.

    All optimizers start at the same point with the same step size and their documented defaults.
    The area under the runtime distribution is larger if more targets are hit earlier. Writes
    field.json, field.png and field.svg. Ctrl-C loses no finished trial: run the same command again
    to continue.

    Example: zorank bench field --dim 10 --peer auto --peer pycma --instances 1-3
    """
    from zorank.experiments import bbob
    from zorank.experiments.peers import PEERS

    study = bbob.Study(
        dims=tuple(dict.fromkeys(dim or (10, 40))),
        instances=bbob.instance_range(instances),
        peers=tuple(dict.fromkeys(peer or PEERS)),
        points_per_dim=points,
    )
    rows = run_to_end(lambda: bbob.SWEEP.run(study.trials(), folder, workers=workers, console=log))
    report = bbob.report(study, rows)
    print_report(report, folder, field_tables(report))
