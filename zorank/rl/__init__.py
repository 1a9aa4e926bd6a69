"""Policies for Gymnasium environments, learned from the order of their episodes (extra rl).

`PolicyProblem` describes the environment and the kind of policy, `PolicySearch` optimises it,
`LearnedPolicy` is the result: observation → action. `load_policy` reads it from a file.
"""

from zorank.rl.environments import allow_environment
from zorank.rl.problem import PolicyProblem, losses
from zorank.rl.recipes import recipe
from zorank.rl.saved import LearnedPolicy, load_policy
from zorank.rl.search import PolicySearch, rewards, step_together

__all__ = [
    "LearnedPolicy",
    "PolicyProblem",
    "PolicySearch",
    "allow_environment",
    "load_policy",
    "losses",
    "recipe",
    "rewards",
    "step_together",
]
