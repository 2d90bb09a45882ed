"""`heedful residuals`: what residual connections carry, trained and drawn in three pictures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.attention import write_page
from heedful.cli.options import DATA, Data, Device, Settings
from heedful.cli.screen import columns, note, say, warn
from heedful.cli.train import run_config, train_run
from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful.runs.config import RunConfig
    from heedful.seeing.looks import Look

PROBLEM, PRESET = "algorithmic_reverse_binary40", "transformer_algorithmic_tiny"
OUT = Path("runs/residuals")
TEXT = "1 0 1 1 0 0 1 0 1 1 1 0 0 0 1 0"
USUAL = (  # without residuals learning is slower: short sequences, small steps
    "problem.train_length=20",
    "problem.eval_length=20",
    "schedule.peak=2e-3",
)
ARMS = {  # the value of model.residuals, and what it is to a person
    "add": "with residuals",
    "none": "without residuals",
    "timing": "without, but with timing signals",
}


def residuals(
    problem: Annotated[
        str, typer.Argument(metavar="[PROBLEM]", help="See: heedful list problems.")
    ] = PROBLEM,
    preset: Annotated[
        str, typer.Option("--preset", metavar="NAME", help="A Transformer's preset.")
    ] = PRESET,
    text: Annotated[
        str, typer.Option("--text", metavar="TEXT", help="What the three models read.")
    ] = TEXT,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="For the runs, the picture, the page.")
    ] = OUT,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="Train each for so many steps.")
    ] = None,
    settings: Settings = None,
    device: Device = "auto",
    data: Data = DATA,
) -> None:
    """Train a Transformer with residuals, without, and without but told positions at each layer.

    Residuals carry, among other things, where a token stands: without them attention in higher
    layers loses the order of the tokens, and timing signals give it back. DIR holds residuals.png,
    residuals.html and the three runs; asked again, what is trained is used.

    \b
    Example:
      heedful residuals
      heedful residuals translate_demo_en_fr --preset transformer_demo --text "I like the cat."
    """
    if problem != PROBLEM and text == TEXT:
        raise UsageError(f"say with --text what the models of '{problem}' should read")
    usual = USUAL if (problem, preset) == (PROBLEM, PRESET) else ()
    changes = [*usual, *(settings or ())]
    if steps is not None:
        changes.append(f"training.steps={steps}")
    configs = {
        arm: run_config(problem, preset, [*changes, f"model.residuals={arm}"]) for arm in ARMS
    }
    looks = {arm: _look(out / arm, config, text, device, data) for arm, config in configs.items()}
    picture = out / "residuals.png"
    _draw(picture, looks)
    note(f"wrote {picture}")
    items = [{"look": look.to_json(), "name": ARMS[arm]} for arm, look in looks.items()]
    write_page(out / "residuals.html", "What residuals carry", items)
    rows = [(ARMS[arm], _scored(out / arm), look.target) for arm, look in looks.items()]
    say(columns([("model", "valid", "what it wrote"), *rows]))


def _look(out: Path, config: "RunConfig", text: str, device: str, data: Path) -> "Look":
    """What the model attends to, trained first where it is not."""
    import heedful
    from heedful.runs.folder import RunFolder
    from heedful.seeing.attention import look

    there = (out / "config.json").exists()
    if there:
        _, changed = RunFolder.open(out).config().changes(config)
        if changed:
            raise UsageError(f"{out} holds another run: {'; '.join(changed)}. Choose another --out")
    newest = RunFolder(out).checkpoints.newest(warn) if there else None
    if newest is None or (newest.step or 0) < config.preset.training.steps:
        note(f"training {out.name}: {config.preset.training.steps:,} steps")
        train_run(config, out, data, resume=there, device=device)
    return look(heedful.load(out, device=device), text)


def _scored(run: Path) -> str:
    """The loss at the end, and how much was right, where that was measured."""
    from heedful.seeing.history import records

    measured = [record["metrics"] for record in records(run) if record["kind"] == "evaluate"]
    names = [name for name in ("loss", "exact_match") if measured and name in measured[-1]]
    return ", ".join(f"{name} {measured[-1][name]['value']:.3g}" for name in names)


def _draw(path: Path, looks: "dict[str, Look]") -> None:
    """A column a model, a row a kind of attention: the last layer, the mean of its heads. All have
    one scale, so what is spread evenly is pale."""
    from heedful.viz.figures import Panel, heat_maps

    panels = []
    for kind in ("encoder", "cross"):
        for arm, look in looks.items():
            one = look.of(kind)
            rows, keys = ([t.strip() for t in side.tokens] for side in (one.queries, one.keys))
            title = f"{ARMS[arm]}\n{kind}, layer {len(one.layers)}"
            panels.append(Panel(title, rows, keys, one.mean(len(one.layers) - 1)))
    most = max(float(panel.weights.max()) for panel in panels)
    heat_maps(path, panels, columns=len(looks), most=most)
