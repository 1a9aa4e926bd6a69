"""The order of candidates on screen, which the studio shares with notebooks."""

from zorank._presentation import shown_order, to_candidates, to_screen, without

__all__ = ["shown_order", "to_candidates", "to_screen", "without"]
