"""The mathematics of diffusion and the training loop, shared by structure and features; knows nothing of graphs.

Noise process, schedule, denoiser (any callback that predicts clean values) and sampler are apart. All speak of the
*signal*, the probability that a variable still has its clean value: one denoiser serves every sampler.
"""
