"""How well the vocabulary fits the text: what it does not know, and how finely it must cut."""

from collections.abc import Iterator

import numpy as np

from heedful.doctor.finding import SHOWN, Case, Finding, Level, graded, percent
from heedful.doctor.texts import Reader, Texts, evenly
from heedful.problems.base import TRAIN
from heedful.text.base import Tokenizer
from heedful.text.specials import RESERVED, UNK

SPELT = 0.3  # share of tokens that are single letters, from which a vocabulary fits badly
FINE = 4.0  # tokens a word, the same
CHUNK = 1 << 13  # examples whose ids are looked at together
LONG_WORDS = 12  # characters a word, from which words are not set apart by spaces


class Fertility:
    """Tokens for each word and each character of the training text."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.shards = reader.prepared.split(TRAIN)
        self.words = dict.fromkeys(reader.textual, 0)
        self.characters = dict.fromkeys(reader.textual, 0)
        self.tokens = dict.fromkeys(reader.textual, 0)

    def see(self, split: str, index: int, texts: Texts) -> None:
        if split != TRAIN:
            return
        for feature in self.words:
            self.words[feature] += len(texts[feature].split())
            self.characters[feature] += len(texts[feature])
            self.tokens[feature] += int(self.shards.lengths[feature][index]) - 1

    def findings(self) -> Iterator[Finding]:
        for feature, tokens in self.tokens.items():
            words, characters = self.words[feature], self.characters[feature]
            if not words:
                continue
            tokenizer = self.reader.tokenizers[feature]
            spaced = characters / words < LONG_WORDS
            fine = tokenizer.kind == "subwords" and spaced and tokens / words > FINE
            yield Finding(
                "warning" if fine else "ok",
                f"fertility_{feature}",
                f"{feature}: {tokens / words:.2f} tokens a word, {tokens / characters:.2f} a "
                f"character, by {tokenizer.kind} of {tokenizer.size:,}",
                tokens / words,
                "Long for a model to read: use a larger vocabulary (problem.text.size), or one of "
                "its own for each side"
                if fine
                else "",
            )


class Unknown:
    """Ids that stand for nothing the vocabulary knows; of bytes, letters that stand alone."""

    def __init__(self, reader: Reader, most: int) -> None:
        self.reader, self.most = reader, most

    def findings(self) -> Iterator[Finding]:
        for feature in self.reader.textual:
            tokenizer = self.reader.tokenizers[feature]
            if tokenizer.kind == "bytes":
                continue  # every byte is known, and every token is one
            marked = np.zeros(tokenizer.size, np.bool_)
            if tokenizer.lossless:
                marked[[i for i in range(RESERVED, tokenizer.size) if _letter(tokenizer, i)]] = True
            else:
                marked[UNK] = True
            shares = dict(self._shares(feature, marked))
            said = ", ".join(f"{split} {percent(share)}" for split, share in shares.items())
            if tokenizer.lossless:
                yield self._spelt(feature, said, shares)
            else:
                yield self._unknown(feature, said, shares)

    def _shares(self, feature: str, marked: np.ndarray) -> Iterator[tuple[str, float]]:
        for split, counts in self.reader.prepared.info["splits"].items():
            if counts["examples"]:
                shards = self.reader.prepared.split(split)
                chosen = evenly(len(shards), self.most or len(shards))
                found = tokens = 0
                for begin in range(0, len(chosen), CHUNK):
                    chunk = chosen[begin : begin + CHUNK]
                    ids = shards.gather(feature, chunk)
                    found += int(marked[ids].sum())
                    tokens += len(ids) - len(chunk)  # the end symbols are no text
                yield split, found / max(1, tokens)

    def _spelt(self, feature: str, said: str, shares: dict[str, float]) -> Finding:
        worst = max(shares.values())
        level: Level = "warning" if worst >= SPELT else "ok"
        return Finding(
            level,
            f"unknown_{feature}",
            f"{feature}: nothing is unknown; tokens that are one letter, or a part of one: {said}",
            worst,
            "The vocabulary does not know this text: was it learnt from another language, or is "
            "problem.text.size too small?"
            if level != "ok"
            else "",
        )

    def _unknown(self, feature: str, said: str, shares: dict[str, float]) -> Finding:
        worst = max(shares.values())
        split = max(shares, key=lambda name: shares[name])
        return Finding(
            graded(worst, warning=0.01, problem=0.1),
            f"unknown_{feature}",
            f"{feature}: unknown tokens: {said}",
            worst,
            "What is unknown cannot be translated: use problem.text=subwords, which knows all text"
            if worst
            else "",
            self._with_unknown(feature, split) if worst else (),
        )

    def _with_unknown(self, feature: str, split: str) -> tuple[Case, ...]:
        """The first few examples of a split that have an unknown token."""
        shards = self.reader.prepared.split(split)
        cases: list[Case] = []
        for index in evenly(len(shards), self.most or len(shards)).tolist():
            if (shards.example(index)[feature] == UNK).any():
                cases.append(self.reader.case(shards, index))
                if len(cases) == SHOWN:
                    break
        return tuple(cases)


def _letter(tokenizer: Tokenizer, token: int) -> bool:
    """Whether a token is a single byte that is a letter, or bytes that are no whole character."""
    text = tokenizer.decode([token])
    return "\ufffd" in text or (len(text) == 1 and text.isascii() and text.isalpha())
