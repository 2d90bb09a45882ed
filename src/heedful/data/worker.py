"""A process that makes batches: it reads a recipe from its first line of input and writes steps.

It is a plain program rather than a fork, so it is safe beside threads and GPUs, starts without
torch, and needs nothing pickled: a step is a line of JSON and the bytes of its arrays. When its
reader goes away its next write fails, and it ends.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from heedful.config import from_json, to_json
from heedful.data.batching import Batching
from heedful.data.recipe import Cursor, Made, Recipe
from heedful.data.shards import Shards
from heedful.errors import HeedfulError


def ask(recipe: Recipe, start: Cursor, take: int, stride: int) -> bytes:
    """The line that tells a worker which steps to make."""
    shards = recipe.shards
    request = {
        "folder": str(shards.folder.absolute()),
        "split": shards.split,
        "features": list(recipe.features),
        "batching": to_json(recipe.batching),
        "seed": recipe.seed,
        "parts": recipe.parts,
        "rank": recipe.rank,
        "world": recipe.world,
        "start": [start.epoch, start.part],
        "take": take,
        "stride": stride,
    }
    return json.dumps(request).encode() + b"\n"


def send(made: Made, out: BinaryIO) -> None:
    """Write one step."""
    header = {
        "cursor": [made.cursor.epoch, made.cursor.part],
        "tokens": made.tokens,
        "slots": made.slots,
        "targets": made.targets,
        "parts": [
            [len(examples), [sheet.shape for sheet in sheets]] for examples, sheets in made.parts
        ],
    }
    out.write(json.dumps(header).encode() + b"\n")
    for examples, sheets in made.parts:
        out.write(np.ascontiguousarray(examples, np.int64).data)
        for sheet in sheets:
            out.write(np.ascontiguousarray(sheet, np.int32).data)
    out.flush()


def receive(stream: BinaryIO) -> Made:
    """Read one step; EOFError when the worker is gone, HeedfulError when it says why."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    header = json.loads(line)
    if "error" in header:
        raise HeedfulError(f"making batches failed: {header['error']}")
    parts = []
    for count, shapes in header["parts"]:
        examples = np.frombuffer(_exactly(stream, 8 * count), np.int64)
        sheets = [_sheet(stream, shape) for shape in shapes]
        parts.append((examples, sheets))
    return Made(
        parts, Cursor(*header["cursor"]), header["tokens"], header["slots"], header["targets"]
    )


def _sheet(stream: BinaryIO, shape: list[int]) -> Any:
    data = _exactly(stream, 4 * shape[0] * shape[1] * shape[2])
    return np.frombuffer(data, np.int32).reshape(shape)


def _exactly(stream: BinaryIO, size: int) -> bytearray:
    data = bytearray(size)  # writable, so that torch may share it
    if size and stream.readinto(data) != size:  # type: ignore[attr-defined]
        raise EOFError
    return data


def main() -> None:
    request = json.loads(sys.stdin.buffer.readline())
    out = sys.stdout.buffer
    try:
        recipe = Recipe(
            Shards(Path(request["folder"]), request["split"]),
            tuple(request["features"]),
            from_json(Batching, request["batching"]),
            request["seed"],
            request["parts"],
            request["rank"],
            request["world"],
        )
        for made in recipe.steps(Cursor(*request["start"]), request["take"], request["stride"]):
            send(made, out)
    except BrokenPipeError:
        os._exit(0)  # the reader has gone; there is nobody to tell, and nothing to flush to
    except Exception as error:
        known = isinstance(error, HeedfulError)
        message = str(error) if known else f"{type(error).__name__}: {error}"
        out.write(json.dumps({"error": message}).encode() + b"\n")
        out.flush()


if __name__ == "__main__":
    main()
