"""The embedded diffusion model: its words, its samplers, its weights, and what runs them.

`renderers.dream` draws with it, and an embedded judge of pictures and prompts was trained beside
it. The scripts that made the weights are in `training/`.
"""
