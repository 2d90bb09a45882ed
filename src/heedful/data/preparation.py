"""From a problem's raw examples to vocabularies and shards, once; afterwards they are only opened.

It streams: memory holds a few thousand examples, however many there are. A vocabulary is learnt
from the first examples of the training split (`SAMPLE_EXAMPLES` of them, or as many as come within
`SAMPLE_CHARACTERS`). An example with an empty side is left out, and counted.
"""

import hashlib
import json
import os
import random
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from filelock import AcquireReturnProxy, FileLock, Timeout

from heedful.config import from_json, to_json
from heedful.data.files import ReadsFiles, content_hash
from heedful.data.mixture import MEMBER, addressed, check_tags, members_of
from heedful.data.progress import Progress, silent
from heedful.data.replay import Replay
from heedful.data.shards import Shards, ShardWriter
from heedful.data.sources import FOLDER, Examples, Fetches
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TRAIN, Example, Problem
from heedful.registry import problems
from heedful.text.base import Tokenizer
from heedful.text.files import load

FORMAT = 1  # of the folder; a change here makes every problem anew
SAMPLE_EXAMPLES = 200_000
SAMPLE_CHARACTERS = 50_000_000
_CHUNK_EXAMPLES = 4_096  # encoded at a time, or fewer if they are long
_CHUNK_CHARACTERS = 1_000_000

Column = list[str | list[int]]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A prepared problem on disk."""

    folder: Path
    problem: Problem
    info: dict[str, Any]  # as in info.json: counts by split, sizes of vocabularies

    @classmethod
    def open(cls, folder: Path, problem: Problem | None = None) -> "Prepared":
        """What `prepare` wrote there; an error if any of it is missing or cut short."""
        info = _read_info(folder)
        if problem is None:
            kind = type(problems.get(info["problem"]["name"])())
            problem = from_json(kind, info["problem"]["fields"], "problem")
        return cls(folder, problem, info)

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(self.info["features"])

    def split(self, name: str) -> Shards:
        if name not in self.info["splits"]:
            raise UsageError(f"no split '{name}'. There are: {', '.join(self.info['splits'])}")
        return Shards(self.folder, name)

    def tokenizer(self, feature: str) -> Tokenizer:
        return load(self.vocabulary(feature))

    def vocabulary(self, feature: str) -> Path:
        """The file of a feature's vocabulary."""
        return self.folder / "vocab" / f"{self.info['features'][feature]['vocabulary']}.json"


def fingerprint(name: str, problem: Problem, seed: int = 0) -> str:
    """What prepared data depends on, as a hash: the problem, its fields, its files, our format."""
    depends = {
        "format": FORMAT,
        "name": name,
        "seed": seed,
        "version": problem.version,
        "fields": to_json(problem),
        "features": {f: to_json(feature) for f, feature in problem.features.items()},
        "sample": [SAMPLE_EXAMPLES, SAMPLE_CHARACTERS],
    }
    if isinstance(problem, ReadsFiles):
        depends["files"] = [content_hash(path) for path in problem.files()]
    if members := members_of(problem):
        marks = {k: fingerprint(one.name, one.problem, seed) for k, one in members.items()}
        depends["members"] = marks
    return hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()


def prepare(
    name: str, problem: Problem, root: Path, progress: Progress = silent, seed: int = 0
) -> Prepared:
    """Make a problem's vocabularies and shards under `root`, or open them where they are made.

    Written beside and renamed, under a lock: it is whole or not there, whoever else is at it.
    """
    mark = fingerprint(name, problem, seed)
    folder = Path(root) / f"{name}-{mark[:8]}"
    if folder.exists():
        try:
            return _reuse(folder, problem, mark)
        except HeedfulError:
            pass  # said below, by whoever gets to mend it
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _only_one(folder, progress):
            if folder.exists():
                try:
                    return _reuse(folder, problem, mark)
                except HeedfulError as error:
                    progress(0, f"preparing again: {error}")
                    shutil.rmtree(folder)
            partial = folder.with_name(folder.name + ".partial")
            shutil.rmtree(partial, ignore_errors=True)  # of one that was killed
            try:
                read = source_of(problem, root, progress)
                _make(partial, name, problem, read, mark, seed, progress)
                os.replace(partial, folder)
            except BaseException:
                shutil.rmtree(partial, ignore_errors=True)
                raise
    except OSError as error:
        raise HeedfulError(
            f"cannot prepare '{name}' in {root}: {error.strerror or error}. Is there room, and may "
            "you write there?"
        ) from error
    return Prepared.open(folder, problem)


