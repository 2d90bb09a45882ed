"""What may be asked and what is answered, as JSON: checked on the way in, described in OpenAPI."""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from heedful.serve.limits import Limits
from heedful.serve.tasks import Task

ALPHA = 5.0  # a stronger length penalty, or bonus, makes no sense and at some point no number
SOMETHING = r"[^\s\x1c-\x1f]"  # there is nothing to see in a text without such a character

Ask = TypeVar("Ask", bound=BaseModel)


def _whole(value: Any) -> Any:
    """JSON knows no difference between 4 and 4.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Shape(BaseModel):
    """Plain JSON with these fields and no others; a number is not a string."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Decoding(Shape):
    """How to decode. What is left out is as the run says."""

    model: str | None = None
    to: str | None = None
    beam: int | None = None
    alpha: float | None = None
    nbest: int | None = None


class Translate(Decoding):
    """Texts to be translated."""

    text: list[str]


class Stream(Decoding):
    """One text to be translated while somebody watches."""

    text: str


class Attend(Shape):
    """A text whose attention is to be looked at, with its translation or with `target`."""

    text: str
    target: str | None = None
    model: str | None = None
    to: str | None = None


class Grow(Shape):
    """A text whose beam tree is to be looked at."""

    text: str
    model: str | None = None
    to: str | None = None
    beam: int | None = None
    alpha: float | None = None


class Asks(NamedTuple):
    """Each ask with the limits of a server."""

    translate: type[Translate]
    stream: type[Stream]
    attend: type[Attend]
    grow: type[Grow]


class Candidate(Shape):
    text: str
    score: float
    finished: bool = Field(description="Whether it came to its end before the length ran out.")


class Translation(Shape):
    text: str
    score: float | None = Field(description="Null where there was nothing to translate.")
    nbest: list[Candidate] = Field(
        default=[], description="Where nbest was asked for: the best outputs, best first."
    )


class Translations(Shape):
    """One translation a text, in their order."""

    translations: list[Translation]


class Health(Shape):
    status: str
    models: list[str]


class Served(Shape):
    """A model that can be asked for by its name."""

    name: str
    task: Task = Field(description="What it does with a text. Whatever it says is a `translation`.")
    texts: int = Field(description="How many texts it reads: one, or two with a tab between.")
    beam: int
    alpha: float
    languages: list[str] = Field(description="Those it can be asked to write; often none.")
    checkpoint: str
    sha256: str
    attends: bool = Field(description="Whether there is attention to look at.")


class Models(Shape):
    models: list[Served]


class Refusal(Shape):
    """Why a request was not served."""

    detail: str


def asks(limits: Limits, models: Sequence[str], languages: Sequence[str]) -> Asks:
    """The shapes of requests, with what this server can do and how much of it."""
    model = (str | None, Field(None, json_schema_extra={"enum": [*models, None]}))
    to: Any = (None, Field(None, description="No model here writes several languages."))
    if languages:
        to = (str | None, Field(None, json_schema_extra={"enum": [*languages, None]}))
    beam: Any = (
        Annotated[int, Field(ge=1, le=limits.beam), BeforeValidator(_whole)] | None,
        Field(None, description="Hypotheses that are kept; nbest, where that is more."),
    )
    alpha: Any = (
        Annotated[float, Field(ge=-ALPHA, le=ALPHA)] | None,
        Field(None, description="Strength of the length penalty."),
    )
    nbest = (Annotated[int, Field(ge=1, le=limits.nbest), BeforeValidator(_whole)] | None, None)
    text = Annotated[str, Field(max_length=limits.characters)]
    seen = Annotated[str, Field(max_length=limits.characters, pattern=SOMETHING)]
    shared: dict[str, Any] = {"model": model, "to": to}
    how: dict[str, Any] = {**shared, "beam": beam, "alpha": alpha, "nbest": nbest}
    many = (list[text], Field(min_length=1, max_length=limits.texts))
    return Asks(
        create_model("Translate", __base__=Translate, text=many, **how),
        create_model("Stream", __base__=Stream, text=(text, ...), **how),
        create_model(
            "Attend", __base__=Attend, text=(seen, ...), target=(text | None, None), **shared
        ),
        create_model("Grow", __base__=Grow, text=(seen, ...), beam=beam, alpha=alpha, **shared),
    )


def parse(shape: type[Ask], body: bytes) -> Ask:
    """The ask in a body, or a ValueError that says what is wrong with it in one line."""
    try:
        return shape.model_validate_json(body)
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False, include_context=False)
        said = "; ".join(_told(one["loc"], one["msg"]) for one in wrong[:3])
        more = f"; and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise ValueError(f"{said}{more}") from None


def _told(where: Sequence[int | str], what: str) -> str:
    path = ".".join(str(part) for part in where)[:80]  # the name of a field may be the client's
    return f"{path}: {what}" if path else what
