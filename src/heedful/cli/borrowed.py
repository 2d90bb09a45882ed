"""A model that has another one inside: the numbers of that come from the run it is taken from."""

from typing import TYPE_CHECKING, Any

from heedful.registry import presets

if TYPE_CHECKING:
    from heedful.runs.config import RunConfig


def numbers_of(base: "RunConfig | None", preset: str | None) -> list[str]:
    """Settings, as `--set` takes them, that make the language model of a classifier with ELMo like
    the one of the run it begins from."""
    from heedful.models.elmo import ElmoConfig
    from heedful.models.text_classifier import ElmoWords

    if base is None or preset is None or not isinstance(base.preset.model, ElmoConfig):
        return []
    features: Any = getattr(presets.get(preset)().model, "features", None)
    if not isinstance(features, ElmoWords):
        return []
    lm = base.preset.model
    numbers = {"dim": lm.dim, "layers": lm.layers, "hidden": lm.hidden, "cell": lm.cell.kind}
    return [f"model.features.{name}={value}" for name, value in numbers.items()]
