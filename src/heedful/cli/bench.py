"""`heedful bench`: how fast this is, beside installed peers, in one run."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.bench_options import (
    Out,
    Peers,
    PresetName,
    Repeats,
    Seed,
    Warmup,
    numbers,
    told,
    words,
)
from heedful.cli.options import (
    DATA,
    Data,
    Device,
    Json,
    Plugins,
    Settings,
    load_plugins,
    split_settings,
)
from heedful.cli.progress import Progress
from heedful.cli.screen import note
from heedful.config import parse_settings
from heedful.errors import UsageError

bench = typer.Typer(rich_markup_mode=None, add_completion=False)


@bench.callback()
def main() -> None:
    """Measure speed and memory, beside the peers that are installed.

    Prints one table: medians over repeats, and the range of their middle half. Peers are not
    needed; pip install 'heedful[bench]' installs them.

    \b
    Example:
      heedful bench train
      heedful bench decode runs/demo --beam 4,1
      heedful bench attention --json
      heedful bench complexity --out results/bench-complexity.json --plot complexity.png
    """


@bench.command("train")
def bench_train(
    preset: PresetName = None,
    problem: Annotated[
        str | None,
        typer.Option("--problem", metavar="NAME", help="Real data in place of made-up pairs."),
    ] = None,
    vocabulary: Annotated[int, typer.Option(help="Of made-up pairs.")] = 32_000,
    tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Slots of a batch. 49,152 on a GPU, for made-up pairs."),
    ] = None,
    row: Annotated[
        int | None, typer.Option(min=1, help="Slots of a packed row. 1,024 on a GPU.")
    ] = None,
    dropout: Annotated[
        float | None,
        typer.Option(help="Of embeddings and of what each part adds. 0.1; the demo's 0."),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="fp32, bf16. On a CPU bf16 where training chooses it."),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            metavar="A,B", help="plain, captured, compiled. All on a GPU, plain on a CPU."
        ),
    ] = None,
    end_to_end: Annotated[
        int,
        typer.Option(
            "--end-to-end",
            metavar="STEPS",
            min=0,
            help="Also train so many steps as `heedful train` does, data path and all.",
        ),
    ] = 0,
    batches: Annotated[
        int | None, typer.Option(min=1, help="Batches that a round goes through.")
    ] = None,
    repeats: Repeats = None,
    warmup: Warmup = None,
    peers: Peers = None,
    compiled_peers: Annotated[
        bool | None,
        typer.Option(
            "--compiled-peers/--no-compiled-peers", help="Compile them, too. So on a GPU."
        ),
    ] = None,
    settings: Settings = None,
    seed: Seed = 1,
    device: Device = "auto",
    data: Data = DATA,
    out: Out = None,
    json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Training steps a second, beside torch.nn.Transformer, Hugging Face's Marian, x-transformers.

    A recurrent model is measured beside the same written by hand on torch.nn.LSTM or nn.GRU, with a
    loop over their cells where it looks at its source at every step.

    \b
    Example:
      heedful bench train
      heedful bench train --preset lstm_seq2seq_multi30k
      heedful bench train --preset transformer_big --mode compiled --precision bf16
      heedful bench train --problem translate_demo_en_fr --end-to-end 200 --peers none
    """
    load_plugins(plugin)
    from heedful.bench import defaults
    from heedful.bench import train as room
    from heedful.bench.beside import RIVALS, rivals_of
    from heedful.bench.matmul import Product
    from heedful.bench.rivals import chosen
    from heedful.distributed.processes import pick_device

    here, progress = pick_device(device), Progress()
    often = defaults.often(here)
    rounds = batches or often.batches
    of_problem, of_preset = split_settings(parse_settings(settings or ()))
    asked = defaults.Asked(
        preset=preset,
        problem=problem,
        vocabulary=vocabulary,
        tokens=tokens,
        row=row,
        dropout=dropout,
        seed=seed,
        of_preset=of_preset,
        of_problem=of_problem,
    )
    config = defaults.train_config(asked, here, rounds)
    rivals = chosen(peers, RIVALS) if peers else rivals_of(config.preset.model)
    measuring = room.Measuring(
        config=config,
        precisions=words(precision, room.usual_precisions(config.preset, here)),
        modes=words(mode, room.usual_modes(config.preset.model, here)),
        rivals=rivals,
        compiled_rivals=room.is_compiled(config.preset.model, here)
        if compiled_peers is None
        else compiled_peers,
        batches=rounds,
        repeats=repeats or often.repeats,
        warmup=often.warmup if warmup is None else warmup,
        product=Product.usual(here),
        end_to_end=end_to_end,
    )
    made = room.bench_train(measuring, here, Path(data), note, progress)
    progress.end()
    told(made, room.COLUMNS, RIVALS, here, out, json)


