"""A process that decodes for another one (hands.py). It reads lines of JSON and answers each with
one: first what model it is to load, then blocks of texts.

It is a plain program rather than a fork, so that it has threads of its own. When its reader goes
away it ends.
"""

import json
import os
import sys
from dataclasses import asdict
from typing import Any

from heedful.decoding.job import Job
from heedful.errors import HeedfulError, UsageError
from heedful.registry import load_plugin


class Hand:
    """What it answers, by what it is asked."""

    def __init__(self) -> None:
        self.translator: Any = None

    def begin(self, asked: dict[str, Any]) -> dict[str, Any]:
        import torch

        from heedful.decoding.of_run import translator_of

        job = Job(**asked["job"])
        if job.device != "cpu" and torch.cuda.is_available():
            raise UsageError(
                "several processes are for decoding on a CPU, and here is a GPU. "
                "Leave --processes out, or add --device cpu"
            )
        torch.set_num_threads(asked["threads"])
        for module in job.plugins:
            load_plugin(module)
        warnings: list[str] = []
        self.translator = translator_of(job, "cpu", warnings.append)
        self.translator.language()  # what is wrong with it is said before anything is read
        return {"warnings": warnings}

    def decode(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"decoded": [asdict(one) for one in self.translator.decode(**asked)]}

    def answer(self, line: bytes) -> dict[str, Any]:
        asked = json.loads(line)
        try:
            return self.begin(asked) if self.translator is None else self.decode(asked)
        except HeedfulError as error:
            return {"error": str(error), "usage": isinstance(error, UsageError)}


def main() -> None:
    hand, out = Hand(), sys.stdout.buffer
    try:
        for line in sys.stdin.buffer:
            out.write(json.dumps(hand.answer(line)).encode() + b"\n")
            out.flush()
    except BrokenPipeError:
        os._exit(0)  # the reader has gone: there is nobody to tell, and nothing to flush to


if __name__ == "__main__":
    main()
