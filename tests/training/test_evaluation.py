"""Evaluation of a trained run: real decoding, the numbers beside what they belong to."""

import json
import math

import pytest
import torch

from heedful.data.preparation import prepare
from heedful.errors import HeedfulError, UsageError
from heedful.runs.loading import load_model
from heedful.training.evaluation import Evaluator, evaluate, merit


def test_an_evaluation_says_what_was_measured_and_on_what(whole):
    report = evaluate(whole.root / "run", whole.data, device="cpu", decode={"beam": "2"})
    assert report["problem"] == "algorithmic_identity_binary40" and report["split"] == "test"
    assert report["examples"] == 6 and report["seed"] == 1 and report["decode"]["beam"] == 2
    assert {"name", "step", "sha256"} <= set(report["checkpoint"])
    assert {"loss", "perplexity", "exact_match", "token_accuracy"} <= set(report["metrics"])
    json.dumps(report)


def test_evaluating_the_last_checkpoint_gives_what_training_logged(whole):
    logged = [line for line in whole.log("run") if line["kind"] == "evaluate"][-1]["metrics"]
    report = evaluate(
        whole.root / "run",
        whole.data,
        split="valid",
        checkpoint="step-12",
        examples=4,
        device="cpu",
    )
    assert report["metrics"] == logged


def test_the_split_trained_on_can_be_evaluated_from_its_ids(whole):
    report = evaluate(whole.root / "run", whole.data, split="train", examples=3, device="cpu")
    assert report["examples"] == 3


def test_a_split_that_is_not_there_is_said(whole):
    with pytest.raises(UsageError, match="no split 'tset'"):
        evaluate(whole.root / "run", whole.data, split="tset", device="cpu")


def test_the_loss_is_that_of_the_model_on_every_token(whole):
    model, tokenizers, config, _ = load_model(whole.root / "run", "latest")
    prepared = prepare(config.problem_name, config.problem, whole.data)
    evaluator = Evaluator(config, prepared, tokenizers, torch.device("cpu"))
    model.train()
    measured = evaluator.measure(model, "valid", 2)
    assert model.training
    model.eval()
    shards, nll, tokens = prepared.split("valid"), 0.0, 0
    from heedful.data.batch import Batch, pad

    for i in range(len(shards)):
        rows = {name: pad([ids.tolist()]) for name, ids in shards.example(i).items()}
        loss = model.loss(Batch(rows))
        nll, tokens = nll + loss.nll.item(), tokens + int(loss.weight)
    assert measured["loss"]["value"] == pytest.approx(nll / tokens, rel=1e-4)
    assert measured["perplexity"]["value"] == pytest.approx(math.exp(nll / tokens), rel=1e-4)
    assert evaluator.measure(model, "nowhere") == {}


def test_lines_that_cannot_be_decoded_are_counted(whole):
    report = evaluate(whole.root / "run", whole.data, device="cpu", decode={"longest_input": 2})
    assert report["metrics"]["undecoded"]["value"] > 0


def test_on_other_data_outputs_are_scored_and_the_loss_is_left_out(whole):
    path = whole.root / "run" / "data.json"
    before, warned = path.read_text(), []
    path.write_text(before.replace('"fingerprint": "', '"fingerprint": "0'))
    try:
        report = evaluate(whole.root / "run", whole.data, device="cpu", warn=warned.append)
    finally:
        path.write_text(before)
    assert "exact_match" in report["metrics"] and "loss" not in report["metrics"]
    assert "not what" in warned[0]


def test_among_equals_the_lower_loss_is_better_and_no_number_is_worst():
    def found(match, loss):
        return {"exact_match": {"value": match}, "loss": {"value": loss}}

    order = [found(math.nan, 0.1), found(0.0, 3.0), found(0.0, 2.0), found(5.0, 4.0)]
    assert sorted([order[i] for i in (2, 0, 3, 1)], key=lambda m: merit(m, "exact_match")) == order
    assert merit(found(0, 2.0), "loss") > merit(found(0, 3.0), "loss")


def test_a_run_without_examples_to_evaluate_says_so(whole, monkeypatch):
    monkeypatch.setattr(Evaluator, "measure", lambda *args, **options: {})
    with pytest.raises(HeedfulError, match="has no examples to evaluate"):
        evaluate(whole.root / "run", whole.data, device="cpu")
