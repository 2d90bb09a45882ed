"""How much may be asked of a server: everything that a request can make large has an end."""

from dataclasses import dataclass, fields

from heedful.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The most of each. What goes beyond is refused with a reason, not cut."""

    body: int = 1_000_000  # bytes of a request
    texts: int = 64  # in one request
    characters: int = 5_000  # of one text
    looked_at: int = 256  # tokens of a text whose attention or beam tree is asked for
    beam: int = 16
    nbest: int = 16
    waiting: int = 512  # texts of all clients that wait for one model
    connections: int = 1_024  # open at a time
    batch: int = 128  # texts that are decoded together; the decode token budget may allow fewer
    seconds: float = 60.0  # from the end of a request to its answer
    patience: float = 20.0  # seconds that a client may take to send a request

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise UsageError(
                    f"the limit '{field.name}' must be above 0, got {getattr(self, field.name)}"
                )
