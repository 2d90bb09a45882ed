"""`heedful score`: how close one file of lines is to another, and whether a second is closer."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.cli.metrics import comparison, explanation, lines_of
from heedful.cli.options import Json, Plugins, load_plugins
from heedful.cli.screen import say, say_json, warn
from heedful.errors import UsageError
from heedful.metrics.base import SEED

FEWEST, SAMPLES = 40, 1_000  # a 95 % interval of fewer than 40 samples is their whole range
FEW = 100  # lines


def score(
    hyp: Annotated[
        Path, typer.Option("--hyp", metavar="FILE", help="What a model wrote, one text a line.")
    ],
    ref: Annotated[
        list[Path],
        typer.Option(
            "--ref",
            metavar="FILE",
            help="What it should have written. Give it again for a further set of references.",
        ),
    ],
    metrics: Annotated[
        str,
        typer.Option(
            "--metrics", metavar="A,B", help="Which metrics, by name: heedful list metrics."
        ),
    ] = "bleu,chrf,exact_match",
    hyp_b: Annotated[
        Path | None,
        typer.Option("--hyp-b", metavar="FILE", help="What a second model wrote, to compare."),
    ] = None,
    paired: Annotated[
        bool,
        typer.Option("--paired", help="Test whether --hyp-b differs from --hyp by more than luck."),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show every BLEU of the output, and why they differ.")
    ] = False,
    bootstrap: Annotated[
        int,
        typer.Option(
            "--bootstrap",
            metavar="N",
            min=0,
            help="Resample the lines N times for a 95 % interval; 1000 is usual.",
        ),
    ] = 0,
    trials: Annotated[
        int,
        typer.Option(
            "--trials", metavar="N", min=1, help="Trials of the randomization test of --paired."
        ),
    ] = 10_000,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", metavar="N", min=1, help="Of the resampling; sacreBLEU's unless given."
        ),
    ] = SEED,
    json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Score lines against references: BLEU, chrF, TER, ROUGE, exact match and others.

    \b
    Example:
      heedful score --hyp output.fr --ref reference.fr
      heedful score --hyp output.fr --ref reference.fr --metrics bleu,ter --bootstrap 1000
      heedful score --hyp output.fr --ref reference.fr --explain
      heedful score --hyp base.fr --hyp-b big.fr --ref reference.fr --paired
    """
    if paired and hyp_b is None:
        raise UsageError("--paired compares two outputs: name the second with --hyp-b FILE")
    if explain and hyp_b is not None:
        raise UsageError("--explain looks at one output: leave out --hyp-b, or --explain")
    if 0 < bootstrap < FEWEST:
        raise UsageError(f"--bootstrap {bootstrap} is too few: give at least {FEWEST}, or 0")
    load_plugins(plugin)
    from heedful.data.files import content_hash

    names = [name.strip() for name in metrics.split(",") if name.strip()]
    if not names:
        raise UsageError("--metrics names no metric. All there are: heedful list metrics")
    hypotheses, references = _lines(hyp, ref)
    second = _lines(hyp_b, ref)[0] if hyp_b is not None else []
    if "bleu" in names and _tokenized(hypotheses) and not _tokenized(references[0]):
        warn(
            f"most lines of {hyp} end in a full stop that stands alone, as if tokenised: "
            "bleu wants plain text. See --explain"
        )
    if paired and len(hypotheses) < FEW:
        warn(f"{len(hypotheses)} lines are few: a paired test wants some hundreds of them")
    described: dict[str, Any] = {
        key: {"file": str(path), "sha256": content_hash(path)}
        for key, path in (("hyp", hyp), ("hyp_b", hyp_b))
        if path is not None
    }
    described["ref"] = [{"file": str(path), "sha256": content_hash(path)} for path in ref]
    described |= {"lines": len(hypotheses), "examples": len(hypotheses)}
    how = (hypotheses, references, names, bootstrap, seed)
    found, text = (
        _tested(how, second, trials, (str(hyp), str(hyp_b)))
        if paired
        else _explained(how)
        if explain
        else _scored(how, second, (str(hyp), str(hyp_b)))
    )
    if json:
        say_json(described | found)
    else:
        say(text)


How = tuple[list[str], list[list[str]], list[str], int, int]  # lines, references, names, N, seed
Found = tuple[dict[str, Any], str]  # for a script, for a person


def _scored(how: How, second: list[str], files: tuple[str, str]) -> Found:
    from heedful.metrics.base import score as compute

    hypotheses, (first, *others), names, bootstrap, seed = how
    found = {
        key: compute(lines, first, names, None, others, bootstrap, seed)
        for key, lines in (("metrics", hypotheses), ("metrics_b", second))
        if lines
    }
    text = "\n".join(
        f"{file}\n{lines_of(scores)}" if second else lines_of(scores)
        for file, scores in zip(files, found.values(), strict=False)
    )
    return dict(found), text


def _explained(how: How) -> Found:
    from heedful.metrics.base import score as compute
    from heedful.metrics.explain import explain

    hypotheses, (first, *others), names, bootstrap, seed = how
    readings = explain(hypotheses, first, others)
    found = {
        "metrics": compute(hypotheses, first, names, None, others, bootstrap, seed),
        "explain": [asdict(reading) for reading in readings],
    }
    return found, explanation(readings)


def _tested(how: How, second: list[str], trials: int, files: tuple[str, str]) -> Found:
    from heedful.metrics.significance import Chance, compare

    hypotheses, references, names, bootstrap, seed = how
    chance = Chance(samples=bootstrap or SAMPLES, trials=trials, seed=seed)
    compared = compare(hypotheses, second, references, names, chance)
    found = {
        "metrics": {name: entry.first for name, entry in compared.items()},
        "metrics_b": {name: entry.second for name, entry in compared.items()},
        "paired": {
            name: {k: v for k, v in asdict(entry).items() if k not in ("first", "second")}
            for name, entry in compared.items()
        },
    }
    first, last = (Path(file).name for file in files)
    return found, comparison(compared, files if first == last else (first, last))


def _tokenized(lines: list[str]) -> bool:
    """Whether lines look as if a tokenizer had been at them."""
    return 2 * sum(line.rstrip().endswith(" .") for line in lines) > len(lines)


def _lines(hyp: Path, refs: list[Path]) -> tuple[list[str], list[list[str]]]:
    """The output's lines, and those of every set of references; all must be as long."""
    from heedful.data.files import read_parallel

    hypotheses: list[str] = []
    sets = []
    for ref in refs:
        pairs = list(read_parallel(hyp, ref))
        hypotheses = [hypothesis for hypothesis, _ in pairs]
        sets.append([reference for _, reference in pairs])
    return hypotheses, sets
