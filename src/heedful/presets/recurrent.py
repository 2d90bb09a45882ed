"""Presets of recurrent models: tiny ones, ones for little data, and the papers'.

The papers trained with Adadelta or plain gradient descent; these presets have Adam, and say so.
Rows hold one sequence each, so that a library's kernel can compute all of its steps.
"""

from heedful.config import vary
from heedful.data.batching import Bucketed
from heedful.models.gnmt import GNMTConfig
from heedful.models.recurrent_lm import RecurrentLMConfig
from heedful.models.rnn_encoder_decoder import RNNEncoderDecoderConfig, Seq2SeqConfig
from heedful.models.rnn_search import RNNSearchConfig
from heedful.nn.cells import GRU, LSTM
from heedful.nn.losses import Smoothing
from heedful.optim.adam import Adam
from heedful.optim.schedules import Cosine
from heedful.presets.base import Decode, Preset, Training
from heedful.registry import presets

LUONG = RNNSearchConfig(
    dim=1000,
    hidden=1000,
    layers=4,
    cell=LSTM(),
    reading="backward",
    bridge="same",
    query="current",
    feed=True,
    output="tanh",
    dropout=0.2,
)


# For little data: read both ways, and one table of vectors for all.
LUONG_SMALL = vary(LUONG, {"reading": "both", "tie": "all", "score": "general"})


@presets.register("recurrent_lm_tiny")
def lm_tiny() -> Preset:
    """Two LSTM layers of 64: seconds on one core."""
    return Preset(
        model=RecurrentLMConfig(dim=32, hidden=64, layers=2, dropout=0.1),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=5e-3, warmup=100, steps=1_200),
        batch=Bucketed(tokens=1_024, longest=128),
        decode=Decode(beam=1, extra_length=2),
        training=Training(steps=1_200, clip=1.0, evaluate_every=600),
    )


@presets.register("recurrent_lm_recall")
def lm_recall() -> Preset:
    """Two LSTM layers of 64 without dropout, for recalling what came far back."""
    return vary(
        lm_tiny(),
        {
            "model": RecurrentLMConfig(dim=64, layers=2, dropout=0.0),
            "loss": Smoothing(amount=0.0),
            "schedule": Cosine(peak=3e-3, warmup=100, steps=1_000),
            "batch": Bucketed(tokens=4_096, longest=512),
            "training.steps": 1_000,
            "training.evaluate_every": 500,
        },
    )


@presets.register("recurrent_lm_ptb")
def lm_ptb() -> Preset:
    """Zaremba's medium model for the Penn Treebank: two LSTM layers of 650, half dropped.

    Departs from the paper: Adam with a cosine in place of gradient descent, and every example
    begins with nothing remembered.
    """
    return Preset(
        model=RecurrentLMConfig(dim=650, layers=2, dropout=0.5),
        loss=Smoothing(amount=0.0),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=1e-3, warmup=400, steps=12_000),
        batch=Bucketed(tokens=4_096, longest=256, multiple=8),
        decode=Decode(beam=1),
        training=Training(steps=12_000, clip=5.0, precision="fp32", evaluate_every=1_000),
    )


@presets.register("rnn_encoder_decoder_tiny")
def rnn_encoder_decoder_tiny() -> Preset:
    """Cho's model with 64 units: seconds on one core."""
    return vary(lm_tiny(), {"model": RNNEncoderDecoderConfig(dim=32, hidden=64, maxout=32)})


@presets.register("lstm_seq2seq_tiny")
def lstm_seq2seq_tiny() -> Preset:
    """Two LSTM layers of 64 that read and two that write: seconds on one core."""
    return vary(lm_tiny(), {"model": Seq2SeqConfig(dim=32, hidden=64, layers=2, dropout=0.1)})


@presets.register("rnn_search_tiny")
def rnn_search_tiny() -> Preset:
    """Bahdanau's model with 32 units: seconds on one core."""
    return vary(lm_tiny(), {"model": RNNSearchConfig(dim=32, hidden=32, maxout=32)})


@presets.register("luong_tiny")
def luong_tiny() -> Preset:
    """Luong's model with two LSTM layers of 32: seconds on one core."""
    small = {"dim": 32, "hidden": 32, "layers": 2, "dropout": 0.1}
    return vary(lm_tiny(), {"model": vary(LUONG, small)})


