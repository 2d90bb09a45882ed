"""What a served model does with a text, told by what it reads and writes. The page has its words
for each."""

from collections.abc import Mapping
from typing import Literal

from heedful.text.base import Tokenizer
from heedful.text.labels import LabelTokenizer
from heedful.text.symbols import SymbolTokenizer

Task = Literal["translate", "classify", "continue", "answer"]


def task(tokenizers: Mapping[str, Tokenizer]) -> Task:
    """Go on with a text, label it, answer it with symbols, or write another text for it."""
    if "inputs" not in tokenizers:
        return "continue"
    if isinstance(tokenizers["targets"], LabelTokenizer):
        return "classify"
    return "answer" if isinstance(tokenizers["targets"], SymbolTokenizer) else "translate"
