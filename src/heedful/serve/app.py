"""The server's doors: a page, a JSON API, health and metrics. Every answer is made from what is in
memory; no path of a request reaches the file system."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.routing import Route

from heedful import __version__
from heedful.nn.watching import lookers
from heedful.serve import looking, page
from heedful.serve.answers import told, whole
from heedful.serve.asks import Health, Models, Refusal, Translations, asks, parse
from heedful.serve.guard import Guard, Token, read_body, unless_gone
from heedful.serve.limits import Limits
from heedful.serve.loading import Served
from heedful.serve.looking import looked
from heedful.serve.metrics import CONTENT_TYPE
from heedful.serve.service import Service
from heedful.serve.streaming import after, lines

REFUSALS = {
    401: "No token, or a wrong one.",
    404: "No model of this name.",
    408: "The request came too slowly.",
    413: "The request is too large.",
    415: "The body is not JSON.",
    422: "The request is not as described, or a text cannot be decoded.",
    503: "The queue is full, or the server is about to stop. Retry-After says when to come again.",
    504: "The answer was not ready in time.",
}
LINES = "application/x-ndjson"


def make_app(
    served: Sequence[Served],
    limits: Limits,
    *,
    token: str | None = None,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
    warn: Callable[[str], None] = lambda _: None,
) -> FastAPI:
    """A server of these models. `hosts` are the names it answers to (none: any), `origins` the
    pages of others that may ask it (none: only its own)."""
    service = Service(served, limits)
    paths: set[str] = set()
    shapes = asks(limits, list(service.served), _languages(served))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.get_running_loop().run_in_executor(None, service.close)

    app = FastAPI(
        title="heedful",
        version=__version__,
        description="Translate, label or continue text with the models of some runs.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service = service
    app.add_exception_handler(StarletteHTTPException, _refusal)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
        )
    app.add_middleware(
        Guard, limits=limits, metrics=service.metrics, paths=paths, hosts=hosts, warn=warn
    )
    allowed = [Depends(_bearer(Token(token)))] if token else []
    app.include_router(page.router())

    @app.get("/health", response_model=Health)
    async def health() -> Response:
        """Whether the server works, and which models it has."""
        status = "closing" if service.closing else "ok"
        return JSONResponse({"status": status, "models": list(service.served)})

    @app.get("/models", response_model=Models, dependencies=allowed, responses=_responses(401))
    async def models() -> Response:
        """The models, and how each decodes where nobody says otherwise."""
        return JSONResponse({"models": [_described(one) for one in served]})

    @app.get(
        "/metrics",
        dependencies=allowed,
        response_class=Response,
        responses={
            200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
            **_responses(401),
        },
    )
    async def metrics() -> Response:
        """What the server counts, in the text format of Prometheus."""
        return Response(service.metrics.text(), headers={"content-type": CONTENT_TYPE})

    @app.post(
        "/translate",
        response_model=Translations,
        dependencies=allowed,
        openapi_extra=_body(shapes.translate),
        responses=_responses(*REFUSALS),
    )
    async def translate(request: Request) -> Response:
        """Translate texts: one translation a text, in their order."""
        ask = await _ask(request, shapes.translate, limits)
        desk = service.desk(ask.model)
        with service.refusing():
            manner = service.manner(desk, ask)
            found = await unless_gone(request, desk.translate(ask.text, manner))
            several = ask.nbest is not None
            return JSONResponse({"translations": [told(one, several) for one in whole(found)]})

    @app.post(
        "/translate/stream",
        dependencies=allowed,
        response_class=StreamingResponse,
        openapi_extra=_body(shapes.stream),
        responses={
            200: {
                "description": 'One JSON object a line: {"partial": TEXT} as often as there is '
                'something new, then {"translation": {"text", "score", …}} or {"error": REASON}.',
                "content": {LINES: {"schema": {"type": "string"}}},
            },
            **_responses(*REFUSALS),
        },
    )
    async def stream(request: Request) -> Response:
        """Translate one text, and tell what it says so far while it is decoded."""
        ask = await _ask(request, shapes.stream, limits)
        desk = service.desk(ask.model)
        with service.refusing():
            manner = service.manner(desk, ask)
        parts = lines(service, desk, ask.text, manner, ask.nbest is not None)
        headers = {"x-accel-buffering": "no"}  # a proxy should not wait for the end
        return StreamingResponse(after(await anext(parts), parts), 200, headers, LINES)

    @app.post(
        "/attention",
        dependencies=allowed,
        openapi_extra=_body(shapes.attend),
        responses=_responses(*REFUSALS),
    )
    async def attention(request: Request) -> Response:
        """What every head of every layer looks at, for a text and its translation."""
        ask = await _ask(request, shapes.attend, limits)
        return await looked(request, service, ask, lambda own: looking.attention(own, ask))

    @app.post(
        "/beams",
        dependencies=allowed,
        openapi_extra=_body(shapes.grow),
        responses=_responses(*REFUSALS),
    )
    async def beams(request: Request) -> Response:
        """The beam tree: every hypothesis of a search, its score, and why it was left."""
        ask = await _ask(request, shapes.grow, limits)
        return await looked(request, service, ask, lambda own: looking.beams(own, ask))

    paths |= {route.path for route in app.routes if isinstance(route, Route)}
    return app


async def _ask(request: Request, shape: type[Any], limits: Limits) -> Any:
    try:
        return parse(shape, await read_body(request, limits))
    except ValueError as error:
        raise HTTPException(422, str(error)) from None


def _described(one: Served) -> dict[str, Any]:
    config = one.translator.config
    return {
        "name": one.name,
        "task": one.task,
        "texts": one.texts,
        "beam": config.beam,
        "alpha": config.alpha,
        "languages": list(one.languages),
        "checkpoint": one.checkpoint,
        "sha256": one.sha256,
        "attends": bool(lookers(one.translator.model)),  # type: ignore[arg-type]
    }


def _languages(served: Sequence[Served]) -> list[str]:
    return sorted({language for one in served for language in one.languages})


def _bearer(token: Token) -> Callable[..., None]:
    scheme = HTTPBearer(auto_error=False, description="The word given as --token.")

    def check(
        given: Annotated[HTTPAuthorizationCredentials | None, Depends(scheme)],
    ) -> None:
        token.check(given.credentials if given else None)

    return check


async def _refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    return JSONResponse({"detail": str(error.detail)}, error.status_code, error.headers)


def _body(shape: type[BaseModel]) -> dict[str, Any]:
    """A request's body as OpenAPI describes it."""
    content = {"application/json": {"schema": shape.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


def _responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Refusal, "description": REFUSALS[status]} for status in statuses}
