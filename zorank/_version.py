"""The version, alone in its file so that the build can read it without importing zorank."""

__version__ = "0.2.0"
