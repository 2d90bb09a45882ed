"""Looking into a model that is being served, when it is its turn."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fastapi import Request, Response

from heedful.decoding.translator import Translator
from heedful.errors import HeedfulError
from heedful.seeing.attention import look
from heedful.seeing.beams import tree
from heedful.serve.answers import line
from heedful.serve.asks import Attend, Grow
from heedful.serve.guard import unless_gone
from heedful.serve.service import Service


async def looked(
    request: Request,
    service: Service,
    ask: Attend | Grow,
    see: Callable[[Translator], Any],
) -> Response:
    """Something seen in a model, as JSON that is made by the thread that looked."""
    desk = service.desk(ask.model)
    with service.refusing():
        own = desk.translator
        translator = Translator(
            own.model, own.tokenizers, own.config, own.device, own.language(ask.to)
        )

        def work() -> bytes:
            _check_seen(translator, ask, service.limits.looked_at)
            return line(see(translator))

        found = await unless_gone(request, desk.do(work))
    return Response(found, media_type="application/json")


def _check_seen(translator: Translator, ask: Attend | Grow, most: int) -> None:
    """An error if there is too much to be seen: it grows with the square of the length."""
    tokenizers = translator.tokenizers
    counts = [len(tokenizers.get("inputs", tokenizers["targets"]).encode(ask.text))]
    if isinstance(ask, Attend) and ask.target is not None:
        counts.append(len(tokenizers["targets"].encode(ask.target)))
    if max(counts) > most:
        raise HeedfulError(f"the text has {max(counts)} tokens, and {most} is the most to look at")


def attention(translator: Translator, ask: Attend) -> Any:
    return look(translator, ask.text, ask.target).to_json()


def beams(translator: Translator, ask: Grow) -> Any:
    if ask.alpha is not None:
        translator.config = replace(translator.config, alpha=ask.alpha)
    return tree(translator, ask.text, beam=ask.beam or translator.config.beam)
