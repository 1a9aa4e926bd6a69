"""Deprecated: moved to `zorank.rl`."""

from zorank._deprecation import renamed

__getattr__ = renamed(
    __name__,
    {
        "Learning": "zorank.rl:PolicySearch",
        "step_together": "zorank.rl:step_together",
        "rewards": "zorank.rl:rewards",
        "recipe": "zorank.rl:recipe",
        "fitted": "zorank.rl.recipes:settings_for",
        "enough_to_rank": "zorank.rl.recipes:default_ranked_steps",
        "RECIPES": "zorank.rl.recipes:RECIPES",
        "DEFAULT": "zorank.rl.recipes:DEFAULT",
        "PAPER": "zorank.rl.recipes:PAPER",
        "RANKED_STEPS": "zorank.rl.recipes:RANKED_STEPS",
    },
)
