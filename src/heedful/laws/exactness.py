"""One model, many ways to run it, one answer: cached, batched, padded, packed, saved, compiled."""

import copy
import tempfile
import warnings
from pathlib import Path

import torch
from safetensors.torch import load_model, save_model
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.data.batch import Batch, Rows
from heedful.decoding.beam import beam_search
from heedful.decoding.prefix import Prefix
from heedful.decoding.recorded import Recorded
from heedful.decoding.search import decode
from heedful.laws.base import VOCABULARY, LawBroken, Pair, Subject, law, same
from heedful.models.base import shift_right
from heedful.nn.layout import Layout
from heedful.nn.low import relay
from heedful.presets.base import Decode
from heedful.text.specials import EOS, PAD, START


@law
def pieces_equal_the_whole(subject: Subject) -> None:
    """Decoding token by token, or in any pieces, gives the logits of the whole at once."""
    batch = subject.batch(subject.pairs(4))
    whole = subject.model.logits(batch)
    ids, real = shift_right(batch.targets), batch.targets.at.real
    length = ids.shape[1]
    for cuts in ([length], [1] * length, [2, 1] + [1] * (length - 3)):
        if sum(cuts) != length:
            continue  # a label and its end cannot be cut so
        memory = subject.model.start(batch)
        pieces = torch.cat([subject.model.step(piece, memory) for piece in ids.split(cuts, 1)], 1)
        same(pieces[real], whole[real], f"decoding in pieces of {cuts}, and at once")


@law
def layers_are_used_by_calling_them(subject: Subject) -> None:
    """Linear layers may be replaced by others of the same weights, as products in bf16 are."""
    batch = subject.batch(subject.pairs(4))
    relaid = copy.deepcopy(subject.model)
    relay(relaid, Relaid)
    try:
        logits = relaid.logits(batch)
    except AttributeError as error:
        raise LawBroken(f"{subject.name} does not only call its linear layers: {error}") from error
    same(logits, subject.model.logits(batch), "logits with layers replaced, and without")


class Relaid(nn.Module):
    """A linear layer that has nothing of one but its weights."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


@law
def a_batch_equals_its_rows(subject: Subject) -> None:
    """What stands beside a row in a batch does not matter to it."""
    pairs = subject.pairs(5, seed=1)
    together = subject.model.logits(subject.batch(pairs))
    for row, pair in enumerate(pairs):
        alone = subject.model.logits(subject.batch([pair]))[0]
        same(together[row, : len(pair.targets)], alone, f"row {row} in a batch, and alone")


@law
def padding_changes_nothing(subject: Subject) -> None:
    """Padding on either side changes no logits and no loss."""
    pairs = subject.pairs(4, seed=2)
    plain, padded = subject.batch(pairs), subject.batch(pairs, extra=5)
    length, real = plain.targets.ids.shape[1], plain.targets.at.real
    one, other = subject.model.logits(plain), subject.model.logits(padded)[:, :length]
    same(one[real], other[real], "logits without and with padding")
    same(
        subject.model.loss(plain).sum,
        subject.model.loss(padded).sum,
        "loss without and with padding",
        1e-8,
    )


@law
def packing_changes_nothing(subject: Subject) -> None:
    """Several pairs packed in a row have the loss and the logits that each has in its own."""
    pairs = subject.pairs(6, seed=3)
    packed = Batch({name: _pack(pairs, name) for name in ("inputs", "targets")})
    padded = subject.batch(pairs)
    same(
        subject.model.loss(packed).sum,
        subject.model.loss(padded).sum,
        "loss packed, and padded",
        1e-8,
    )
    logits = subject.model.logits(packed)
    one = logits[packed.targets.at.real]
    other = subject.model.logits(padded)[padded.targets.at.real]
    same(one, other, "logits packed, and padded")


@law
def memory_follows_its_rows(subject: Subject) -> None:
    """After rows are reordered, widened or dropped, each goes on as if it had been there before."""
    batch = subject.batch(subject.pairs(3, seed=4))
    ids = shift_right(batch.targets)[:, :2]
    memory = subject.model.start(batch)
    subject.model.step(ids[:, :1], memory)
    rows = torch.tensor([2, 0, 0])
    memory.select(rows)
    moved = subject.model.step(ids[rows, 1:], memory)
    memory = subject.model.start(batch)
    subject.model.step(ids[:, :1], memory)
    stayed = subject.model.step(ids[:, 1:], memory)
    same(moved, stayed[rows], "rows moved after a step, and rows moved after all steps")


@law
def outputs_of_one_source_read_it_together(subject: Subject) -> None:
    """Several outputs that share a source's row go on as if each had one of its own."""
    batch = subject.batch(subject.pairs(3, seed=10))
    ids = shift_right(batch.targets)[:, :2]
    rows = torch.tensor([0, 0, 1, 1, 2, 2])
    apart, together = subject.model.start(batch), subject.model.start(batch)
    for memory in (apart, together):
        subject.model.step(ids[:, :1], memory)
    apart.select(rows)
    together.reorder(rows)
    same(
        subject.model.step(ids[rows, 1:], together),
        subject.model.step(ids[rows, 1:], apart),
        "outputs that share a source, and outputs with one each",
    )


