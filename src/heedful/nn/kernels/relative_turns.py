"""The skew of a tile within registers, as PTX, for GPUs whose products leave a tile there so.

Thread 4g + t of warp w has rows 16w + 8h + g of a tile of 64 by 64, for h 0 and 1, and of each the
columns 8n + 2t + e, for n to 7 and e 0 and 1: two beside each other of every eight. Row a is to
move by a + 1 columns, over two tiles that lie beside each other. Of these, 16w + 8h are whole
eights, so other registers of the same thread: every warp has a text of its own. The rest, 1 to 8,
is a move within four threads, t, that shuffle. A thread can tell which of its numbers come to lie
in the next eight, so these are chosen before they are sent, and each is sent once.
"""

from collections.abc import Callable, Iterator

SIDE, WARPS = 64, 4  # of the tiles, and those that hold one
EIGHTS = SIDE // 8
FOURS = "0x1c1f, -1"  # a shuffle among four threads

# tt: 2t. by: g + 1, which may be odd. The reads and the choices of even and odd columns are apart.
OPENING = """
.reg .b32 tt, by, w, x, odd, even_from, odd_from;
.reg .pred is_odd, even_over, odd_over, is_w;
mov.u32 w, %tid.x;
bfe.u32 tt, w, 0, 2;
shl.b32 tt, tt, 1;
bfe.u32 by, w, 2, 3;
add.u32 by, by, 1;
bfe.u32 w, w, 5, 2;
and.b32 odd, by, 1;
setp.ne.u32 is_odd, odd, 0;
"""


def right() -> str:
    """Of two tiles of float32 the columns from 64 on, after each row has moved to the right."""
    names = " ".join(f".reg .b32 even{k}, odd{k};" for k in range(EIGHTS + 1))
    opening = f"""
    .reg .b32 sent;
    {names}
    add.u32 x, tt, by;
    add.u32 x, x, odd;
    setp.ge.u32 even_over, x, 8;
    xor.b32 x, odd, 1;
    add.u32 x, x, tt;
    add.u32 x, x, by;
    setp.ge.u32 odd_over, x, 8;
    sub.u32 x, tt, by;
    bfe.u32 even_from, x, 1, 2;
    add.u32 x, x, 1;
    bfe.u32 odd_from, x, 1, 2;
    """

    def moved(w: int) -> Iterator[str]:
        for h in (0, 1):
            first = EIGHTS - 1 - h - 2 * w
            for k in range(EIGHTS + 1):
                one, other = (_given(4 * (first + k) + 2 * h + e, 32) for e in (0, 1))
                yield f"selp.b32 even{k}, {other}, {one}, is_odd;"
                yield f"selp.b32 odd{k}, {one}, {other}, is_odd;"
            for n in range(EIGHTS):
                for e, to in enumerate(("even", "odd")):
                    yield f"selp.b32 sent, {to}{n}, {to}{n + 1}, {to}_over;"
                    yield f"shfl.sync.idx.b32 ${4 * n + 2 * h + e}, sent, {to}_from, {FOURS};"

    return _text(opening, moved)


def left() -> str:
    """Of two tiles of bfloat16 the first 64 columns, after each row has moved to the left.

    Two columns are one register. Moved by an odd number, two halves come from two threads.
    """
    opening = """
    .reg .b32 one, other, halves;
    add.u32 x, tt, 1;
    setp.lt.u32 even_over, x, by;
    setp.lt.u32 odd_over, tt, by;
    add.u32 x, tt, by;
    bfe.u32 even_from, x, 1, 2;
    add.u32 x, x, 1;
    bfe.u32 odd_from, x, 1, 2;
    selp.b32 halves, 0x5432, 0x3210, is_odd;
    """

    def moved(w: int) -> Iterator[str]:
        for h in (0, 1):
            for n in range(EIGHTS):
                here, beyond = (_given(2 * (n + h + 2 * w + k) + h, 16) for k in (0, 1))
                yield f"selp.b32 one, {beyond}, {here}, even_over;"
                yield f"selp.b32 other, {beyond}, {here}, odd_over;"
                yield f"shfl.sync.idx.b32 one, one, even_from, {FOURS};"
                yield f"shfl.sync.idx.b32 other, other, odd_from, {FOURS};"
                yield f"prmt.b32 ${2 * n + h}, one, other, halves;"

    return _text(opening, moved)


def operands(count: int, kind: str) -> str:
    """What a text is given and gives: registers of a tile, written while two others are read."""
    return ",".join([f"=&{kind}"] * count + [kind] * (2 * count))


def _given(register: int, outputs: int) -> str:
    return f"${outputs + register}"


def _text(opening: str, moved: Callable[[int], Iterator[str]]) -> str:
    """The text for all warps, of which each takes its own part."""
    lines = [OPENING, opening]
    lines += [f"setp.eq.u32 is_w, w, {w};\n@is_w bra WARP{w};" for w in range(1, WARPS)]
    for w in range(WARPS):
        lines += [f"WARP{w}:", *moved(w), "bra DONE;"]
    return "\n".join(("{", *lines, "DONE:", "}"))