def _reuse(folder: Path, problem: Problem, mark: str) -> Prepared:
    prepared = Prepared.open(folder, problem)
    if prepared.info["fingerprint"] != mark:
        raise HeedfulError(f"{folder} was prepared from something else")
    return prepared


def _only_one(folder: Path, progress: Progress) -> AcquireReturnProxy:
    """A held lock, let go at the end of `with`; the system does so for a process that dies."""
    lock = FileLock(folder.with_name(folder.name + ".lock"))
    try:
        return lock.acquire(blocking=False)
    except Timeout:
        progress(0, f"waiting for another process that prepares {folder.name}")
        return lock.acquire()


def source_of(problem: Problem, root: Path, progress: Progress = silent) -> Examples:
    """Where a problem's raw examples come from; what must be downloaded for it, is."""
    if isinstance(problem, Fetches):
        return problem.fetch(Path(root) / FOLDER, progress)
    return problem.examples


def _make(
    folder: Path,
    name: str,
    problem: Problem,
    read: Examples,
    mark: str,
    seed: int,
    progress: Progress,
) -> None:
    def examples(split: str) -> Iterator[Example]:
        rng = random.Random(f"{name}/{split}/{seed}")
        return islice(read(split, rng), problem.sizes[split])

    tags = {label: member.tag for label, member in members_of(problem).items()}
    vocab = folder / "vocab"
    vocab.mkdir(parents=True)
    tokenizers: dict[str, Tokenizer] = {}
    splits = {}
    # Making examples can be the long part of it, so those the vocabulary was learnt from are kept.
    with closing(Replay(examples(TRAIN), folder / "sample.jsonl")) as train:
        for vocabulary, names in _vocabularies(problem).items():
            note = f"learning the vocabulary '{vocabulary}'"
            texts = _sample(train.first(SAMPLE_EXAMPLES), names, note, progress)
            tokenizer = problem.features[names[0]].text.train(texts)
            tokenizer.save(vocab / f"{vocabulary}.json")
            tokenizers.update(dict.fromkeys(names, tokenizer))
        if "inputs" in tokenizers:
            check_tags(name, tokenizers["inputs"].tags, tags)
        for split in problem.sizes:
            writer = ShardWriter(folder, split, list(problem.features), split != TRAIN, tags)
            with writer:
                source = train.all() if split == TRAIN else examples(split)
                source = addressed(source, tags) if tags else source
                empty = _write(writer, source, tokenizers, progress)
            if split == TRAIN and not writer.examples:
                raise HeedfulError(f"problem '{name}' has no training examples to prepare")
            splits[split] = {
                "examples": writer.examples,
                "empty": empty,  # left out
                "tokens": writer.tokens,
                "longest": writer.longest,
                **({"members": writer.members} if tags else {}),  # examples of each
            }
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    info = {
        "format": FORMAT,
        "fingerprint": mark,
        "problem": {"name": name, "fields": to_json(problem)},
        "seed": seed,
        "features": {f: to_json(feature) for f, feature in problem.features.items()},
        "vocabularies": {
            feature.vocabulary: tokenizers[f].size for f, feature in problem.features.items()
        },
        "splits": splits,
        "files": {str(path.relative_to(folder)): path.stat().st_size for path in files},
    }
    text = json.dumps(info, indent=1, ensure_ascii=False) + "\n"
    (folder / "info.json").write_text(text, encoding="utf-8")


def _vocabularies(problem: Problem) -> dict[str, list[str]]:
    """The features of each vocabulary; they must ask for the same one."""
    groups: dict[str, list[str]] = {}
    for name, feature in problem.features.items():
        group = groups.setdefault(feature.vocabulary, [])
        if group and problem.features[group[0]].text != feature.text:
            raise UsageError(
                f"{group[0]} and {name} share the vocabulary '{feature.vocabulary}' but ask for "
                f"{problem.features[group[0]].text} and {feature.text}. Give each its own"
            )
        group.append(name)
    return groups


