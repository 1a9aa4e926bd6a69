"""Deprecated: moved to `zorank.rl`."""

from zorank._deprecation import renamed

__getattr__ = renamed(
    __name__,
    {
        name: f"zorank.rl:{name}"
        for name in ("LearnedPolicy", "PolicyProblem", "load_policy", "losses")
    },
)