@bench.command("decode")
def bench_decode(
    run: Annotated[
        Path | None,
        typer.Argument(metavar="RUN", help="A run's folder. Without it: one trained for a moment."),
    ] = None,
    preset: PresetName = None,
    problem: Annotated[
        str | None,
        typer.Option("--problem", metavar="NAME", help="What is trained on without a RUN."),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="How long, without a RUN.")] = 300,
    checkpoint: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of RUN: latest, best, average or step-N.")
    ] = None,
    beam: Annotated[
        str, typer.Option(metavar="4,1", help="Each is measured; 1 is greedy.")
    ] = "4,1",
    batch: Annotated[
        int | None, typer.Option(min=1, help="Sentences. 256 on a GPU, 32 on a CPU.")
    ] = None,
    sentences: Annotated[
        int | None, typer.Option(min=1, help="Of the test split. 1,024 on a GPU, 128 on a CPU.")
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="float32, bfloat16, on a CPU int8. The first two on a GPU, float32 on a CPU.",
        ),
    ] = None,
    repeats: Repeats = None,
    warmup: Warmup = None,
    peers: Peers = None,
    settings: Settings = None,
    seed: Seed = 1,
    device: Device = "auto",
    data: Data = DATA,
    out: Out = None,
    json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Output tokens a second, beside Hugging Face and CTranslate2 with the same weights.

    \b
    Example:
      heedful bench decode runs/demo --beam 4,1
      heedful bench decode --preset transformer_base --batch 256 --peers huggingface
    """
    load_plugins(plugin)
    from heedful.bench import decode as room
    from heedful.bench import defaults
    from heedful.bench.rivals import chosen
    from heedful.distributed.processes import pick_device

    here, progress = pick_device(device), Progress()
    large = here.type == "cuda"
    rivals, beams = chosen(peers, room.RIVALS), numbers("--beam", beam)
    of_problem, of_preset = split_settings(parse_settings(settings or ()))
    if run is not None and (preset or problem or of_problem or of_preset):
        raise UsageError(
            f"{run} has its own preset and problem: leave --preset, --problem and --set out, or "
            "leave RUN out"
        )
    with tempfile.TemporaryDirectory(prefix="heedful-bench-") as folder:
        if run is None:
            config = defaults.stand_in_config(
                preset, problem, steps, seed, here, of_preset, of_problem
            )
            run = room.stand_in(config, Path(folder) / "stand-in", Path(data), here, note)
        measuring = room.Measuring(
            run=run,
            checkpoint=checkpoint,
            beams=beams,
            precisions=words(precision, ("float32", "bfloat16") if large else ("float32",)),
            rivals=rivals,
            batch=batch or (256 if large else 32),
            sentences=sentences or (1_024 if large else 128),
            repeats=repeats or 5,
            warmup=defaults.often(here).warmup if warmup is None else warmup,
        )
        made = room.bench_decode(measuring, here, Path(data), note, progress)
    progress.end()
    told(made, room.COLUMNS, room.RIVALS, here, out, json)


@bench.command("attention")
def bench_attention(
    length: Annotated[int | None, typer.Option(min=1, help="2,048 on a GPU.")] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Rows. 8 on a GPU.")] = None,
    heads: Annotated[int | None, typer.Option(min=1, help="8.")] = None,
    width: Annotated[int | None, typer.Option(min=1, help="Channels of a head: 64.")] = None,
    lengths: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="To see memory grow; none for none. To 32k on a GPU."),
    ] = None,
    lengths_batch: Annotated[int, typer.Option(min=1, help="Rows at those.")] = 1,
    packed: Annotated[
        int | None, typer.Option(min=0, help="Rows of packed sentences; 0 for none. 48 on a GPU.")
    ] = None,
    repeats: Repeats = None,
    peers: Peers = None,
    seed: Seed = 1,
    device: Device = "auto",
    out: Out = None,
    json: Json = False,
) -> None:
    """Time and memory of our attention kernels, beside PyTorch's flash attention.

    \b
    Example:
      heedful bench attention
      heedful bench attention --length 4096 --batch 4 --lengths none
    """
    from dataclasses import replace

    from heedful.bench import attention as room
    from heedful.bench import defaults
    from heedful.bench.rivals import chosen
    from heedful.distributed.processes import pick_device

    here = pick_device(device)
    usual = defaults.shape(here)
    shape = replace(
        usual,
        length=length or usual.length,
        batch=batch or usual.batch,
        heads=heads or usual.heads,
        width=width or usual.width,
    )
    wanted = defaults.lengths(here)
    if lengths is not None:
        wanted = () if lengths == "none" else numbers("--lengths", lengths)
    measuring = room.Measuring(
        shape=shape,
        lengths=wanted,
        lengths_batch=lengths_batch,
        rivals=chosen(peers, room.RIVALS),
        repeats=repeats or 10,
        seed=seed,
        packed=defaults.packed(here) if packed is None else packed,
    )
    made = room.bench_attention(measuring, here, note)
    told(made, room.COLUMNS, (), here, out, json)


@bench.command("complexity")
def bench_complexity(
    n: Annotated[str | None, typer.Option("--n", metavar="A,B", help="Lengths.")] = None,
    d: Annotated[str | None, typer.Option("--d", metavar="A,B", help="Widths.")] = None,
    k: Annotated[
        str | None, typer.Option("--k", metavar="A,B", help="Positions of a convolution.")
    ] = None,
    r: Annotated[
        str | None, typer.Option("--r", metavar="A,B", help="Reaches of restricted attention.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it, too: .png, .svg or .pdf.")
    ] = None,
    repeats: Repeats = None,
    seed: Seed = 1,
    device: Device = "auto",
    out: Out = None,
    json: Json = False,
) -> None:
    """How self-attention, recurrence, convolution and restricted attention grow, as exponents.

    Of each list the smallest but one is what the others are measured at.

    \b
    Example:
      heedful bench complexity --plot complexity.png
      heedful bench complexity --n 256,512,1024 --d 128,256 --k 3,7 --r 32,64
    """
    from heedful.bench import complexity as room
    from heedful.bench import defaults
    from heedful.bench.plot import draw
    from heedful.distributed.processes import pick_device

    here = pick_device(device)
    base, sweeps = defaults.sizes(here)
    for letter, given in {"n": n, "d": d, "k": k, "r": r}.items():
        if given is not None:
            sweeps[letter] = numbers(f"--{letter}", given)
            base = base._replace(**{letter: sorted(sweeps[letter])[:2][-1]})
    measuring = room.Measuring(
        base=base, sweeps=sweeps, dtype=defaults.dtype(here), repeats=repeats or 5, seed=seed
    )
    made = room.bench_complexity(measuring, here, note)
    told(made, room.COLUMNS, (), here, out, json)
    if plot is not None:
        draw(made.rows, plot)
        note(f"the picture is {plot}")
