"""`list` and `show`, and the JSON that scripts rely on."""

import pytest


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("problems", "algorithmic_reverse_binary40"),
        ("problems", "own_files"),
        ("problems", "translate_demo_en_fr"),
        ("models", "transformer"),
        ("presets", "transformer_demo"),
    ],
)
def test_lists_are_json_records_with_a_description(heedful, kind: str, name: str) -> None:
    answer = heedful("list", kind, "--json")
    records = answer.json()
    assert answer.status == 0
    assert all(set(r) >= {"name", "description"} and r["description"] for r in records)
    assert name in [record["name"] for record in records]


def test_a_pattern_chooses_names(heedful) -> None:
    lines = heedful("list", "problems", "algorithmic_reverse_*").lines
    assert lines and all(line.startswith("algorithmic_reverse_") for line in lines)


def test_a_pattern_that_matches_nothing_is_said_on_stderr(heedful) -> None:
    answer = heedful("list", "presets", "zebra*")
    assert (
        answer.status == 0
        and answer.out == ""
        and "no preset has a name like 'zebra*'" in answer.err
    )
    assert heedful("list", "presets", "zebra*", "--json").json() == []


def test_no_name_means_two_things() -> None:
    from heedful.registry import models, presets, problems

    names = [*models.names(), *presets.names(), *problems.names()]
    assert len(names) == len(set(names))


def test_show_says_where_each_value_of_a_preset_came_from(heedful) -> None:
    shown = heedful("show", "transformer_tiny", "--set", "model.heads=8", "--json").json()
    come_from = {field["field"]: (field["value"], field["from"]) for field in shown["fields"]}
    assert (shown["name"], shown["kind"]) == ("transformer_tiny", "preset")
    assert come_from["model.dim"] == (128, "preset transformer_tiny")
    assert come_from["schedule.warmup"] == (8000, "preset transformer_base")
    assert come_from["optim.weight_decay"] == (0.0, "default")
    assert come_from["model.heads"] == (8, "--set")


def test_show_of_a_problem_has_its_features_splits_and_metrics(heedful) -> None:
    name = "algorithmic_reverse_binary40"
    shown = heedful("show", name, "--set", "problem.test_examples=7", "--json").json()
    assert set(shown["features"]) == {"inputs", "targets"}
    assert shown["splits"]["test"] == 7
    assert "exact_match" in shown["metrics"] and shown["best_by"] in shown["metrics"]
    text = heedful("show", name, "--set", "test_examples=7").out
    assert "7 examples" in text and "symbols (size 2)" in text and "--set" in text


def test_show_of_a_model_has_its_fields(heedful) -> None:
    shown = heedful("show", "transformer", "--json").json()
    fields = {field["field"]: field["from"] for field in shown["fields"]}
    assert shown["kind"] == "model" and fields["dim"] == "default"


@pytest.mark.parametrize("kind", ["presets", "problems", "models"])
def test_everything_that_is_listed_can_be_shown(heedful, kind: str) -> None:
    for record in heedful("list", kind, "--json").json():
        answer = heedful("show", record["name"])
        assert answer.status == 0 and answer.out.startswith(f"{record['name']}: a {kind[:-1]}. ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["transformer_bas"],
            "no preset, problem, model or claim named 'transformer_bas'. Close: transformer_base",
        ),
        (["transformer_base_v3"], "that is Tensor2Tensor's name. Here it is: transformer_base"),
        (["transformer_tiny", "--set", "model.dmi=3"], "has no field 'dmi'. Close: dim."),
        (
            ["transformer_tiny", "--set", "model.dim=wide"],
            "model.dim must be a whole number, got 'wide'",
        ),
        (["transformer_tiny", "--set", "model.dim"], "--set takes FIELD=VALUE"),
        (["transformer_tiny", "--set", "optim=adamm"], "optim has no kind 'adamm'. Close: adam."),
    ],
)
def test_a_name_or_field_that_is_not_there_names_the_nearest(
    heedful, arguments: list[str], said: str
) -> None:
    answer = heedful("show", *arguments)
    assert answer.status == 2 and said in answer.err and answer.err.count("\n") == 1
