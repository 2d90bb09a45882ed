"""A model that was written for another library says there what it says here."""

import tempfile
from pathlib import Path

from heedful.interop.anatomy import CannotExport
from heedful.interop.export import LIBRARIES
from heedful.interop.library import NotInstalled
from heedful.interop.parity import distance, log_probabilities, made_up
from heedful.laws.base import SYMBOLS, LawBroken, Subject, law
from heedful.presets.base import Decode
from heedful.text.symbols import SymbolTokenizer


@law
def exported_equals_native(subject: Subject) -> None:
    """Where a library is installed and has a layout for it: the same log-probabilities."""
    model = subject.fresh().eval()
    symbols = SymbolTokenizer(SYMBOLS)
    tokenizers = {"inputs": symbols, "targets": symbols}
    for name, library in LIBRARIES.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                library.write(model, tokenizers, Decode(longest_input=64), Path(folder))
            except (CannotExport, NotInstalled):
                continue  # of our families only the encoder-decoder Transformer is known elsewhere
            pairs = made_up(model)
            theirs = library.log_probabilities(Path(folder), pairs, tokenizers)
        far = distance(log_probabilities(model, pairs), theirs)
        if not far <= 1e-4:
            raise LawBroken(f"exported to {name}, log-probabilities differ by up to {far:.3g}")
