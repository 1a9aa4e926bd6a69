"""The embedded diffusion model: vocabulary, samplers, weights and inference.

`renderers.dream` renders with it; `oracles.dream` is the judge that was trained on the same
pictures. The training scripts are in `training/`.
"""
