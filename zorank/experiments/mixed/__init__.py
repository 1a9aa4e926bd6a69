"""zorank bench mixed: spaces of real, whole and categorical parameters."""
