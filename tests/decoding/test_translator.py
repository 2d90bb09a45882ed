import dataclasses

import pytest
import torch

from heedful.decoding import translator as translator_file
from heedful.decoding.translator import Translator
from heedful.errors import HeedfulError, UsageError
from heedful.models.building import build
from heedful.nn.losses import Smoothing
from heedful.nn.slate import tensors
from heedful.presets.base import Decode
from heedful.registry import presets
from heedful.text.specials import EOS
from heedful.text.symbols import SymbolTokenizer
from heedful.text.tagged import Addressed, TaggedTokenizer

CONFIG = Decode(beam=2, extra_length=3, batch_tokens=40, longest_input=12)
TEXTS = ["1 2 3", "4", "", "9 8 7 6 5 4 3 2 1", "2 2", "5 6 7 8", "   ", "3 1 4 1 5", "4"]
TAGS = ("same", "back")


@pytest.fixture
def symbols():
    tokenizer = SymbolTokenizer(30)
    return {"inputs": tokenizer, "targets": tokenizer}


@pytest.fixture
def model(toy):
    return toy(size=33, ending=-3.0, sharpness=6.0)


def test_outputs_come_in_the_order_of_the_texts(model, symbols):
    translator = Translator(model, symbols, CONFIG)
    together = translator.decode(TEXTS)
    alone = [translator.decode([text])[0] for text in TEXTS]
    assert [d.text for d in together] == [d.text for d in alone]
    assert [d.text for d in together] == translator.translate(TEXTS)
    assert len({d.text for d in together}) > 3
    assert together[1] == together[8]


def test_decoding_on_a_cpu_keeps_what_is_freed(model, symbols, monkeypatch):
    asked = []
    monkeypatch.setattr(translator_file, "keep_freed", lambda: asked.append(True))
    Translator(model, symbols, CONFIG, "meta")
    assert asked == []
    Translator(model, symbols, CONFIG)
    assert asked == [True]


def test_an_empty_line_gives_an_empty_line(model, symbols):
    found = Translator(model, symbols, CONFIG).decode(TEXTS)
    for place in (2, 6):
        assert found[place].text == "" and found[place].error is None
        assert found[place].hypotheses == () and found[place].score is None


def test_no_texts_give_nothing(model, symbols):
    assert Translator(model, symbols, CONFIG).decode([]) == []


def test_a_line_that_is_too_long_says_so_and_the_others_go_on(model, symbols):
    translator = Translator(model, symbols, CONFIG)
    texts = ["1 2", " ".join(["7"] * 13), " ".join(["7"] * 12)]
    found = translator.decode(texts)
    assert found[1].text == "" and "13 tokens" in found[1].error
    assert "longest_input is 12" in found[1].error
    assert found[0].error is None and found[2].error is None
    with pytest.raises(HeedfulError, match="text 2: the line has 13 tokens"):
        translator.translate(texts)


def test_a_line_that_cannot_be_read_says_so(model, symbols):
    found = Translator(model, symbols, CONFIG).decode(["1 2", "one two", "3"])
    assert "'one' is not one of this problem's symbols" in found[1].error
    assert found[0].error is None and found[2].error is None


def failing_on(model, number, error):
    """The model, but a batch whose sources hold a number fails."""
    start = model.start

    def fails(batch):
        if (batch.inputs.ids == number + 3).any():
            raise error
        return start(batch)

    model.start = fails
    return model


@pytest.mark.parametrize(
    "error", [RuntimeError("out of memory.\nTried to allocate"), MemoryError(), HeedfulError("no")]
)
def test_a_line_that_fails_is_found_and_the_others_go_on(model, symbols, error):
    expected = Translator(model, symbols, CONFIG).decode(TEXTS)
    found = Translator(failing_on(model, 9, error), symbols, CONFIG).decode(TEXTS)
    assert found[3].error.startswith("decoding a line of 10 tokens failed: ")
    assert "\n" not in found[3].error
    assert [d for d in found if d.error is None] == [d for i, d in enumerate(expected) if i != 3]


def test_a_row_of_no_numbers_is_reported_without_a_row_number(model, symbols):
    step = model.step
    model.step = lambda ids, memory: step(ids, memory) * float("nan")
    found = Translator(model, symbols, CONFIG).decode(["1 2"])
    assert found[0].error.startswith("at token 1 the model's logits are NaN")


def test_a_wrong_setting_is_an_error_and_not_a_line_that_fails(model, symbols):
    with pytest.raises(UsageError, match="attends to its source"):
        Translator(model, symbols, CONFIG).decode(["1"], dataclasses.replace(CONFIG, coverage=0.1))
    with pytest.raises(UsageError, match="decode.beam"):
        Translator(model, symbols, Decode(beam=0))


def test_batches_stay_under_the_budget_with_the_beam_counted(model, symbols):
    sizes = []
    start = model.start

    def watched(batch):
        sizes.append(batch.inputs.ids.numel())
        return start(batch)

    model.start = watched
    Translator(model, symbols, CONFIG).decode(TEXTS)
    assert len(sizes) > 1 and max(sizes) * CONFIG.beam <= CONFIG.batch_tokens
    sizes.clear()
    Translator(model, symbols, dataclasses.replace(CONFIG, batch_tokens=1)).decode(TEXTS)
    assert len(sizes) == 7  # a line that is over the budget goes alone


