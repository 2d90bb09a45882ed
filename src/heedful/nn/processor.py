"""What Linux says of the processor, its names and numbers; of the first where there are many."""

from pathlib import Path

ABOUT = Path("/proc/cpuinfo")


def processor() -> dict[str, str]:
    """What is said, by its name ("vendor_id", "cpu family", "model name"); nothing where nobody
    says anything."""
    try:
        lines = ABOUT.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    said: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        said.setdefault(name.strip(), value.strip())
    return said
