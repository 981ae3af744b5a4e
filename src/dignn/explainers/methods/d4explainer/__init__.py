"""D4Explainer at model level: a denoiser of flipped edges, and a walk from noise that keeps what the model likes.

``flip_noise`` is the noise, ``ppgn`` the network, ``flip_denoiser`` learns to undo the noise, and ``best_of_denoised``
walks back from it for a class.
"""
