"""What a model looked at in a picture, word by word. L words, K cells."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from heedful.decoding.search import at_rest
from heedful.decoding.translator import Translator
from heedful.errors import HeedfulError, UsageError
from heedful.models.base import Model, shift_right
from heedful.models.captioner import Captioner
from heedful.nn.telling import CROSS
from heedful.nn.watching import Glance, watch
from heedful.seeing.reading import model_of, passage
from heedful.seeing.words import alone, joined, side
from heedful.text.pictures import PictureTokenizer, read, written

SHOWN = 320  # pixels of a side in a page, at most, where the picture has so many


@dataclass(frozen=True, eq=False)
class Gazed:
    """A picture, the words about it, and where each of them looked."""

    text: str  # what the picture was called
    picture: str  # written out, cut as the model saw it
    caption: str
    model: str
    size: tuple[int, int]  # height and width in pixels, as the model saw it
    grid: tuple[int, int]  # rows and columns of cells
    side: int  # of a cell, in pixels
    words: list[str]
    weights: np.ndarray  # [L, K]

    def to_json(self) -> dict[str, Any]:
        """For a page or a script: weights as lists, a row a word, cells row by row."""
        return {
            "format": 1,
            "text": self.text,
            "picture": self.picture,
            "caption": self.caption,
            "model": self.model,
            "size": list(self.size),
            "grid": list(self.grid),
            "side": self.side,
            "words": self.words,
            "weights": self.weights.round(6).tolist(),
        }


def reads_pictures(translator: Translator) -> bool:
    """Whether what a model reads are pictures."""
    return isinstance(translator.tokenizers.get("inputs"), PictureTokenizer)


def gaze(translator: Translator, text: str, target: str | None = None) -> Gazed:
    """Watch the model look at a picture and write `target`, or what it writes by itself."""
    model, pictures = model_of(translator), translator.tokenizers.get("inputs")
    if not isinstance(pictures, PictureTokenizer) or not isinstance(model, Captioner):
        raise UsageError(f"a model of the kind '{model.config.kind}' here reads no pictures")
    shown = passage(translator, text, target)
    glances = _glances(model, shown.batch.to(translator.device))
    if not glances:
        raise UsageError(
            f"this model of the kind '{model.config.kind}' looks at no cell more than at others"
        )
    grid = model.cells.grid
    stack = [glance.weights[0].float().mean(0).cpu().numpy() for glance in glances]
    tokens = np.mean(stack, axis=0, dtype=np.float64)
    words = side(translator.tokenizers["targets"], shown.target)
    if tokens.shape != (len(words.tokens), grid[0] * grid[1]):
        raise HeedfulError(
            f"attention looked from {tokens.shape[0]} places at {tokens.shape[1]}, and there are "
            f"{len(words.tokens)} tokens and {grid[0] * grid[1]} cells. This model cannot be shown"
        )
    cells = alone(*map(str, range(tokens.shape[1])))
    caption = str(translator.tokenizers["targets"].decode(shown.target))
    return Gazed(
        text=text,
        picture=_large(text, pictures),
        caption=caption,
        model=model.config.kind,
        size=(pictures.height, pictures.width),
        grid=grid,
        side=model.cells.side,
        words=words.joined,
        weights=joined(tokens, words, cells),
    )


def _glances(model: Model, batch: Any) -> list[Glance]:
    heard: list[Glance] = []
    with torch.no_grad(), at_rest(model):
        memory = model.start(batch)
        with watch(model, (CROSS,), tell=heard.append):
            model.step(shift_right(batch.targets), memory)
    return heard


def _large(text: str, pictures: PictureTokenizer) -> str:
    """The picture cut as the model sees it, and where there is more to see, larger."""
    picture = read(text)
    width, height = picture.size
    there = min(width // pictures.width, height // pictures.height)
    times = max(1, min(there, SHOWN // max(pictures.width, pictures.height)))
    larger = PictureTokenizer(pictures.height * times, pictures.width * times, pictures.channels)
    return written(larger.fit(picture))
