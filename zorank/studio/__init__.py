"""The studio: a web application in which people rank, and the candidates get better."""

from zorank.studio.app import create_app

__all__ = ["create_app"]
