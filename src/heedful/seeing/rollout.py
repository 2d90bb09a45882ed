"""Attention rollout: what each place of a layer is made of, down to the tokens read.

Abnar and Zuidema, "Quantifying Attention Flow in Transformers", ACL 2020,
https://arxiv.org/abs/2005.00928, section 3: a layer passes on half of what a place was (the
residual) and half of what it attends to, the mean of the heads; layers are multiplied.
Departs from the paper: cross-attention, which it does not treat, is shown as the mean of the heads
over the encoder's rollout. H heads, Q queries, K keys.
"""

from collections.abc import Sequence

import numpy as np

RESIDUAL = 0.5


def rollout(layers: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Self-attention of each layer, [H, Q, Q], to what each place is made of after it, [Q, Q]."""
    found: list[np.ndarray] = []
    for weights in layers:
        mixed = passed_on(weights)
        found.append(mixed @ found[-1] if found else mixed)
    return found


def passed_on(weights: np.ndarray) -> np.ndarray:
    """One layer's mixing, [H, Q, Q] to [Q, Q]: rows that sum to 1."""
    mean = weights.astype(np.float64).mean(0)
    mixed = (1 - RESIDUAL) * mean + RESIDUAL * np.eye(mean.shape[0])
    return mixed / mixed.sum(-1, keepdims=True)


def through(weights: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Cross-attention [H, Q, K] to the tokens that its keys are made of, [K, S]: [Q, S]."""
    return weights.astype(np.float64).mean(0) @ source
