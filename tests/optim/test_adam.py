import pytest
import torch

from heedful.optim.adam import Adam


def test_a_step_is_the_one_of_the_paper():
    weight = torch.nn.Parameter(torch.tensor([1.0, -2.0, 3.0], dtype=torch.double))
    optimizer = Adam(betas=(0.9, 0.98), eps=1e-9).build([weight])
    expected, m, v = weight.detach().clone(), 0.0, 0.0
    for t in range(1, 5):
        gradient = torch.tensor([0.1 * t, -0.2, 0.3], dtype=torch.double)
        weight.grad = gradient.clone()
        optimizer.param_groups[0]["lr"] = 0.01
        optimizer.step()
        m, v = 0.9 * m + 0.1 * gradient, 0.98 * v + 0.02 * gradient**2
        expected -= 0.01 * (m / (1 - 0.9**t)) / ((v / (1 - 0.98**t)).sqrt() + 1e-9)
    torch.testing.assert_close(weight.detach(), expected)


def test_weight_decay_shrinks_weights_without_a_gradient():
    weight = torch.nn.Parameter(torch.ones(2))
    weight.grad = torch.zeros(2)
    optimizer = Adam(weight_decay=0.5).build([weight])
    optimizer.param_groups[0]["lr"] = 0.1
    optimizer.step()
    assert weight.tolist() == pytest.approx([0.95, 0.95])