@law
def saved_and_loaded_is_the_same(subject: Subject) -> None:
    """Written to safetensors and read into a fresh model: the same logits, bit for bit."""
    batch = subject.batch(subject.pairs(3, seed=5))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.safetensors")
        save_model(subject.model, path)
        other = subject.fresh().double().eval()
        with torch.no_grad():
            for parameter in other.parameters():
                parameter.zero_()
        load_model(other, path)
    same(other.logits(batch), subject.model.logits(batch), "saved, and loaded", tolerance=0.0)


@law
def traced_equals_eager(subject: Subject) -> None:
    """The graph that `torch.compile` takes of the loss, gradients included, is the loss."""
    batch = subject.batch(subject.pairs(4, seed=6))
    torch._dynamo.reset()
    traced = torch.compile(subject.model.loss, backend="aot_eager", fullgraph=True)
    weight = subject.model.head.embedding.weight
    with warnings.catch_warnings():  # of PyTorch about its own tracing of functions with gradients
        warnings.filterwarnings("ignore", ".*should not be instantiated")
        one = traced(batch)
    other = subject.model.loss(batch)
    same(one.sum.detach(), other.sum.detach(), "loss traced, and eager", 1e-8)
    (left,), (right,) = torch.autograd.grad(one.sum, weight), torch.autograd.grad(other.sum, weight)
    same(left, right, "gradient traced, and eager", 1e-8)


@law
def a_wide_beam_finds_the_best(subject: Subject) -> None:
    """A beam wide enough to hold everything finds what trying everything finds."""
    longest = 3
    pair = subject.pairs(1, seed=7, longest=longest)[0]
    batch = subject.batch([pair])
    for alpha in (0.0, 0.6, 1.5):
        wide = Decode(beam=VOCABULARY ** (longest - 1), alpha=alpha)
        with torch.no_grad():
            found = beam_search(subject.model, batch, [longest], Prefix.of(None, 1, "cpu"), wide)[
                0
            ][0]
        score, ids = _best_of_all(subject, batch, alpha, longest)
        if found.ids != ids:
            raise LawBroken(
                f"alpha {alpha}: a wide beam found {found.ids}, trying all {ids} ({score:.4f})"
            )


@law
def recorded_steps_find_the_same(subject: Subject) -> None:
    """A search over memory that is written in place finds what one over memory that grows does.

    Where a memory does not grow by a token a step, no step is recorded.
    """
    batch = subject.batch(subject.pairs(5, seed=13))
    source = Batch({"inputs": batch.inputs})
    recorded = Recorded(subject.model)
    for beam in (1, 3):
        config = Decode(beam=beam, extra_length=3)
        for _ in range(2):  # the second time on what the first has left
            plain = decode(subject.model, source, config)
            found = decode(subject.model, source, config, recorded=recorded)
            if [row[0].ids for row in found] != [row[0].ids for row in plain]:
                raise LawBroken(f"a beam of {beam} finds other outputs with recorded steps")


@law
def cuda_agrees_with_cpu(subject: Subject) -> None:
    """Where there is a GPU, it gives what the CPU gives."""
    if not torch.cuda.is_available():
        return
    batch = subject.batch(subject.pairs(4, seed=8))
    there = subject.fresh().double().eval().cuda().logits(batch.to("cuda")).cpu()
    here = subject.model.logits(batch)
    same(there, here, "on GPU, and on CPU", 1e-6)  # sines are in single precision on both


def _pack(pairs: list[Pair], name: str) -> Rows:
    """Half of the pairs in each of two rows, with padding at the end."""
    rows: list[tuple[list[int], list[int], list[int]]] = []
    half = (len(pairs) + 1) // 2
    for group in (pairs[:half], pairs[half:]):
        ids: list[int] = []
        positions: list[int] = []
        segments: list[int] = []
        for number, pair in enumerate(group, start=1):
            sequence = getattr(pair, name)
            ids += sequence
            positions += range(len(sequence))
            segments += [number] * len(sequence)
        rows.append((ids, positions, segments))
    width = max(len(ids) for ids, _, _ in rows) + 2
    columns = [
        [part + [PAD] * (width - len(part)) for part in parts] for parts in zip(*rows, strict=True)
    ]
    ids_, positions_, segments_ = (torch.tensor(column) for column in columns)
    return Rows(ids_, Layout(positions_, segments_))


@torch.no_grad()
def _best_of_all(
    subject: Subject, batch: Batch, alpha: float, longest: int
) -> tuple[float, tuple[int, ...]]:
    """Every sequence of up to `longest` ids that ends, scored; the best one without its end."""
    best: tuple[float, tuple[int, ...]] = (float("-inf"), ())
    alive: list[tuple[int, ...]] = [()]
    totals: dict[tuple[int, ...], float] = {(): 0.0}
    for length in range(1, longest + 1):
        memory = subject.model.start(batch)
        memory.select(torch.zeros(len(alive), dtype=torch.long))
        ids = torch.tensor([(START, *prefix) for prefix in alive])
        logits: Tensor = subject.model.step(ids, memory)[:, -1]
        logits[:, PAD] = float("-inf")  # never said
        logp = logits.log_softmax(-1).tolist()
        grown: list[tuple[int, ...]] = []
        for prefix, row in zip(alive, logp, strict=True):
            for symbol in range(1, VOCABULARY):
                total = totals[prefix] + row[symbol]
                if symbol == EOS:
                    score = total / ((5 + length) / 6) ** alpha
                    best = max(best, (score, prefix))
                else:
                    grown.append((*prefix, symbol))
                    totals[(*prefix, symbol)] = total
        alive = grown
    return best
