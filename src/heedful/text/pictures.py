"""Pictures as a feature: a picture is a sequence of pixels, and the id of a pixel is its colour.

As text, a picture is the name of its file, or all of it in one word (`data:image/png;base64,…`, as
in web pages). So whatever is prepared, decoded and scored as text is so for pictures.
"""

import base64
import binascii
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from heedful.errors import HeedfulError, UsageError
from heedful.text.base import Text, Tokenizer
from heedful.text.specials import NAMES, RESERVED

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = npt.NDArray[np.uint8]  # [height, width, channels]

# Those that are read by plain decoders; others (EPS) would start programs.
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
MOST_PIXELS = 64_000_000  # of a picture before it is scaled
MOST_BYTES = 256 << 20  # of its file
LARGEST = 1_024  # pixels of a side after scaling
_DATA = "data:image/png;base64,"
_DATA_OF = "data:image/"
_CLEAR = ("LA", "La", "PA", "RGBA", "RGBa")


@dataclass(frozen=True)
class Pictures(Text, kind="pictures"):
    """Pictures of one size. Any other is cut to its middle, in the right proportion, and scaled."""

    height: int = 64
    width: int = 64
    channels: int = 3  # or 1, for grey

    def __post_init__(self) -> None:
        if not (1 <= self.height <= LARGEST and 1 <= self.width <= LARGEST):
            raise UsageError(
                f"pictures are 1 to {LARGEST} pixels high and wide, got {self.height} and "
                f"{self.width}"
            )
        if self.channels not in (1, 3):
            raise UsageError(f"pictures have 1 channel (grey) or 3 (colours), got {self.channels}")

    def train(self, texts: Iterable[str]) -> "PictureTokenizer":
        return PictureTokenizer(self.height, self.width, self.channels)


class PictureTokenizer(Tokenizer):
    """Ids of pixels, row by row: 65,536·red + 256·green + blue (or grey), after the special ids."""

    kind: ClassVar[str] = "pictures"
    lossless: ClassVar[bool] = False  # what it decodes to is the same picture, not the same text

    def __init__(self, height: int, width: int, channels: int) -> None:
        self.height, self.width, self.channels = height, width, channels
        self.size = RESERVED + 256**channels

    @property
    def pixels(self) -> int:
        """How many ids a picture has."""
        return self.height * self.width

    def encode(self, text: str) -> list[int]:
        """The pixels of a file, or of a picture that is written out as `data:image/…`."""
        values = self.fit(read(text)).astype(np.int64)
        places = 256 ** np.arange(self.channels)[::-1]
        ids: list[int] = ((values * places).sum(-1).ravel() + RESERVED).tolist()
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """The picture, written out; pixels that are missing are black."""
        return written(self.drawn(ids))

    def drawn(self, ids: Iterable[int]) -> Pixels:
        """The pixels of these ids, [height, width, channels]."""
        colours = np.zeros(self.pixels, np.int64)
        known = [i - RESERVED for i in self._known(ids) if i >= RESERVED][: self.pixels]
        colours[: len(known)] = known
        parts = [colours >> 8 * place & 255 for place in reversed(range(self.channels))]
        shape = (self.height, self.width, self.channels)
        return np.stack(parts, -1).astype(np.uint8).reshape(shape)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        digits = 2 * self.channels
        return [
            NAMES[i] if i < RESERVED else f"#{i - RESERVED:0{digits}x}" for i in self._known(ids)
        ]

    def to_json(self) -> dict[str, Any]:
        return {"height": self.height, "width": self.width, "channels": self.channels}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        numbers = {name: int(data[name]) for name in ("height", "width", "channels")}
        Pictures(**numbers)  # raises where they are none of a picture
        return cls(**numbers)

    def fit(self, picture: "Image") -> Pixels:
        """Cut to the middle and scaled, as [height, width, channels]."""
        from PIL import Image, ImageOps

        plain = _plain(picture, "L" if self.channels == 1 else "RGB")
        size = (self.width, self.height)
        if plain.size != size:
            plain = ImageOps.fit(plain, size, Image.Resampling.LANCZOS)
        return np.asarray(plain, np.uint8).reshape(self.height, self.width, self.channels)


def read(text: str) -> "Image":
    """The picture that a text is: a file's name, or written out."""
    if text.startswith(_DATA_OF):
        head, comma, packed = text.partition(",")
        if not comma or not head.endswith(";base64"):
            raise HeedfulError(
                "a picture that is written out must begin as in 'data:image/png;base64,', this "
                f"one begins '{text[:30]}'"
            )
        try:
            return opened(base64.b64decode(packed, validate=True), "a picture that is written out")
        except binascii.Error as error:
            raise HeedfulError(f"a picture is written out in wrong base64: {error}") from None
    path = Path(text)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise HeedfulError(f"{text} has over {MOST_BYTES:,} bytes. Scale it down first")
        return opened(path.read_bytes(), text)
    except FileNotFoundError:
        raise HeedfulError(
            f"no picture {_short(text)}: check the name, and the folder it is relative to"
        ) from None
    except (OSError, ValueError) as error:  # a name may hold what no file's name can
        reason = getattr(error, "strerror", None) or error
        raise HeedfulError(f"the picture {_short(text)} cannot be read: {reason}") from None


def opened(data: bytes, name: str) -> "Image":
    """A picture from its bytes, decoded as a whole and upright; of several frames, the first."""
    from PIL import Image, ImageOps

    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as found:
            width, height = found.size
            if width * height > MOST_PIXELS:
                raise HeedfulError(_huge(name, f"is {width:,} x {height:,} pixels large"))
            found.load()
            return ImageOps.exif_transpose(found)
    except HeedfulError:
        raise
    except Image.UnidentifiedImageError:
        raise HeedfulError(
            f"{name} is no picture that is known here. Known are: {', '.join(FORMATS)}"
        ) from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise HeedfulError(_huge(name, "has very many pixels")) from None
    except Exception as error:  # decoders meet damage in ways of their own, not only OSError
        said = str(error).strip().rstrip(".") or type(error).__name__
        raise HeedfulError(f"{name} is damaged or cut short: {said}. Get it again") from None


def written(pixels: Pixels) -> str:
    """Pixels written out as one word of text, lossless."""
    from PIL import Image

    packed = io.BytesIO()
    plain = pixels[..., 0] if pixels.shape[-1] == 1 else pixels
    Image.fromarray(np.ascontiguousarray(plain)).save(packed, "PNG", compress_level=6)
    return _DATA + base64.b64encode(packed.getvalue()).decode("ascii")


def _plain(picture: "Image", mode: str) -> "Image":
    """Grey or red, green and blue, of 8 bits each; what is see-through stands on white."""
    from PIL import Image

    if picture.mode.startswith("I") or picture.mode == "F":
        return _from_deep(picture).convert(mode)
    if picture.mode in _CLEAR or "transparency" in picture.info:
        over = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", over.size, "white"), over)
    return picture if picture.mode == mode else picture.convert("RGB").convert(mode)


def _from_deep(picture: "Image") -> "Image":
    """Grey of 16 or 32 bits, or of numbers from 0 to 1, in 8 bits."""
    from PIL import Image

    values = np.nan_to_num(np.asarray(picture, np.float64))
    high = values.max(initial=0)
    most = 1.0 if picture.mode == "F" and high <= 1 else 255.0 if high <= 255 else 65_535.0
    return Image.fromarray(np.rint(values.clip(0, most) * (255 / most)).astype(np.uint8))


def _huge(name: str, size: str) -> str:
    return f"{name} {size}, and at most {MOST_PIXELS:,} in all are read. Scale it down first"


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:200] + "…"
