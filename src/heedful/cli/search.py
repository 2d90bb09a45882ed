"""How output is searched for: the options of `decode` and `evaluate`, and what they change."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

from heedful.config import parse_settings
from heedful.errors import UsageError

Beam = Annotated[int | None, typer.Option("--beam", min=1, help="How many hypotheses are kept.")]
Alpha = Annotated[float | None, typer.Option("--alpha", help="Strength of the length penalty.")]
Greedy = Annotated[
    bool, typer.Option("--greedy", help="The likeliest token each time: a beam of 1.")
]
Sample = Annotated[bool, typer.Option("--sample", help="Draw at random in place of searching.")]
Temperature = Annotated[float | None, typer.Option("--temperature", help="Of sampling.")]
TopK = Annotated[int | None, typer.Option("--top-k", help="Sample from the K likeliest tokens.")]
TopP = Annotated[float | None, typer.Option("--top-p", help="Sample from the likeliest P of all.")]
Nbest = Annotated[int | None, typer.Option("--nbest", min=1, help="Outputs a line, with --jsonl.")]


def decode_changes(
    given: Mapping[str, Any], greedy: bool, settings: Iterable[str] | None
) -> dict[str, Any]:
    """What the options change in a run's usual way of decoding, by field of `Decode`.

    `given` has a value, or None for an option that was not given, for each field.
    """
    changes: dict[str, Any] = {}
    for path, value in parse_settings(settings or ()).items():
        if not path.startswith("decode."):
            raise UsageError(
                f"cannot set '{path}' of a finished run: only how it decodes, "
                "e.g. --set decode.beam=8"
            )
        changes[path.removeprefix("decode.")] = value
    if greedy:
        clash = [name for name in ("beam", "sample") if given.get(name)]
        if clash:
            raise UsageError(f"--greedy and --{clash[0]} cannot both be had: choose one")
        changes["beam"] = 1
    sampling = [n for n in ("temperature", "top_k", "top_p") if given.get(n) is not None]
    if sampling and not given.get("sample"):
        option = sampling[0].replace("_", "-")
        raise UsageError(f"--{option} is of sampling, and nothing is sampled without --sample")
    return changes | {name: value for name, value in given.items() if value is not None}
