import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.seeing.attention import look
from heedful.seeing.panels import panels
from heedful.seeing.words import joined

TEXT, TARGET = "The cow ate the hay.", "it was hungry"


def test_all_heads_of_the_last_layer_that_reads_the_source(make) -> None:
    seen = look(make(), TEXT, TARGET)
    found = panels(seen)
    assert [panel.title for panel in found] == ["cross, layer 2, head 1", "cross, layer 2, head 2"]
    for panel, weights in zip(found, seen.of("cross").layers[1].weights, strict=True):
        np.testing.assert_allclose(panel.weights, weights)
        assert "".join(panel.columns).startswith("Thecow")


def test_words_are_joined_where_asked(make) -> None:
    seen = look(make(), TEXT, TARGET)
    (panel,) = panels(seen, "encoder", 0, 1, words=True)
    one = seen.of("encoder")
    assert panel.title == "encoder, layer 1, head 2"
    assert panel.rows == panel.columns == ["The", "cow", "ate", "the", "hay", ".", "<eos>"]
    expected = joined(one.layers[0].weights[1], one.queries, one.keys)
    np.testing.assert_allclose(panel.weights, expected)


def test_a_mean_a_rollout_and_an_alignment(make) -> None:
    seen = look(make(), TEXT, TARGET)
    one = seen.of("decoder")
    (mean,), (rolled,) = panels(seen, "decoder", 0, "mean"), panels(seen, "decoder", 1, "rollout")
    np.testing.assert_allclose(mean.weights, one.layers[0].weights.mean(0), atol=1e-6)
    np.testing.assert_allclose(rolled.weights, one.rollout[1])
    (aligned,) = panels(seen, "alignment")
    np.testing.assert_allclose(aligned.weights, seen.alignment()[2])


def test_what_a_model_has_not_cannot_be_drawn(make) -> None:
    alone = look(make("transformer_lm", source=False), TEXT)
    assert panels(alone)[0].title == "decoder, layer 2, head 1"
    with pytest.raises(UsageError, match="no source to be aligned to"):
        panels(alone, "alignment")
    with pytest.raises(UsageError, match="no rollout"):
        panels(look(make(pool="strided:2"), TEXT, TARGET), "encoder", head="rollout")