@presets.register("gnmt_tiny")
def gnmt_tiny() -> Preset:
    """GNMT with four and four layers of 32: seconds on one core."""
    return vary(lm_tiny(), {"model": GNMTConfig(dim=32, hidden=32, layers=4, dropout=0.1)})


@presets.register("lstm_seq2seq_copy")
def lstm_seq2seq_copy() -> Preset:
    """One LSTM layer of 128 that reads from the end and one that writes, for copying digits."""
    return Preset(
        model=Seq2SeqConfig(dim=64, hidden=128, layers=1),
        loss=Smoothing(amount=0.0),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=2e-3, warmup=0, steps=1_600),
        batch=Bucketed(tokens=1_024, longest=64),
        decode=Decode(beam=1, extra_length=2),
        training=Training(steps=1_600, clip=1.0, evaluate_every=800),
    )


@presets.register("lstm_search_copy")
def lstm_search_copy() -> Preset:
    """As `lstm_seq2seq_copy`, with an encoder that reads both ways and additive attention."""
    model = RNNSearchConfig(
        dim=64,
        hidden=128,
        cell=LSTM(),
        bridge="linear",
        query="current",
        feed=True,
        output="tanh",
    )
    return vary(lstm_seq2seq_copy(), {"model": model})


@presets.register("rnn_search_demo")
def rnn_search_demo() -> Preset:
    """Bahdanau's model with 128 units, for the demo's grammar: minutes on two CPU cores.

    The decoder begins with nothing, so that the first word has to be looked for too; and what was
    said before is heard through dropout, so that it does not do instead of looking.
    """
    return Preset(
        model=RNNSearchConfig(
            dim=128, hidden=128, bridge="none", maxout=128, cell=GRU(), dropout=0.3
        ),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=3e-3, warmup=200, steps=2_400),
        batch=Bucketed(tokens=1_024, longest=64),
        decode=Decode(beam=4, alpha=0.6, extra_length=20),
        training=Training(
            steps=2_400, clip=1.0, evaluate_every=600, checkpoint_every=100, average=5
        ),
    )


@presets.register("rnn_encoder_decoder_demo")
def rnn_encoder_decoder_demo() -> Preset:
    """Cho's model with 160 units, for little data: minutes on two CPU cores."""
    model = RNNEncoderDecoderConfig(dim=128, hidden=160, maxout=128, tie="all", dropout=0.3)
    return vary(rnn_search_demo(), {"model": model})


@presets.register("lstm_seq2seq_demo")
def lstm_seq2seq_demo() -> Preset:
    """Sutskever's model with two LSTM layers of 128, for little data: minutes on two CPU cores."""
    model = Seq2SeqConfig(dim=128, hidden=128, layers=2, tie="all", dropout=0.3)
    return vary(rnn_search_demo(), {"model": model})


@presets.register("luong_demo")
def luong_demo() -> Preset:
    """Luong's model with an LSTM layer of 128, for little data: minutes on two CPU cores."""
    changes = {"dim": 128, "hidden": 128, "encoder_hidden": 64, "layers": 1, "dropout": 0.3}
    return vary(rnn_search_demo(), {"model": vary(LUONG_SMALL, changes)})


@presets.register("rnn_search_multi30k")
def rnn_search_multi30k() -> Preset:
    """Bahdanau's model for the 29,000 captions of Multi30k: GRUs of 512, half dropped.

    Widths and dropout are those of tutorials on this data.
    """
    return Preset(
        model=RNNSearchConfig(
            dim=256, hidden=512, maxout=256, tie="all", cell=GRU(), dropout=0.5, one_mask=True
        ),
        loss=Smoothing(amount=0.1, style="torch"),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=2e-3, warmup=400, steps=4_000),
        batch=Bucketed(tokens=8_192, longest=128, multiple=8),
        decode=Decode(beam=5, alpha=1.0, extra_length=50),
        training=Training(
            steps=4_000,
            clip=1.0,
            precision="fp32",
            evaluate_every=1_000,
            checkpoint_every=200,
            keep_last=5,
            average=5,
        ),
    )


@presets.register("rnn_encoder_decoder_multi30k")
def rnn_encoder_decoder_multi30k() -> Preset:
    """Cho's model for Multi30k: GRUs of 512, and one vector for a sentence."""
    model = RNNEncoderDecoderConfig(dim=256, hidden=512, maxout=256, tie="all", dropout=0.5)
    return vary(rnn_search_multi30k(), {"model": model})


