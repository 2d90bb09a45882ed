import pytest

from heedful.data.batch import Batch, pad
from heedful.decoding.search import decode
from heedful.errors import UsageError
from heedful.presets.base import Decode
from heedful.text.specials import EOS

WAYS = {
    "greedy": Decode(beam=1, extra_length=4),
    "beam": Decode(beam=3, nbest=3, extra_length=4),
    "sampling": Decode(sample=True, nbest=3, extra_length=4),
    "careful sampling": Decode(sample=True, top_k=2, top_p=0.5, temperature=0.3, extra_length=4),
}
PREFIXES = [[7, 3, 5], [], [4], [11] * 8, [], [6, 6], [2]]


@pytest.mark.parametrize("way", WAYS)
def test_outputs_begin_with_their_prefix_and_its_score_is_counted(toy, sources, way):
    model = toy(size=12, ending=-1.0)
    found = decode(model, sources, WAYS[way], PREFIXES)
    free = decode(model, sources, WAYS[way])
    for row, prefix in enumerate(PREFIXES):
        source = sources.inputs.ids[row][sources.inputs.at.real[row]].tolist()
        for h in found[row]:
            assert list(h.ids[: len(prefix)]) == prefix
            memory = model.start(Batch({"inputs": pad([source])}))
            scores = model.step(_shifted(h.ids), memory)[0].log_softmax(-1)
            said = [*h.ids, EOS][: len(h.token_scores)]
            expected = scores[range(len(said)), said].tolist()
            assert h.token_scores == pytest.approx(expected, abs=1e-4)
        if not prefix:
            assert [h.ids for h in found[row]] == [h.ids for h in free[row]]


def _shifted(ids):
    return pad([[0, *ids]]).ids


def test_a_prefix_gives_room_of_its_own(toy):
    model = toy(size=12, ending=-50.0)
    batch = Batch({"inputs": pad([[5, 1]])})
    found = decode(model, batch, Decode(beam=2, extra_length=3), [[4] * 10])[0][0]
    assert len(found.ids) == 13


def test_a_prefix_alone_is_enough_for_a_model_without_a_source(toy):
    prompts = [[4, 5, 6], [7]]
    found = decode(toy(size=12), Batch({"targets": pad(prompts)}), Decode(beam=2), prompts)
    assert [list(row[0].ids[: len(p)]) for row, p in zip(found, prompts, strict=True)] == prompts


@pytest.mark.parametrize("bad", [[0], [1], [-3]])
def test_a_prefix_may_not_hold_padding_or_an_end(toy, sources, bad):
    with pytest.raises(UsageError, match="prefix of row 2"):
        decode(toy(size=12), sources, Decode(), [[], [], bad, [], [], [], []])


def test_a_prefix_beyond_the_vocabulary_is_refused(toy, sources):
    with pytest.raises(UsageError, match="the id 12, but the vocabulary has 12"):
        decode(toy(size=12), sources, Decode(), [[12], *[[]] * 6])


def test_as_many_prefixes_as_rows_are_asked_for(toy, sources):
    with pytest.raises(UsageError, match="2 prefixes for 7 rows"):
        decode(toy(size=12), sources, Decode(), [[3], [4]])
