"""Subwords: frequent words whole, rare ones in parts, over the `tokenizers` library.

All three algorithms work on bytes: a text becomes its UTF-8 bytes, each written as one printable
character of `ALPHABET`, and words keep the space before them. So there is no unknown text, nothing
is normalised, and `decode(encode(text)) == text` for any text. The special ids are named with
characters that no byte is written as, so no text can be encoded as one of them.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from tokenizers import Regex, models, pre_tokenizers, trainers
from tokenizers import Tokenizer as Engine

from heedful.errors import HeedfulError, UsageError
from heedful.text import unigram
from heedful.text.base import Text, Tokenizer, readable, usable, utf8
from heedful.text.specials import NAMES, RESERVED, UNK, UNKNOWN

Algorithm = Literal["bpe", "wordpiece", "unigram"]

ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())  # 256 characters, one a byte
CONTINUED = "‿"  # begins a WordPiece that goes on a word; not a character of the alphabet
SPECIAL = ["⟨pad⟩", "⟨eos⟩", "⟨unk⟩"]  # the brackets are not characters of the alphabet either
LONGEST_WORD = 64  # bytes; WordPiece's greedy search takes quadratic time in the length of a word


@dataclass(frozen=True)
class Subwords(Text, kind="subwords"):
    """Pieces of words, learnt from the training text.

    bpe: Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units",
    ACL 2016, https://arxiv.org/abs/1508.07909. wordpiece: Schuster and Nakajima, "Japanese and
    Korean Voice Search", ICASSP 2012, as merges with the longest match first. unigram: Kudo,
    "Subword Regularization", ACL 2018, https://arxiv.org/abs/1804.10959.
    """

    algorithm: Algorithm = "bpe"
    size: int = 8_000  # how many ids at most, the special ones counted; a small text gives fewer

    def __post_init__(self) -> None:
        least = RESERVED + len(ALPHABET) * (2 if self.algorithm == "wordpiece" else 1)
        if self.size < least:
            raise UsageError(
                f"subwords by {self.algorithm} need a size of at least {least}, which the special "
                f"ids and the single bytes take, got {self.size}. For less, use bytes or characters"
            )

    def train(self, texts: Iterable[str]) -> "SubwordTokenizer":
        engine = _TRAINERS[self.algorithm](usable(texts), self.size)
        return SubwordTokenizer(engine, self.algorithm)


class SubwordTokenizer(Tokenizer):
    """Ids of subwords."""

    kind: ClassVar[str] = "subwords"
    lossless: ClassVar[bool] = True

    def __init__(self, engine: Engine, algorithm: Algorithm) -> None:
        self.algorithm = algorithm
        self.size = engine.get_vocab_size()
        self._engine = engine
        names = [engine.id_to_token(i) or "" for i in range(self.size)]
        if names[:RESERVED] != SPECIAL or not all(names) or engine.get_added_tokens_decoder():
            raise HeedfulError(
                "this vocabulary of subwords does not begin with the special ids of heedful, has "
                "ids without a piece, or looks for special words in the text. Train it with heedful"
            )
        self._bytes = [UNKNOWN.encode(), *map(_spelled, names[RESERVED:])]  # from UNK on
        self._continues = [name.startswith(CONTINUED) for name in names]

    def encode(self, text: str) -> list[int]:
        utf8(text)
        ids: list[int] = self._engine.encode(text, add_special_tokens=False).ids
        return ids

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        for text in texts:
            utf8(text)
        found = self._engine.encode_batch_fast(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in found]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of these ids; what a model wrote that is no UTF-8 becomes U+FFFD."""
        return b"".join(self._bytes[i - UNK] for i in self._spoken(ids)).decode("utf-8", "replace")

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Each id as a person would like to see it; `##` marks a WordPiece that goes on a word."""
        return [
            NAMES[i]
            if i < RESERVED
            else ("##" if self._continues[i] else "") + readable(self._bytes[i - UNK])
            for i in self._known(ids)
        ]

    def to_json(self) -> dict[str, Any]:
        return {"algorithm": self.algorithm, "tokenizer": json.loads(self._engine.to_str())}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        if data["algorithm"] not in _TRAINERS:
            raise HeedfulError(
                f"there are no subwords by '{data['algorithm']}'. Known are: {', '.join(_TRAINERS)}"
            )
        text = json.dumps(data["tokenizer"], ensure_ascii=False)
        try:
            engine = Engine.from_str(text)
        except Exception as error:  # the library raises nothing narrower
            raise ValueError(str(error)) from error
        return cls(engine, data["algorithm"])


def _train_bpe(texts: Iterator[str], size: int) -> Engine:
    engine = Engine(models.BPE())
    engine.pre_tokenizer = _words()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        special_tokens=SPECIAL,
        initial_alphabet=ALPHABET,
        show_progress=False,
    )
    engine.train_from_iterator(texts, trainer)
    return _without_added(engine)


def _train_wordpiece(texts: Iterator[str], size: int) -> Engine:
    cut = pre_tokenizers.Split(Regex(f".{{1,{LONGEST_WORD}}}"), "isolated")
    words = pre_tokenizers.Sequence([_words(), cut])
    engine = Engine(models.WordPiece(unk_token=SPECIAL[UNK]))
    engine.pre_tokenizer = words
    # The trainer numbers continuing bytes in the order of a hash map with a random seed, and breaks
    # ties by number: named as special tokens they get their numbers from this list instead.
    # (huggingface/tokenizers#1794)
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=2,
        special_tokens=[*SPECIAL, *(CONTINUED + character for character in ALPHABET)],
        initial_alphabet=ALPHABET,
        continuing_subword_prefix=CONTINUED,
        show_progress=False,
    )
    engine.train_from_iterator(texts, trainer)
    model = models.WordPiece(
        engine.get_vocab(with_added_tokens=True),
        unk_token=SPECIAL[UNK],
        continuing_subword_prefix=CONTINUED,
        max_input_chars_per_word=LONGEST_WORD,
    )
    engine = Engine(model)
    engine.pre_tokenizer = words
    return engine


def _train_unigram(texts: Iterator[str], size: int) -> Engine:
    splitter = _words()
    words: Counter[str] = Counter()
    for text in texts:
        words.update(word for word, _ in splitter.pre_tokenize_str(text))
    pieces = unigram.train(words, size - RESERVED, ALPHABET)
    special = [(name, 0.0) for name in SPECIAL]
    engine = Engine(models.Unigram([*special, *pieces], unk_id=UNK))
    engine.pre_tokenizer = splitter
    return engine


_TRAINERS: dict[str, Callable[[Iterator[str], int], Engine]] = {
    "bpe": _train_bpe,
    "wordpiece": _train_wordpiece,
    "unigram": _train_unigram,
}


def _words() -> pre_tokenizers.ByteLevel:
    """Words with the space before them, numbers, marks and white space apart, as bytes."""
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


def _without_added(engine: Engine) -> Engine:
    """The same model, not looking for the names of special ids in raw text."""
    return Engine.from_str(json.dumps({**json.loads(engine.to_str()), "added_tokens": []}))


def _spelled(name: str) -> bytes:
    """The bytes that a piece of the vocabulary is written for."""
    return bytes(_BYTES[character] for character in name.removeprefix(CONTINUED))


def _byte_of_each_character() -> dict[str, int]:
    """How the library writes bytes: a printable Latin-1 character as itself, the others from
    U+0100 on, in order."""
    itself = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in itself]
    written = {chr(byte): byte for byte in itself}
    return written | {chr(0x100 + i): byte for i, byte in enumerate(others)}


_BYTES = _byte_of_each_character()

# The library encodes on all cores, and its threads do not survive a fork. So: all cores here, one
# in forked processes, said by the library's own variable before it can warn that nobody said it.
_PARALLEL = "TOKENIZERS_PARALLELISM"
_set_by_us: list[bool] = []


def _before_fork() -> None:
    _set_by_us.append(_PARALLEL not in os.environ)
    os.environ.setdefault(_PARALLEL, "false")


def _after_fork_in_parent() -> None:
    if _set_by_us and _set_by_us.pop():
        os.environ.pop(_PARALLEL, None)


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent)
