"""Policies that act in Gymnasium environments, judged by the order of their episodes (extra rl).

`policy` is the function of parameters, `worlds` and `batched` are where it lives, `moments` what
it has seen, `problem` all of it together, `saved` a result in a file.
"""

from zorank.problems.policies.problem import PolicyProblem, losses
from zorank.problems.policies.saved import LearnedPolicy, load_policy

__all__ = ["LearnedPolicy", "PolicyProblem", "load_policy", "losses"]
