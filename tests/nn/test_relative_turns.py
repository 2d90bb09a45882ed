"""The skew within registers moves every row as far as it should: its text, read without a GPU."""

import re

import numpy as np
import pytest
import torch

from heedful.nn.kernels.relative_turns import SIDE, WARPS, left, operands, right

LANES = 32
Registers = dict[str, np.ndarray]  # of each thread of a warp


def run(text: str, registers: Registers) -> None:
    """What a warp does with a text: the few words of PTX that ours are made of."""
    lines = [line.strip().rstrip(";") for line in text.replace("; ", ";\n").splitlines()]
    lines = [line for line in lines if line and line not in "{}" and not line.startswith(".reg")]
    labels = {line[:-1]: i for i, line in enumerate(lines) if line.endswith(":")}
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if line.endswith(":"):
            continue
        if guarded := re.match(r"@(\w+) bra (\w+)", line):
            said = registers[guarded[1]]
            assert said.all() or not said.any()  # a warp goes one way
            place = labels[guarded[2]] if said.all() else place
        elif line.startswith("bra "):
            place = labels[line.removeprefix("bra ")]
        else:
            word, rest = line.split(" ", 1)
            to, *names = rest.split(", ")
            given = [registers[name] if name in registers else _number(name) for name in names]
            registers[to] = WORDS[word](*given)


def _number(text: str) -> np.ndarray:
    return np.full(LANES, int(text, 0) & 0xFFFFFFFF, np.uint32)


def _bits(x: np.ndarray, first: np.ndarray, count: np.ndarray) -> np.ndarray:
    return (x >> first) & ((np.uint32(1) << count) - np.uint32(1))


def _shuffled(x: np.ndarray, source: np.ndarray, how: np.ndarray, who: np.ndarray) -> np.ndarray:
    assert (how == 0x1C1F).all() and (who == 0xFFFFFFFF).all() and (source < 4).all()
    return x[(np.arange(LANES) & ~3) | source]


def _permuted(x: np.ndarray, y: np.ndarray, how: np.ndarray) -> np.ndarray:
    both = x.astype(np.uint64) | (y.astype(np.uint64) << np.uint64(32))
    found = np.zeros(LANES, np.uint64)
    for byte in range(4):
        which = (how >> np.uint32(4 * byte) & np.uint32(7)).astype(np.uint64)
        part = (both >> (np.uint64(8) * which)) & np.uint64(0xFF)
        found |= part << np.uint64(8 * byte)
    return found.astype(np.uint32)


WORDS = {
    "mov.u32": lambda x: x,
    "bfe.u32": _bits,
    "shl.b32": lambda x, by: x << by,
    "add.u32": lambda x, y: x + y,
    "sub.u32": lambda x, y: x - y,
    "and.b32": lambda x, y: x & y,
    "xor.b32": lambda x, y: x ^ y,
    "setp.ne.u32": lambda x, y: x != y,
    "setp.eq.u32": lambda x, y: x == y,
    "setp.ge.u32": lambda x, y: x >= y,
    "setp.lt.u32": lambda x, y: x < y,
    "selp.b32": lambda x, y, which: np.where(which, x, y),
    "shfl.sync.idx.b32": _shuffled,
    "prmt.b32": _permuted,
}


def places(warp: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The row and the first column of each register of each thread, as products leave a tile;
    a register has one column of numbers of 32 bits, or two of 16."""
    lane, register = np.arange(LANES)[:, None], np.arange(SIDE * SIDE // (WARPS * LANES) // width)
    e, h, n = register * width & 1, register * width >> 1 & 1, register * width >> 2
    return 16 * warp + 8 * h + (lane >> 2), 8 * n + 2 * (lane & 3) + e


def moved(text: str, tiles: list[np.ndarray], width: int) -> np.ndarray:
    """What the text makes of two tiles; of 16-bit numbers a register holds two."""
    found = np.zeros_like(tiles[0])
    for warp in range(WARPS):
        rows, columns = places(warp, width)
        count = rows.shape[1]
        given = [_packed(tile, rows, columns, width) for tile in tiles]
        registers = {"%tid.x": np.arange(LANES, dtype=np.uint32) + np.uint32(LANES * warp)}
        for i, values in enumerate(np.concatenate(given, 1).T):
            registers[f"${count + i}"] = values
        run(text, registers)
        for i in range(count):
            for half in range(width):
                value = registers[f"${i}"] >> np.uint32(16 * half)
                value = value & np.uint32(0xFFFF) if width == 2 else value
                found[rows[:, i], columns[:, i] + half] = value
    return found


def _packed(tile: np.ndarray, rows: np.ndarray, columns: np.ndarray, width: int) -> np.ndarray:
    values = tile[rows, columns]
    return values if width == 1 else values | (tile[rows, columns + 1] << np.uint32(16))


@pytest.mark.parametrize(
    ("text", "width", "source"),
    [(right(), 1, lambda a, b: SIDE - 1 + b - a), (left(), 2, lambda a, b: b + 1 + a)],
    ids=["right", "left"],
)
def test_every_row_moves_by_one_more(text, width, source) -> None:
    draw = np.random.default_rng(1)
    tiles = [draw.integers(0, 2**16, (SIDE, SIDE), dtype=np.uint32) for _ in range(2)]
    row, column = np.arange(SIDE)[:, None], np.arange(SIDE)[None, :]
    wanted = np.take_along_axis(np.concatenate(tiles, 1), source(row, column), 1)
    assert np.array_equal(moved(text, tiles, width), wanted)


def test_operands_are_written_while_others_are_read() -> None:
    assert operands(2, "r") == "=&r,=&r,r,r,r,r"
    for text, count in ((right(), 32), (left(), 16)):
        used = {int(x) for x in re.findall(r"\$(\d+)", text)}
        assert set(range(count)) < used < set(range(3 * count))


@pytest.mark.gpu
def test_a_hopper_gpu_passes_the_trial() -> None:
    if torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("this GPU is no Hopper")
    from heedful.nn.kernels.relative_trial import turning

    assert turning(torch.cuda.current_device())
