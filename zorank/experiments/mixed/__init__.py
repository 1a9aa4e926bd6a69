"""zorank bench mixed: spaces of real, whole and categorical parameters."""

from zorank.experiments.mixed.findings import report
from zorank.experiments.mixed.peers import DEFAULT
from zorank.experiments.mixed.problems import PROBLEMS
from zorank.experiments.mixed.study import SWEEP, Study

__all__ = ["DEFAULT", "PROBLEMS", "SWEEP", "Study", "report"]
