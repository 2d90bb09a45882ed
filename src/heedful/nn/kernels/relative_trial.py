"""Whether a GPU's products leave tiles as the skew within registers takes them, tried once."""

from typing import no_type_check

import torch
import triton
import triton.language as tl

from heedful.nn.kernels.relative_tiles import by_distance, by_key
from heedful.nn.kernels.relative_turns import SIDE, WARPS
from heedful.nn.kernels.tiles import product
from heedful.nn.once import once

HOPPER = (9, 0)


@triton.jit
@no_type_check
def tried(x_ptr, left_ptr, right_ptr, key_ptr, distance_ptr, BLOCK: tl.constexpr):
    """What the skews make of two products side by side."""
    place = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + place)
    left = product(x, tl.trans(tl.load(left_ptr + place)), "tf32")
    right = product(x, tl.trans(tl.load(right_ptr + place)), "tf32")
    tl.store(key_ptr + place, by_key(left, right, BLOCK, True))
    left, right = left.to(tl.bfloat16), right.to(tl.bfloat16)
    tl.store(distance_ptr + place, by_distance(left, right, BLOCK, True))


@once
def turning(device: int) -> bool:
    """Whether it may be used on a GPU."""
    if torch.cuda.get_device_capability(device) != HOPPER:
        return False
    draw, shape = torch.Generator().manual_seed(1), (SIDE, SIDE)
    # Whole numbers, so small that all sums of their products are exact.
    x, left, right = (
        torch.randint(-2, 3, shape, generator=draw).to(f"cuda:{device}", torch.bfloat16)
        for _ in range(3)
    )
    key, distance = torch.empty(shape, device=x.device), torch.empty_like(x)
    tried[(1,)](x, left, right, key, distance, BLOCK=SIDE, num_warps=WARPS)
    with torch.autocast("cuda", enabled=False):
        pair = x.float() @ torch.cat((left, right)).float().T
    row, column = torch.arange(SIDE, device=x.device)[:, None], torch.arange(SIDE, device=x.device)
    wanted = pair.gather(1, column - row + SIDE - 1), pair.gather(1, column + row + 1)
    return torch.equal(key, wanted[0]) and torch.equal(distance.float(), wanted[1])
