"""Where values come from, on a registry of our own."""

from dataclasses import dataclass, field

from heedful.cli.provenance import defaults, made_by, origins
from heedful.config import Choice, vary
from heedful.registry import Registry


@dataclass(frozen=True)
class Pace(Choice):
    pass


@dataclass(frozen=True)
class Slow(Pace, kind="slow"):
    warmup: int = 10


@dataclass(frozen=True)
class Fast(Pace, kind="fast"):
    warmup: int = 1


@dataclass(frozen=True)
class Config:
    dim: int
    heads: int = 2
    pace: Pace = field(default_factory=Slow)


def registry() -> Registry[Config]:
    shelf: Registry[Config] = Registry("preset", "heedful.presets")
    shelf._walked = True  # nothing but what this test registers

    @shelf.register("base")
    def base() -> Config:
        return Config(dim=8, heads=4)

    @shelf.register("wide")
    def wide() -> Config:
        return vary(base(), {"dim": 16})

    return shelf


def test_each_value_names_who_set_it_last() -> None:
    made = made_by(registry(), "wide")
    final = vary(made[-1][1], {"pace": "fast"})
    assert [name for name, _ in made] == ["base", "wide"]
    assert origins(made, final, "preset") == {
        "dim": "preset wide",
        "heads": "preset base",
        "pace.kind": "--set",
        "pace.warmup": "--set",
    }


def test_a_value_nobody_set_is_a_default() -> None:
    made = made_by(registry(), "base")
    assert origins(made, made[-1][1], "preset")["pace.warmup"] == "default"


def test_a_field_that_must_be_set_has_no_default() -> None:
    assert defaults(Config(dim=8)) == {"heads": 2, "pace.kind": "slow", "pace.warmup": 10}


def test_another_choice_brings_its_own_defaults() -> None:
    assert defaults(Config(dim=8, pace=Fast()))["pace.warmup"] == 1
