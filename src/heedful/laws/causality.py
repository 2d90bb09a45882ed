"""The future never leaks, and the past is heard."""

import torch

from heedful.laws.base import VOCABULARY, LawBroken, Pair, Subject, law, same
from heedful.models.base import Decodes, Encodes
from heedful.nn.layout import line
from heedful.text.specials import RESERVED


@law
def the_future_does_not_leak(subject: Subject) -> None:
    """What a decoder says of a token does not depend on that token or on any after it."""
    if not isinstance(subject.model.body, Decodes):
        return  # an encoder alone is not given its targets at all
    pair = max(subject.pairs(8, seed=9), key=lambda p: len(p.targets))
    before = subject.model.logits(subject.batch([pair]))
    for place in range(len(pair.targets)):
        other = [RESERVED + (i + 1) % (VOCABULARY - RESERVED) for i in pair.targets[place:]]
        changed = Pair(pair.inputs, (*pair.targets[:place], *other))
        after = subject.model.logits(subject.batch([changed]))
        same(
            after[:, : place + 1],
            before[:, : place + 1],
            f"logits up to token {place}, before and after its future was changed",
            tolerance=0.0,
        )


@law
def all_of_the_past_is_heard(subject: Subject) -> None:
    """By gradient: a decoder's output depends on its own place and all before, on none after."""
    body = subject.model.body
    if not isinstance(body, Decodes):
        return
    length, dim = 5, subject.preset.model.dim
    torch.manual_seed(1)
    source = None
    if isinstance(body, Encodes):
        source = body.encode(torch.randn(1, 4, dim, dtype=torch.double), line(4))
    x = torch.randn(1, length, dim, dtype=torch.double, requires_grad=True)
    out = body.decode(x, line(length), source)
    for place in range(length):
        (gradient,) = torch.autograd.grad(out[0, place].square().sum(), x, retain_graph=True)
        heard = (gradient[0].abs().sum(-1) > 0).tolist()
        if heard != [other <= place for other in range(length)]:
            raise LawBroken(f"of {length} places, place {place} hears {heard}")
