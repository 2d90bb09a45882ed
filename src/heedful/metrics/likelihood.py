"""Loss and perplexity: what a model thinks of the right answer, without decoding anything."""

import math
from dataclasses import dataclass

from heedful.errors import HeedfulError
from heedful.metrics.base import Score


@dataclass(frozen=True)
class Likelihood:
    """Negative log-probability in nats, unsmoothed, summed over tokens. Parts add up."""

    nll: float = 0.0
    tokens: int = 0

    def __add__(self, other: "Likelihood") -> "Likelihood":
        return Likelihood(self.nll + other.nll, self.tokens + other.tokens)

    @property
    def loss(self) -> float:
        """Nats a token."""
        if self.tokens == 0:
            raise HeedfulError("there are no target tokens to compute a loss from")
        return self.nll / self.tokens

    @property
    def perplexity(self) -> float:
        """Among how many equally likely tokens the model might as well choose: exp(loss)."""
        try:
            return math.exp(self.loss)
        except OverflowError:
            return math.inf

    def scores(self) -> dict[str, Score]:
        """As other metrics are given: `{"loss": {"value": ...}, "perplexity": {"value": ...}}`."""
        return {"loss": {"value": self.loss}, "perplexity": {"value": self.perplexity}}
