from dataclasses import dataclass, field
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.config import Choice, difference, flat, from_json, parse_settings, to_json, vary
from heedful.errors import UsageError
from heedful.presets.base import Preset
from heedful.registry import presets


class Shape(Choice):
    pass


@dataclass(frozen=True, kw_only=True)
class Round(Shape, kind="round"):
    radius: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Square(Shape, kind="square"):
    side: int = 2


@dataclass(frozen=True, kw_only=True)
class Inner:
    dim: int = 4
    ratio: float = 0.5
    deep: bool = False
    betas: tuple[float, float] = (0.9, 0.98)
    files: tuple[str, ...] = ()
    style: Literal["one", "two"] = "one"
    limit: int | None = None


@dataclass(frozen=True, kw_only=True)
class Outer:
    inner: Inner = field(default_factory=Inner)
    shape: Shape = field(default_factory=Round)
    name: str = "x"


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("inner.dim", "256", 256),
        ("inner.dim", "1_000", 1000),
        ("inner.ratio", "1e-3", 1e-3),
        ("inner.ratio", 2, 2.0),
        ("inner.deep", "true", True),
        ("inner.deep", "no", False),
        ("inner.betas", "0.5, 0.6", (0.5, 0.6)),
        ("inner.files", "a.txt,b.txt", ("a.txt", "b.txt")),
        ("inner.files", "", ()),
        ("inner.style", "two", "two"),
        ("inner.limit", "7", 7),
        ("inner.limit", "none", None),
        ("name", "12", "12"),
        ("shape", "square", Square()),
        ("shape", {"kind": "square", "side": 5}, Square(side=5)),
    ],
)
def test_a_setting_is_read_as_its_fields_type(path, text, value) -> None:
    varied = vary(Outer(), {path: text})
    for name in path.split("."):
        varied = getattr(varied, name)
    assert varied == value and type(varied) is type(value)


def test_settings_apply_in_order_so_a_choice_can_be_made_and_then_tuned() -> None:
    varied = vary(Outer(), {"shape": "square", "shape.side": "9"})
    assert varied.shape == Square(side=9)
    assert Outer().shape == Round()


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("inner.dimm", 1, "Inner has no field 'dimm'. Close: dim. It has: dim, ratio"),
        ("iner.dim", 1, "Outer has no field 'iner'. Close: inner"),
        ("inner.dim", "wide", "inner.dim must be a whole number, got 'wide'"),
        ("inner.dim", 1.5, "must be a whole number"),
        ("inner.dim", True, "must be a whole number"),
        ("inner.deep", "maybe", "must be true or false"),
        ("inner.style", "three", "must be one of one, two"),
        ("inner.betas", "0.9", "must have 2 values, got 1"),
        ("inner.files", 3, "must be a list"),
        ("inner.limit", "many", "a whole number or none"),
        ("shape", "squar", "has no kind 'squar'. Close: square. It can be: round, square"),
        ("name.first", "x", "has no fields of its own"),
        ("name", 3, "must be a word"),
        ("inner", "x", "must be a Inner"),
    ],
)
def test_what_cannot_be_set_is_explained(path, value, says) -> None:
    with pytest.raises(UsageError) as caught:
        vary(Outer(), {path: value})
    assert says in str(caught.value)


def test_settings_are_read_from_words() -> None:
    assert parse_settings(["a.b=1", " c = x=y"]) == {"a.b": "1", "c": "x=y"}
    for bad in ("a.b", "=3"):
        with pytest.raises(UsageError, match="FIELD=VALUE"):
            parse_settings([bad])


@given(
    dim=st.integers(),
    ratio=st.floats(allow_nan=False),
    files=st.lists(st.text(), max_size=3),
    shape=st.one_of(
        st.builds(Round, radius=st.floats(allow_nan=False)), st.builds(Square, side=st.integers())
    ),
    limit=st.none() | st.integers(),
)
def test_any_config_round_trips_through_json(dim, ratio, files, shape, limit) -> None:
    inner = Inner(dim=dim, ratio=ratio, files=tuple(files), limit=limit)
    config = Outer(inner=inner, shape=shape)
    assert from_json(Outer, to_json(config)) == config


@pytest.mark.parametrize("name", presets.names())
def test_every_preset_round_trips_through_json(name) -> None:
    preset = presets.get(name)()
    assert from_json(Preset, to_json(preset)) == preset


def test_json_that_does_not_fit_is_explained() -> None:
    with pytest.raises(UsageError, match="has no field 'colour'"):
        from_json(Outer, {"colour": 1})
    with pytest.raises(UsageError, match="must be an object"):
        from_json(Outer, [1])
    with pytest.raises(TypeError, match="plain values"):
        to_json({"x": object()})


def test_a_difference_names_each_leaf_that_changed() -> None:
    before = Outer()
    after = vary(before, {"inner.dim": 8, "shape": "square"})
    assert difference(before, after) == [
        "inner.dim: 4 → 8",
        'shape.kind: "round" → "square"',
        "shape.radius: 1.0 → (gone)",
        "shape.side: (new) → 2",
    ]
    assert difference(before, before) == []


def test_flat_names_every_leaf_by_the_path_that_sets_it() -> None:
    assert flat(Outer())["inner.betas"] == [0.9, 0.98]
    assert flat({"a": {"b": 1}}) == {"a.b": 1}
