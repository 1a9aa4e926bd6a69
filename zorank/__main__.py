"""Run the command line with: python -m zorank."""

from zorank.cli import main

main()
