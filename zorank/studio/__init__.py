"""The studio: a web application in which people rank candidates."""

from zorank.studio.app import create_app

__all__ = ["create_app"]