@presets.register("lstm_seq2seq_multi30k")
def lstm_seq2seq_multi30k() -> Preset:
    """Sutskever's model for Multi30k: two LSTM layers of 512, the source read from its end."""
    model = Seq2SeqConfig(dim=256, hidden=512, layers=2, tie="all", dropout=0.5)
    return vary(rnn_search_multi30k(), {"model": model})


@presets.register("luong_multi30k")
def luong_multi30k() -> Preset:
    """Luong's model for Multi30k: two LSTM layers of 512, global attention, input feeding."""
    changes = {
        "dim": 256,
        "hidden": 512,
        "encoder_hidden": 256,
        "layers": 2,
        "dropout": 0.5,
        "one_mask": True,
    }
    return vary(rnn_search_multi30k(), {"model": vary(LUONG_SMALL, changes)})


@presets.register("gnmt_multi30k")
def gnmt_multi30k() -> Preset:
    """GNMT for Multi30k: four and four LSTM layers of 256, at half the others' rate."""
    model = GNMTConfig(dim=256, hidden=256, layers=4, tie="all", dropout=0.3, one_mask=True)
    changes = {"model": model, "schedule.peak": 1e-3, "decode.coverage": 0.2}
    return vary(rnn_search_multi30k(), changes)


@presets.register("rnn_encoder_decoder_paper")
def rnn_encoder_decoder_paper() -> Preset:
    """Cho's model of 2014: GRUs of 1,000, embeddings of 100, maxout of 500."""
    return Preset(
        model=RNNEncoderDecoderConfig(),
        loss=Smoothing(amount=0.0),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=1e-3, warmup=1_000, steps=250_000),
        batch=Bucketed(tokens=2_048, longest=64, multiple=8),
        decode=Decode(beam=10, alpha=0.0, extra_length=50),
        training=Training(steps=250_000, clip=1.0),
    )


@presets.register("lstm_seq2seq_paper")
def lstm_seq2seq_paper() -> Preset:
    """Sutskever's model of 2014: four LSTM layers of 1,000, the source read from its end."""
    return vary(
        rnn_encoder_decoder_paper(),
        {
            "model": Seq2SeqConfig(),
            "batch.tokens": 4_096,
            "decode.beam": 12,
            "training.clip": 5.0,
        },
    )


@presets.register("rnn_search_paper")
def rnn_search_paper() -> Preset:
    """Bahdanau's model of 2014: GRUs of 1,000 each way, embeddings of 620, maxout of 500."""
    return vary(rnn_encoder_decoder_paper(), {"model": RNNSearchConfig()})


@presets.register("luong_paper")
def luong_paper() -> Preset:
    """Luong's best single model of 2015: four LSTM layers of 1,000, local attention by choice."""
    model = vary(LUONG, {"score": "general", "window": "predictive", "window.width": 10})
    return vary(lstm_seq2seq_paper(), {"model": model, "decode.beam": 10})


@presets.register("gnmt_paper")
def gnmt_paper() -> Preset:
    """GNMT of 2016: eight and eight LSTM layers of 1,024, residuals from the third."""
    return vary(
        lstm_seq2seq_paper(),
        {
            "model": GNMTConfig(),
            "schedule": Cosine(peak=2e-4, warmup=1_000, steps=350_000),
            "decode": Decode(beam=10, alpha=0.2, coverage=0.2, prune=3.0, extra_length=50),
            "training.steps": 350_000,
        },
    )


@presets.register("lstm_seq2seq")
def lstm_seq2seq() -> Preset:
    """Tensor2Tensor's lstm_seq2seq: two LSTM layers of 128, the source read from its end."""
    return vary(
        lstm_seq2seq_paper(),
        {"model": Seq2SeqConfig(dim=128, layers=2, dropout=0.2), "decode": Decode()},
    )


@presets.register("lstm_bahdanau_attention")
def lstm_bahdanau_attention() -> Preset:
    """Tensor2Tensor's lstm_bahdanau_attention: additive score, in Luong's order."""
    small = {"dim": 128, "hidden": 128, "layers": 2, "output": "linear"}
    return vary(lstm_seq2seq(), {"model": vary(LUONG, small)})


@presets.register("lstm_luong_attention")
def lstm_luong_attention() -> Preset:
    """Tensor2Tensor's lstm_luong_attention: the score is a product with a learnt matrix."""
    return vary(lstm_bahdanau_attention(), {"model.score": "general"})
