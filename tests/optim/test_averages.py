import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from heedful.optim.averages import MovingAverage, mean


def test_a_moving_average_follows_its_recurrence():
    model = nn.Linear(3, 2)
    average = MovingAverage(model, 0.9)
    expected = model.weight.detach().clone()
    for step in range(1, 200):
        with torch.no_grad():
            model.weight.add_(torch.randn(2, 3))
        average.update(step)
        decay = min(0.9, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * model.weight.detach()
    torch.testing.assert_close(average.weights["weight"], expected)


def test_lent_weights_are_the_average_and_its_own_come_back_bit_for_bit():
    model = nn.Linear(3, 2)
    average = MovingAverage(model, 0.5)
    with torch.no_grad():
        model.weight.mul_(3.7)
    own = model.weight.detach().clone()
    with average.lent():
        assert torch.equal(model.weight, average.weights["weight"])
        assert not torch.equal(model.weight, own)
    assert torch.equal(model.weight, own)


@given(
    st.lists(st.floats(-(2.0**90), 2.0**90, width=32), min_size=1, max_size=20), st.integers(1, 20)
)
def test_the_mean_of_identical_tensors_is_the_tensor(values, count):
    tensor = torch.tensor(values)
    assert torch.equal(mean([tensor] * count), tensor)


def test_the_mean_is_arithmetic_and_whole_numbers_are_the_last_ones():
    assert mean([torch.tensor([1.0, 2.0]), torch.tensor([3.0, 6.0])]).tolist() == [2.0, 4.0]
    assert mean([torch.tensor([1]), torch.tensor([4])]).tolist() == [4]
    assert mean([torch.ones(2, dtype=torch.bfloat16)] * 3).dtype == torch.bfloat16