def test_one_long_line_among_many_takes_no_more_memory_than_they_do(symbols):
    torch.manual_seed(0)
    config = presets.get("transformer_tiny")().model
    sizes = {name: tokenizer.size for name, tokenizer in symbols.items()}
    real = build(config, sizes, True, Smoothing()).eval()
    step, held = real.step, []

    def watched(ids, memory):
        found = step(ids, memory)
        held.append(sum(x.numel() for x in tensors(memory)))
        return found

    real.step = watched
    settings = Decode(beam=4, extra_length=2, batch_tokens=256, longest_input=600)
    translator = Translator(real, symbols, settings)
    short = [" ".join(str((i * j) % 30) for j in range(2, 4 + i % 3)) for i in range(120)]

    def peak(texts):
        held.clear()
        assert all(line.error is None for line in translator.decode(texts))
        return max(held), len(held)

    usual, steps = peak(short)
    highest, more = peak([*short[:99], " ".join(["7"] * 99), *short[99:]])
    assert highest <= usual and more > steps + 80  # it was decoded, to its own length


def test_a_stream_gives_the_same_and_holds_one_window(model, symbols):
    config = dataclasses.replace(CONFIG, sample=True)
    translator = Translator(model, symbols, config)
    taken = []

    def lines():
        for text in TEXTS:
            taken.append(text)
            yield text + "\n"

    stream = translator.decode_stream(lines(), seed=3, window=4)
    first = next(stream)
    assert len(taken) == 4
    assert [first, *stream] == translator.decode(TEXTS, seed=3)
    assert translator.decode(TEXTS, seed=3) != translator.decode(TEXTS, seed=4)
    assert translator_file.WINDOW >= 1000


def test_nbest_come_with_pieces_and_their_scores(model, symbols):
    config = dataclasses.replace(CONFIG, beam=3, nbest=3)
    found = Translator(model, symbols, CONFIG).decode(["1 2 3"], config)[0]
    assert len(found.hypotheses) == 3
    assert (found.text, found.score) == (found.hypotheses[0].text, found.hypotheses[0].score)
    for candidate in found.hypotheses:
        assert len(candidate.pieces) == len(candidate.token_scores)
        shown = candidate.pieces[:-1] if candidate.finished else candidate.pieces
        assert candidate.text == " ".join(shown)


def test_a_prefix_of_text_begins_the_output(model, symbols):
    translator = Translator(model, symbols, CONFIG)
    found = translator.decode(["1 2 3", "4"], prefixes=["8 8", ""])
    assert found[0].text.startswith("8 8")
    assert found[1] == translator.decode(["4"])[0]
    with pytest.raises(UsageError, match="1 prefixes for 2 texts"):
        translator.decode(["1", "2"], prefixes=["3"])


def test_without_inputs_the_text_is_a_prompt(model, symbols):
    translator = Translator(model, {"targets": symbols["targets"]}, CONFIG)
    prompts = ["3 4 5", "6", "", " ".join("1" * 13)]
    found = translator.decode(prompts)
    assert [d.text.startswith(p) for d, p in zip(found[:3], prompts, strict=False)] == [True] * 3
    assert len(found[0].text.split()) <= 3 + CONFIG.extra_length
    assert "13 tokens" in found[3].error


def test_the_model_goes_to_the_device(symbols):
    class Real(torch.nn.Linear):
        pass

    translator = Translator(Real(2, 2), symbols, CONFIG, device="meta")
    assert translator.model.weight.device.type == "meta"


@pytest.fixture
def tagged():
    tokenizer = TaggedTokenizer(SymbolTokenizer(28), ("same", "back"))
    return {"inputs": tokenizer, "targets": tokenizer}


def test_the_tag_comes_first_and_decides(model, tagged):
    translator = Translator(model, tagged, CONFIG)
    lines = [translator._line(0, 0, *translator._addressed(["1 2\r\n"], to), "") for to in TAGS]
    assert [line.source for line in lines] == [[31, 4, 5, EOS], [32, 4, 5, EOS]]
    same, back = (translator.translate(TEXTS, to=to) for to in TAGS)
    assert same != back and same[2] == back[2] == ""
    assert [d.text for d in translator.decode_stream(TEXTS, to="back", window=2)] == back
    assert Translator(model, tagged, CONFIG, to="back").translate(TEXTS) == back
    assert Translator(model, tagged, CONFIG, to="back").translate(TEXTS, to="same") == same


def test_texts_that_are_addressed_go_where_they_say(model, tagged):
    translator = Translator(model, tagged, CONFIG)
    mixed = [Addressed(text, TAGS[i % 2]) for i, text in enumerate(TEXTS)]
    same, back = (translator.translate(TEXTS, to=to) for to in TAGS)
    assert translator.translate(mixed) == [(same, back)[i % 2][i] for i in range(len(TEXTS))]
    assert translator.translate(mixed, to="back") == back
    with pytest.raises(UsageError, match="say which"):
        translator.translate([*mixed, "1 2"])


def test_which_language_must_be_said_and_known(model, tagged, symbols):
    translator = Translator(model, tagged, CONFIG)
    with pytest.raises(UsageError, match=r"say which, with to=… .* It can be: same, back$"):
        translator.translate(TEXTS)
    with pytest.raises(UsageError, match="say which"):
        next(translator.decode_stream(TEXTS))
    with pytest.raises(UsageError, match="no tag for the language 'bak'. Close: back"):
        translator.decode(TEXTS, to="bak")
    plain = Translator(model, symbols, CONFIG)
    with pytest.raises(UsageError, match="cannot write 'back' on demand: this model was trained"):
        plain.translate(TEXTS, to="back")
    prompted = Translator(model, {"targets": symbols["targets"]}, CONFIG)
    with pytest.raises(UsageError, match="cannot write 'back'"):
        prompted.translate(TEXTS, to="back")
    assert plain.language() is None and translator.language("back") == "back"
