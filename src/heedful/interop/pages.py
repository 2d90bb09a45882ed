"""The page beside an exported model: how to use it where it is."""

from collections.abc import Mapping

from heedful.presets.base import Decode
from heedful.text.base import Tokenizer
from heedful.text.subwords import SubwordTokenizer

HUGGINGFACE = """\
# A Transformer trained with heedful, for Hugging Face's transformers ({layout})

```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

folder = "."  # where this file is
reader = AutoTokenizer.from_pretrained(folder)
writer = {writer}
model = AutoModelForSeq2SeqLM.from_pretrained(folder)
batch = reader(["A sentence."], return_tensors="pt", padding=True)
print(writer.batch_decode(model.generate(**batch), skip_special_tokens=True))
```
"""
HUGGINGFACE_IDS = """\
# A Transformer trained with heedful, for Hugging Face's transformers ({layout})

Its vocabulary is of {kind}: there is no tokenizer. Sources are ids with the end, 1, after them.

```python
import torch
from transformers import AutoModelForSeq2SeqLM

model = AutoModelForSeq2SeqLM.from_pretrained(".")  # where this file is
print(model.generate(torch.tensor([[3, 4, 1]])))
```
"""
CTRANSLATE2 = """\
# A Transformer trained with heedful, for CTranslate2

```python
import ctranslate2
import tokenizers

folder = "."  # where this file is
translator = ctranslate2.Translator(folder)
reader = tokenizers.Tokenizer.from_file(f"{{folder}}/tokenizer.json")
writer = {writer}
source = reader.encode("A sentence.").tokens  # the end is added by the model
found = translator.translate_batch([source], beam_size={beam}, length_penalty={alpha})
ids = [writer.token_to_id(token) for token in found[0].hypotheses[0]]
print(writer.decode(ids))
```
"""
CTRANSLATE2_TOKENS = """\
# A Transformer trained with heedful, for CTranslate2

Its vocabulary is of {kind}: there is no tokenizer. Tokens are named in the vocabulary's file.

```python
import ctranslate2

translator = ctranslate2.Translator(".")  # where this file is
found = translator.translate_batch([[{tokens}]], beam_size={beam}, length_penalty={alpha})
print(found[0].hypotheses[0])
```
"""


def untokenized(tokenizers: Mapping[str, Tokenizer]) -> str | None:
    """The kind of the first vocabulary that other libraries have no tokenizer for, if any."""
    kinds = [t.kind for t in tokenizers.values() if not isinstance(t, SubwordTokenizer)]
    return kinds[0] if kinds else None


def huggingface_page(layout: str, tokenizers: Mapping[str, Tokenizer], targets: str) -> str:
    """How to use it there; `targets` is the folder of the target's own tokenizer."""
    kind = untokenized(tokenizers)
    if kind is not None:
        return HUGGINGFACE_IDS.format(layout=layout, kind=kind)
    own = f'AutoTokenizer.from_pretrained(f"{{folder}}/{targets}")'
    return HUGGINGFACE.format(layout=layout, writer="reader" if _one(tokenizers) else own)


def ctranslate2_page(
    decode: Decode, tokenizers: Mapping[str, Tokenizer], targets: str, some: list[str]
) -> str:
    """How to use it there; `targets` is the file of the target's own tokenizer, and `some` are
    tokens of the source for an example."""
    kind = untokenized(tokenizers)
    search = {"beam": decode.beam, "alpha": decode.alpha}
    if kind is not None:
        tokens = ", ".join(f'"{token}"' for token in some)
        return CTRANSLATE2_TOKENS.format(kind=kind, tokens=tokens, **search)
    own = f'tokenizers.Tokenizer.from_file(f"{{folder}}/{targets}")'
    return CTRANSLATE2.format(writer="reader" if _one(tokenizers) else own, **search)


def _one(tokenizers: Mapping[str, Tokenizer]) -> bool:
    return tokenizers["inputs"] is tokenizers["targets"]
