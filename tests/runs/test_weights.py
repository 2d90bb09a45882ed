import pytest
import torch
from torch import nn

from heedful.errors import HeedfulError
from heedful.optim.adam import Adam
from heedful.runs import weights as w


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5)
        self.head.weight = self.embed.weight


def test_tied_weights_are_saved_once_and_load_into_both():
    one, two = Tied(), Tied()
    saved = w.detached(w.weights(one))
    assert sorted(saved) == ["embed.weight", "head.bias"]
    w.load_weights(two, saved, "here")
    assert torch.equal(two.head.weight, one.embed.weight)
    assert two.head.weight is two.embed.weight


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s.pop("head.bias"), "has no weights named 'head.bias'"),
        (
            lambda s: s.update({"head.biass": torch.zeros(5)}),
            "'head.biass', which the model has not. Close: head.bias",
        ),
        (
            lambda s: s.update({"head.bias": torch.zeros(6)}),
            r"'head.bias' is \[6\], the model's is \[5\]",
        ),
    ],
    ids=["missing", "unknown", "other shape"],
)
def test_weights_that_do_not_fit_are_named(change, said):
    saved = w.detached(w.weights(Tied()))
    change(saved)
    with pytest.raises(HeedfulError, match=said):
        w.load_weights(Tied(), saved, "here")


def test_an_optimiser_goes_on_where_its_saved_memory_left_it():
    torch.manual_seed(3)
    one, two = Tied(), Tied()
    w.load_weights(two, w.detached(w.weights(one)), "here")
    first, second = (Adam().build(m.parameters()) for m in (one, two))

    def step(model, optimizer):
        optimizer.param_groups[0]["lr"] = 0.1
        model.zero_grad()
        model.head(model.embed(torch.arange(5))).square().sum().backward()
        optimizer.step()

    step(one, first)
    w.load_weights(two, w.detached(w.weights(one)), "here")
    w.load_optimizer(two, second, w.detached(w.optimizer_tensors(one, first)))
    step(one, first)
    step(two, second)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def test_an_optimiser_with_a_memory_that_is_no_tensor_is_refused():
    model = Tied()
    optimizer = Adam().build(model.parameters())
    optimizer.state[model.embed.weight] = {"note": "text"}
    with pytest.raises(TypeError, match="'note', which is not a tensor"):
        w.optimizer_tensors(model, optimizer)
