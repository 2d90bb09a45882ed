"""Our vocabularies for other libraries: pieces by id, and subwords as a `tokenizers` JSON file.

There the ends of sources and the special ids are the tokenizer's work, so the file says them too.
"""

from typing import Any

from heedful.text.base import Tokenizer
from heedful.text.specials import EOS, RESERVED
from heedful.text.subwords import CONTINUED, SPECIAL, SubwordTokenizer

START = "⟨start⟩"  # a further id that Hugging Face's decoders begin with; no text is encoded so


def names(tokenizer: Tokenizer) -> list[str]:
    """A name for each id, no two the same: the pieces of subwords, else what a person would see."""
    if isinstance(tokenizer, SubwordTokenizer):
        vocabulary = json_of(tokenizer)["model"]["vocab"]
        if isinstance(vocabulary, dict):
            return sorted(vocabulary, key=lambda name: vocabulary[name])
        return [name for name, _ in vocabulary]
    unique = dict.fromkeys(SPECIAL)
    for i, piece in enumerate(tokenizer.pieces(range(RESERVED, tokenizer.size)), start=RESERVED):
        unique[f"⟨{i}⟩" if piece in unique else piece] = None
    return list(unique)


def json_of(tokenizer: SubwordTokenizer) -> dict[str, Any]:
    """What the `tokenizers` library reads, as heedful keeps it."""
    data: dict[str, Any] = tokenizer.to_json()["tokenizer"]
    return data


def portable(tokenizer: SubwordTokenizer) -> dict[str, Any]:
    """The tokenizer as it cuts here, and how pieces become text again, which ours says in Python.

    No special id is looked for in a text, and no end is put after it.
    """
    joined = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": False,
        "use_regex": False,
    }
    goes_on = {"type": "Replace", "pattern": {"String": CONTINUED}, "content": ""}
    in_parts = {"type": "Sequence", "decoders": [goes_on, joined]}
    return {
        **json_of(tokenizer),
        "decoder": in_parts if tokenizer.algorithm == "wordpiece" else joined,
    }


def marked(tokenizer: SubwordTokenizer, start: bool) -> dict[str, Any]:
    """As `portable`, with the special ids named and the end symbol put after each text.

    With `start` there is one id more, `START`, the last.
    """
    special = [*enumerate(SPECIAL), *([(tokenizer.size, START)] if start else [])]
    end = {"SpecialToken": {"id": SPECIAL[EOS], "type_id": 0}}
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    how = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {
        **portable(tokenizer),
        "added_tokens": [
            {"id": number, "content": name, **how, "special": True} for number, name in special
        ],
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [first, end],
            "pair": [first, second, end],
            "special_tokens": {
                SPECIAL[EOS]: {"id": SPECIAL[EOS], "ids": [EOS], "tokens": [SPECIAL[EOS]]}
            },
        },
    }
