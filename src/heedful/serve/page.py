"""The page and its parts: read once when the server starts, and served from memory."""

from importlib.resources import files
from typing import NamedTuple

from fastapi import APIRouter, HTTPException, Response

from heedful.viz.assets import read

# Scripts and styles of its own, nothing from elsewhere, nothing inline, no frame, no form.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "require-trusted-types-for 'script'",  # no text becomes markup
        "trusted-types 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
PAGES = {"/": "index.html", "/docs": "docs.html"}
OWN = ("page.js", "page.css", "docs.js", "icon.svg")
VIEWER = ("attention.js", "attention.css")


class Asset(NamedTuple):
    """A file of the page."""

    content: bytes
    kind: str


def assets() -> dict[str, Asset]:
    """All files that a page can ask for, by name."""
    folder = files("heedful.serve") / "assets"
    found = {name: (folder / name).read_bytes() for name in (*PAGES.values(), *OWN)}
    found |= {name: read(name).encode() for name in VIEWER}
    return {name: Asset(content, KINDS[name.rpartition(".")[2]]) for name, content in found.items()}


def router() -> APIRouter:
    """Where pages and their parts are found."""
    held, routes = assets(), APIRouter(include_in_schema=False)

    def answer(name: str) -> Response:
        headers = {"content-type": held[name].kind, "cache-control": "no-cache"}
        if held[name].kind.startswith("text/html"):
            headers["content-security-policy"] = POLICY
        return Response(held[name].content, headers=headers)

    @routes.get("/")
    async def index() -> Response:
        return answer(PAGES["/"])

    @routes.get("/docs")
    async def docs() -> Response:
        return answer(PAGES["/docs"])

    @routes.get("/assets/{name}")
    async def asset(name: str) -> Response:
        if name not in held:
            raise HTTPException(404, "there is no such file")
        return answer(name)

    return routes
