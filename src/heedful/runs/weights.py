"""A model's weights by name, each once: what is tied is saved under its first name."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from heedful.errors import HeedfulError, nearest


def weights(model: nn.Module) -> dict[str, Tensor]:
    """Every tensor of the model's state under one name: of tied ones, the first."""
    named: dict[str, Tensor] = {}
    seen: set[tuple[int, tuple[int, ...], tuple[int, ...]]] = set()
    for name, tensor in model.state_dict().items():
        place = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride())
        if tensor.numel() == 0 or place not in seen:
            seen.add(place)
            named[name] = tensor
    return named


def detached(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Copies on the CPU, contiguous and sharing nothing, as safetensors wants them."""
    return {
        name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in tensors.items()
    }


@torch.no_grad()
def load_weights(model: nn.Module, loaded: Mapping[str, Tensor], where: str) -> None:
    """Copy saved weights into the model; names and shapes must be its own."""
    own = weights(model)
    for name in own:
        if name not in loaded:
            raise HeedfulError(
                f"{where} has no weights named '{name}', which the model has."
                f"{nearest(name, loaded)} The model's code and the checkpoint do not fit"
            )
    for name, tensor in loaded.items():
        if name not in own:
            raise HeedfulError(
                f"{where} has weights named '{name}', which the model has not."
                f"{nearest(name, own)} The model's code and the checkpoint do not fit"
            )
        if tensor.shape != own[name].shape:
            raise HeedfulError(
                f"{where}: '{name}' is {list(tensor.shape)}, the model's is {list(own[name].shape)}"
            )
        own[name].copy_(tensor)


def optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's memory as tensors named `parameter/what`: `embed.weight/exp_avg`."""
    names = {id(p): name for name, p in model.named_parameters()}
    tensors: dict[str, Tensor] = {}
    for parameter, state in optimizer.state.items():
        for what, value in state.items():
            if not isinstance(value, Tensor):
                raise TypeError(f"{type(optimizer).__name__} keeps '{what}', which is not a tensor")
            tensors[f"{names[id(parameter)]}/{what}"] = value
    return tensors


def load_optimizer(
    model: nn.Module, optimizer: torch.optim.Optimizer, loaded: Mapping[str, Tensor]
) -> None:
    """Put saved tensors back into the optimiser's memory."""
    numbers = {name: number for number, (name, _) in enumerate(model.named_parameters())}
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in loaded.items():
        parameter, _, what = name.rpartition("/")
        state.setdefault(numbers[parameter], {})[what] = tensor
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
