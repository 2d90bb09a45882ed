"""An examination: prepare the data, look at it, try the run, and report."""

from pathlib import Path

from heedful.data.preparation import Progress, prepare, silent
from heedful.distributed.processes import pick_device
from heedful.doctor.checkup import READ, check_data
from heedful.doctor.report import Report
from heedful.doctor.trial import try_run
from heedful.runs.config import RunConfig


def examine(
    config: RunConfig,
    data_root: Path,
    *,
    device: str = "auto",
    examples: int = READ,
    progress: Progress = silent,
) -> Report:
    """Say what is so about a run before it begins. Data is prepared if it is not there.

    `examples` is how many texts of each split are read (0 for all); ids are looked at in any case.
    """
    place = pick_device(device)
    prepared = prepare(config.problem_name, config.problem, data_root, progress)
    checkup = check_data(config.problem_name, prepared, config.preset, examples, progress)
    trial = try_run(config, prepared, place, progress=progress)
    return Report(config.problem_name, config.preset_name, checkup, trial)
