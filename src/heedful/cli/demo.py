"""`heedful demo`: the whole way on one small problem, from nothing to translations and to a page of
what the model attends to."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.attention import write_page
from heedful.cli.options import DATA, Data, Device, Settings
from heedful.cli.screen import columns, note, say, warn
from heedful.cli.train import run_config, train_run
from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful.decoding.translator import Translator
    from heedful.runs.config import RunConfig

PROBLEM, PRESET = "translate_demo_en_fr", "transformer_demo"
RUN = Path("runs/demo")
PAGE = "attention.html"  # in the folder of the run
SPLITS = ("test", "test_unseen", "test_coreference")
METRICS = {"bleu": "BLEU", "exact_match": "exact match %", "pronouns": "pronouns right %"}

# "It" is the hay or the cow, the street or the animal: French must know which.
SENTENCES = (
    "I like the green cat.",
    "The cow ate the hay because it was delicious.",
    "The cow ate the hay because it was hungry.",
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
)
PAIRS = ((1, 2), (3, 4))  # of the sentences: those that differ in one word

NEXT = (
    "heedful decode {run} --interactive",
    "heedful evaluate {run} --split test_coreference --beam 1",
    'heedful attention {run} --text "The cat likes the dog." --out page.html',
    "heedful show transformer_demo",
    "heedful list problems",
    "heedful train algorithmic_reverse_binary40 --preset transformer_algorithmic_tiny"
    " --out runs/reverse",
)


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="RUN", help="The folder of the run.")] = RUN,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="Train for so many steps.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Throw the run in RUN away and begin anew.")
    ] = False,
    settings: Settings = None,
    device: Device = "auto",
    data: Data = DATA,
) -> None:
    """Learn to translate English into French, do it, and show what was attended to.

    The run stays in runs/demo; asked again, the demo goes on with it, or uses it if it is done.

    \b
    Example:
      heedful demo
    """
    began = time.monotonic()
    changes = [*(settings or ()), *([f"training.steps={steps}"] if steps is not None else [])]
    config = run_config(PROBLEM, PRESET, changes)
    if fresh:
        _throw_away(out)
    if _finished(out, config):
        note(f"{out} holds a finished demo run, which is used. To train anew: heedful demo --fresh")
    else:
        note(f"training {PRESET} on {PROBLEM} for {config.preset.training.steps:,} steps")
        train_run(config, out, data, resume=(out / "config.json").exists(), device=device)
    checkpoint = "average" if (out / "checkpoints" / "average").is_dir() else None
    say(_scores(out, data, checkpoint, device))
    say()
    import heedful

    translator = heedful.load(out, checkpoint, device)
    say(columns(list(zip(SENTENCES, translator.translate(SENTENCES), strict=True))))
    page = out / PAGE
    _show(page, translator)
    say(f"\nWhat it attends to, to be opened in a browser: {page}")
    say(
        f"\n{time.monotonic() - began:.0f} seconds in all. The run is in {out}. What to try next:\n"
    )
    for command in NEXT:
        say(f"  {command.format(run=out)}")


def _finished(out: Path, config: "RunConfig") -> bool:
    """Whether the run that was asked for is there and done; another one there is an error."""
    if not (out / "config.json").exists():
        return False
    from heedful.runs.folder import RunFolder

    folder = RunFolder.open(out)
    _, changed = folder.config().changes(config)
    if changed:
        raise UsageError(
            f"{out} holds another run: {'; '.join(changed)}. Begin anew with --fresh, "
            "or choose another --out"
        )
    newest = folder.checkpoints.newest(warn)
    return newest is not None and (newest.step or 0) >= config.preset.training.steps


def _throw_away(out: Path) -> None:
    if not out.exists():
        return
    from heedful.runs import durable
    from heedful.runs.folder import RunFolder

    folder = RunFolder.open(out)
    if folder.config().problem_name != PROBLEM:
        raise UsageError(
            f"{out} holds a run of another problem: --fresh throws only demo runs away"
        )
    with folder.locked():
        durable.delete_folder(out)


def _scores(out: Path, data: Path, checkpoint: str | None, device: str) -> str:
    """The table of splits and metrics, and what the numbers depend on."""
    from heedful.training.evaluation import evaluate

    rows = [("split", *METRICS.values())]
    result: dict[str, Any] = {}
    for split in SPLITS:
        note(f"evaluating the split {split}")
        result = evaluate(out, data, split=split, checkpoint=checkpoint, device=device, warn=warn)
        metrics = result["metrics"]
        rows.append((split, *(f"{metrics[name]['value']:.1f}" for name in METRICS)))
    found = result["checkpoint"]
    return "\n".join(
        [
            columns(rows),
            f"BLEU: {result['metrics']['bleu']['signature']}",
            f"checkpoint {found['name']}, sha256 {found['sha256'][:16]}, seed {result['seed']}, "
            f"beam {result['decode']['beam']}",
        ]
    )


def _show(page: Path, translator: "Translator") -> None:
    """Write the page of the sentences: attention, beam trees, and what "it" looks at in pairs."""
    import torch

    from heedful.seeing.attention import look
    from heedful.seeing.beams import tree
    from heedful.seeing.coreference import coreference

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # one sentence at a time is too little work to share
    try:
        items = [
            {"look": look(translator, text).to_json(), "tree": tree(translator, text)}
            for text in SENTENCES
        ]
        pairs = [coreference(translator, SENTENCES[one], SENTENCES[other]) for one, other in PAIRS]
    finally:
        torch.set_num_threads(threads)
    write_page(page, "What the demo attends to", items, pairs)
