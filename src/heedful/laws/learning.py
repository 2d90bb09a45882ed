"""A model that runs is not yet one that learns."""

import torch

from heedful.laws.base import LawBroken, Subject, law
from heedful.nn.losses import Smoothing


@law
def every_parameter_gets_a_gradient(subject: Subject) -> None:
    """The loss is finite, and no parameter is left out of it."""
    model = subject.fresh().train()
    loss = model.loss(subject.batch(subject.pairs(6, seed=11)))
    if not torch.isfinite(loss.sum):
        raise LawBroken(f"the loss of a fresh model is {float(loss.sum)}")
    if float(loss.weight) != subject.counted(subject.pairs(6, seed=11)):
        raise LawBroken(f"the loss counts {float(loss.weight)} tokens")
    loss.sum.backward()
    for name, parameter in model.named_parameters():
        if parameter.grad is None or not parameter.grad.abs().sum() > 0:
            raise LawBroken(f"{name} gets no gradient")


@law
def eight_examples_are_learnt_by_heart(subject: Subject) -> None:
    """With dropout and smoothing off, the loss of eight examples goes under 0.01 nats a token."""
    model = subject.fresh(Smoothing(amount=0.0)).eval()  # eval: no dropout; gradients flow still
    batch = subject.batch(subject.pairs(8, seed=12))
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
    nats = float("inf")
    for _ in range(300):
        loss = model.loss(batch)
        nats = float(loss.nll / loss.weight)
        if nats < 0.01:
            return
        optimiser.zero_grad()
        (loss.sum / loss.weight).backward()
        optimiser.step()
    raise LawBroken(f"after 300 steps the loss of eight examples is {nats:.3f} nats a token")
