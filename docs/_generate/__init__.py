"""The parts of docs/generate.py: pages made from the code, and tables of results."""