def _sample(
    examples: Iterator[Example], names: Sequence[str], note: str, progress: Progress
) -> Iterator[str]:
    """The texts a vocabulary is learnt from: the first of the training split."""
    characters = 0
    for done, example in enumerate(examples):
        if done % _CHUNK_EXAMPLES == 0:
            progress(done, note)
        for name in names:
            text = as_text(example[name])
            characters += len(text)
            yield text
        if characters >= SAMPLE_CHARACTERS:
            return


def _write(
    writer: ShardWriter,
    examples: Iterator[Example],
    tokenizers: dict[str, Tokenizer],
    progress: Progress,
) -> int:
    """Encode examples into a split, in order; how many were left out for an empty side.

    One chunk is encoded in a thread while the next is being made: encoders work outside of Python.
    """
    done = empty = 0
    note = f"writing the {writer.split} split"
    progress(0, note)
    with ThreadPoolExecutor(1) as pool:
        waiting = None
        columns = (*writer.features, MEMBER) if writer.members else writer.features
        for chunk in _chunks(examples, columns):
            job = pool.submit(_encode, chunk, tokenizers)
            if waiting is not None:
                empty += _add(writer, *waiting)
                progress(done, note)
            waiting = chunk, job.result
            done += len(chunk[writer.features[0]])
        if waiting is not None:
            empty += _add(writer, *waiting)
    progress(done, note)
    return empty


def _chunks(examples: Iterator[Example], features: Sequence[str]) -> Iterator[dict[str, Column]]:
    columns: dict[str, Column] = {name: [] for name in features}
    count = size = 0
    for example in examples:
        for name, column in columns.items():
            value = example[name]
            column.append(value)
            size += len(value)
        count += 1
        if count >= _CHUNK_EXAMPLES or size >= _CHUNK_CHARACTERS:
            yield columns
            columns = {name: [] for name in features}
            count = size = 0
    if count:
        yield columns


def _encode(
    chunk: dict[str, Column], tokenizers: dict[str, Tokenizer]
) -> dict[str, list[list[int]]]:
    return {name: one.encode_many(chunk[name]) for name, one in tokenizers.items()}  # type: ignore[arg-type]


def _add(writer: ShardWriter, chunk: dict[str, Column], encoded: Any) -> int:
    ids: dict[str, list[list[int]]] = encoded()
    count = len(chunk[writer.features[0]])
    full = [
        i
        for i in range(count)
        if all(ids[name][i] and not _blank(chunk[name][i]) for name in writer.features)
    ]
    if len(full) < count:
        ids = {name: [column[i] for i in full] for name, column in ids.items()}
    raw = None
    if writer.raw:
        raw = {name: [as_text(chunk[name][i]) for i in full] for name in writer.features}
    members = [as_text(chunk[MEMBER][i]) for i in full] if writer.members else ()
    if full:
        writer.write(ids, raw, members)
    return count - len(full)


def _blank(value: str | list[int]) -> bool:
    return isinstance(value, str) and not value.strip()


def as_text(value: str | list[int]) -> str:
    """The text form of a raw value: symbols are written with spaces between."""
    return value if isinstance(value, str) else " ".join(map(str, value))


def _read_info(folder: Path) -> dict[str, Any]:
    remedy = "prepare the problem again"
    try:
        info = json.loads((folder / "info.json").read_text(encoding="utf-8"))
        version, files = info["format"], dict(info["files"])
        sizes = {name: (folder / name).stat().st_size for name in files}
    except FileNotFoundError as error:
        raise HeedfulError(f"{error.filename} is missing: {remedy}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HeedfulError(f"{folder / 'info.json'} is damaged ({error}): {remedy}") from error
    if version != FORMAT:
        raise HeedfulError(
            f"{folder} is in format {version}, and this heedful reads {FORMAT}: {remedy}"
        )
    for name, size in files.items():
        if sizes[name] != size:
            raise HeedfulError(
                f"{folder / name} is damaged, with {sizes[name]:,} bytes of {size:,}: {remedy}"
            )
    return dict(info)
