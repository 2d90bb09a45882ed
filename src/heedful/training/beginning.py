"""The beginning of a run: its folder, its lock, its data, and whether it goes on from somewhere."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from heedful.data.preparation import Prepared, Progress, prepare
from heedful.errors import HeedfulError, UsageError
from heedful.runs import durable
from heedful.runs.config import NAME, RunConfig
from heedful.runs.folder import RunFolder


def begin(
    held: ExitStack,
    config: RunConfig,
    out: Path,
    data_root: Path,
    resume: bool,
    allow_changes: bool,
    progress: Progress,
) -> dict[str, Any]:
    """Make or open the run folder, hold its lock, prepare the data, find where to go on.

    Gives {"data": folder of the prepared data, "checkpoint": step or None, "notes": for a person}.
    """
    notes: list[str] = []
    if resume and not (out / NAME).is_file():
        raise UsageError(
            f"nothing to resume: {out} is not a run folder. Leave --resume out to begin one"
        )
    folder = RunFolder.open(out) if resume else RunFolder.create(out)
    held.enter_context(folder.locked())
    folder.checkpoints.folder.mkdir(exist_ok=True)
    for name in durable.sweep(folder.path) + durable.sweep(folder.checkpoints.folder):
        notes.append(f"removed {name}, which was left half-done")
    if resume:
        notes += _changes(folder, config, allow_changes)
    else:
        RunFolder.create(out)  # now under the lock: no one may have begun a run in the meantime
    prepared = prepare(config.problem_name, config.problem, data_root, progress)
    for split, counts in prepared.info["splits"].items():
        if counts["empty"]:
            notes.append(f"{counts['empty']:,} pairs of {split} were left out: a side is empty")
    if resume:
        _same_data(folder, prepared, allow_changes)
    else:
        folder.write_vocabularies(config, prepared.tokenizer)
        folder.write_data(
            {"prepared": prepared.folder.name, "fingerprint": prepared.info["fingerprint"]}
        )
    folder.write_config(config)
    newest = folder.checkpoints.newest(notes.append) if resume else None
    if resume:
        notes.append(
            f"going on from {newest.name}" if newest else "no checkpoint yet: from the start"
        )
    return {"data": str(prepared.folder), "checkpoint": newest and newest.step, "notes": notes}


def _changes(folder: RunFolder, config: RunConfig, allow: bool) -> list[str]:
    """Notes on what may differ from the folder's config; an error about what may not."""
    free, bound = folder.config().changes(config)
    if bound and not allow:
        raise UsageError(
            f"{folder.path} was trained with another config: {'; '.join(bound)}. "
            "Resume with the same one, or allow the change (--allow-changes)"
        )
    return [f"changed on resuming: {line}" for line in free + bound]


def _same_data(folder: RunFolder, prepared: Prepared, allow: bool) -> None:
    was = folder.data().get("fingerprint")
    if was != prepared.info["fingerprint"] and not allow:
        raise UsageError(
            f"{folder.path} was trained on other data: {folder.data().get('prepared')}, now it is "
            f"{prepared.folder.name}. Restore the files, or allow the change (--allow-changes)"
        )
    for feature, path in folder.vocabularies().items():
        if path.read_bytes() != prepared.vocabulary(feature).read_bytes():
            raise HeedfulError(
                f"the vocabulary of '{feature}' in {path} is not that of the prepared data in "
                f"{prepared.folder}: a model cannot change its vocabulary. Train a new run"
            )
