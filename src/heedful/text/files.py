"""Vocabularies on disk: one JSON file each, told apart by its `kind`."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from heedful.errors import HeedfulError, nearest
from heedful.text.base import FORMAT, Tokenizer
from heedful.text.bytes import ByteTokenizer
from heedful.text.chars import CharacterTokenizer
from heedful.text.chorale import ChoraleTokenizer
from heedful.text.labels import LabelTokenizer
from heedful.text.melody import MelodyTokenizer
from heedful.text.performance import PerformanceTokenizer
from heedful.text.pictures import PictureTokenizer
from heedful.text.subwords import SubwordTokenizer
from heedful.text.symbols import SymbolTokenizer
from heedful.text.tagged import TaggedTokenizer
from heedful.text.two_texts import TwoTextsTokenizer
from heedful.text.words import WordTokenizer

KINDS: dict[str, Callable[[Mapping[str, Any]], Tokenizer]] = {
    SubwordTokenizer.kind: SubwordTokenizer.from_json,
    ByteTokenizer.kind: ByteTokenizer.from_json,
    CharacterTokenizer.kind: CharacterTokenizer.from_json,
    WordTokenizer.kind: WordTokenizer.from_json,
    SymbolTokenizer.kind: SymbolTokenizer.from_json,
    PictureTokenizer.kind: PictureTokenizer.from_json,
    LabelTokenizer.kind: LabelTokenizer.from_json,
    TwoTextsTokenizer.kind: lambda data: TwoTextsTokenizer(_made(data["plain"])),
    PerformanceTokenizer.kind: PerformanceTokenizer.from_json,
    ChoraleTokenizer.kind: ChoraleTokenizer.from_json,
    MelodyTokenizer.kind: MelodyTokenizer.from_json,
}


def load(path: Path) -> Tokenizer:
    """The tokenizer that `save` wrote to this file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise HeedfulError(f"cannot read the vocabulary {path}: {reason}") from error
    except (ValueError, RecursionError):
        raise HeedfulError(f"{path} is not a vocabulary: it is no JSON file. {_REMEDY}") from None
    if not isinstance(data, dict) or not isinstance(data.get("kind"), str):
        raise HeedfulError(f'{path} is not a vocabulary: it has no "kind". {_REMEDY}')
    kind, version = data["kind"], data.get("format")
    if kind not in KINDS:
        raise HeedfulError(
            f"{path} holds a vocabulary of kind '{kind}'.{nearest(kind, KINDS)} "
            f"Known are: {', '.join(KINDS)}"
        )
    if version != FORMAT:
        raise HeedfulError(
            f"{path} is written in format {version} of vocabularies, and this heedful reads "
            f"format {FORMAT}. Use the heedful that wrote it, or prepare the data again"
        )
    try:
        return _made(data)
    except HeedfulError as error:
        raise HeedfulError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise HeedfulError(
            f"{path} is a damaged vocabulary of {kind} ({error!r}). {_REMEDY}"
        ) from error


def _made(data: Mapping[str, Any]) -> Tokenizer:
    """By its kind; with tags beside, one of another's kind that has them too."""
    plain = KINDS[data["kind"]](data)
    return TaggedTokenizer(plain, data["tags"]) if "tags" in data else plain


_REMEDY = "Prepare the data again, or give the file that was written as a vocabulary"
