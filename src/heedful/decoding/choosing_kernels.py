"""The wide part of a turn of beam search and what is made of it, in two kernels.

The first reads logits once: for each chunk of the vocabulary the highest and a sum of powers, and
the highest of each group of ids. The second has a program a row of the batch: it finds the best
candidates, and goes on as beam.py does, with the state where it lies.
"""

from typing import no_type_check

import triton
import triton.language as tl

from heedful.text import specials

PAD = tl.constexpr(specials.PAD)
EOS = tl.constexpr(specials.EOS)
NEVER = tl.constexpr(float("-inf"))
NO_KEY = tl.constexpr(-(2**63))


@triton.jit
@no_type_check
def survey(
    logits_ptr, maxima_ptr, level_ptr, sum_ptr, logits_row, size, groups, chunks,
    GROUP: tl.constexpr, MANY: tl.constexpr,
):  # fmt: skip
    """A chunk of MANY groups: the highest logit of each, padding left out; of all, with padding,
    the highest and the sum of powers above it."""
    row, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    group = chunk * MANY + tl.arange(0, MANY)
    ids = group[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    x = tl.load(logits_ptr + row * logits_row + ids, mask=ids < size, other=NEVER).to(tl.float32)
    highest = tl.max(tl.max(x, 1), 0)
    level = tl.where(highest == NEVER, 0.0, highest)
    tl.store(level_ptr + row * chunks + chunk, highest)
    tl.store(sum_ptr + row * chunks + chunk, tl.sum(tl.sum(tl.exp(x - level), 1), 0))
    said = tl.max(tl.where(ids == PAD, NEVER, x), 1)
    tl.store(maxima_ptr + row * groups + group, said, mask=group < groups)


@triton.jit
@no_type_check
def _key(value, place):
    """A number that is higher for the higher value, and among equals for the earlier place; what
    is no number counts as never."""
    value = tl.where(value == value, value + 0.0, NEVER)
    bits = value.to(tl.int32, bitcast=True)
    high = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(tl.int64) << 32
    return high | (0x7FFFFFFF - place).to(tl.int64)


@triton.jit
@no_type_check
def _place(key):
    return 0x7FFFFFFF - key.to(tl.int32)  # the lower half


@triton.jit
@no_type_check
def _best(key, at, count, into):
    """The `count` best of keys [N, M], best first, in the places `at` of a vector."""
    for i in range(count):
        best = tl.max(tl.max(key, 1), 0)
        into = tl.where(at == i, best, into)
        key = tl.where(key == best, NO_KEY, key)
    return into


@triton.jit
@no_type_check
def _before(x, y, earlier, counted):
    """How many of the y [M] that are counted come before each x [N]: they are higher, or equal
    where they are `earlier` [N, M]."""
    higher = (y[None, :] > x[:, None]) | ((y[None, :] == x[:, None]) & earlier)
    return tl.sum((higher & counted[None, :]).to(tl.int32), 1)


@triton.jit
@no_type_check
def _picked(which, x):
    """That of x [M] which `which` [N, M] marks in each row, or 0: [N]."""
    return tl.sum(tl.where(which, x[None, :], 0), 1)


@triton.jit
@no_type_check
def _moved(
    grown_ptr, kept_ptr, grown_from, grown_to, in_grown, kept_to, in_kept, is_old, kept_from,
    grown_last, kept_last, step, room, BLOCK: tl.constexpr,
):  # fmt: skip
    """Rows of tokens from where they are to where they belong, and the last one of those that
    have grown. Kept ones come from other kept ones where `is_old`, or else from grown ones."""
    for first in range(0, step + 1, BLOCK):
        t = (first + tl.arange(0, BLOCK))[None, :]
        grows, keeps = in_grown[:, None] & (t <= step), in_kept[:, None] & (t <= step)
        stays, comes = keeps & is_old[:, None], keeps & ~is_old[:, None]
        grown = tl.load(grown_ptr + grown_from[:, None] * room + t, mask=grows, other=0)
        grown = tl.where(t == step, grown_last[:, None], grown)
        there = kept_from[:, None] * room + t
        old = tl.load(kept_ptr + there, mask=stays, other=0)
        new = tl.load(grown_ptr + there, mask=comes, other=0)
        new = tl.where(t == step, kept_last[:, None], new)
        tl.debug_barrier()  # rows are read by others than those that write them
        tl.store(grown_ptr + grown_to[:, None] * room + t, grown, mask=grows)
        tl.store(kept_ptr + kept_to[:, None] * room + t, tl.where(stays, old, new), mask=keeps)


@triton.jit
@no_type_check
def _candidates(
    logits_ptr, maxima_ptr, level_ptr, sum_ptr, logits_row, size, groups, chunks, row, total, on,
    k, in_k, c, in_c, K: tl.constexpr, C: tl.constexpr, CS: tl.constexpr,
    GROUP: tl.constexpr, GROUPS: tl.constexpr, CHUNKS: tl.constexpr,
):  # fmt: skip
    """The C likeliest continuations of a row's hypotheses, best first: which one each comes from,
    its token, the token's log-probability, and the sum of all; and whether a hypothesis has no
    numbers."""
    before = tl.where(on, total, 0.0)

    # What turns a logit into a log-probability, for each hypothesis.
    chunk = tl.arange(0, CHUNKS)
    mask = in_k[:, None] & (chunk < chunks)[None, :]
    there = (row * K + k)[:, None] * chunks + chunk[None, :]
    levels = tl.load(level_ptr + there, mask=mask, other=NEVER)
    level = tl.max(levels, 1)
    powers = tl.load(sum_ptr + there, mask=mask, other=0.0) * tl.exp(levels - level[:, None])
    powers = tl.sum(powers, 1)
    normal = tl.log(powers)
    bad = tl.max((in_k & (total > NEVER) & ~(powers > 0.0)).to(tl.int32), 0) > 0

    # The best groups, and of their ids the best: all candidates are among them.
    group = tl.arange(0, GROUPS)
    mask = in_k[:, None] & (group < groups)[None, :]
    there = (row * K + k)[:, None] * groups + group[None, :]
    value = tl.load(maxima_ptr + there, mask=mask, other=NEVER)
    value = before[:, None] + ((value - level[:, None]) - normal[:, None])
    key = tl.where(mask, _key(value, k[:, None] * GROUPS + group[None, :]), NO_KEY)
    chosen = _best(key, c, C, tl.full([CS], NO_KEY, tl.int64))
    found = chosen > NO_KEY
    place = tl.where(found, _place(chosen), 0)
    parent = place // GROUPS
    ids = (place % GROUPS)[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    mask = found[:, None] & (ids < size)
    there = (row * K + parent)[:, None] * logits_row + ids
    x = tl.load(logits_ptr + there, mask=mask, other=NEVER).to(tl.float32)
    x = tl.where(ids == PAD, NEVER, x)
    of = parent[:, None] == k[None, :]
    value = (x - _picked(of, level)[:, None]) - _picked(of, normal)[:, None]
    value = _picked(of, before)[:, None] + value
    key = tl.where(mask, _key(value, parent[:, None] * size + ids), NO_KEY)
    place = _place(_best(key, c, C, tl.full([CS], NO_KEY, tl.int64)))
    parent = tl.where(in_c, place // size, 0)
    token = tl.where(in_c, place % size, 0)
    x = tl.load(logits_ptr + (row * K + parent) * logits_row + token).to(tl.float32)
    x = tl.where(token == PAD, NEVER, x)
    of = parent[:, None] == k[None, :]
    score = (x - _picked(of, level)) - _picked(of, normal)
    value = _picked(of, before) + score
    value = tl.where(on, tl.where(in_c & (value == value), value, NEVER), NEVER)
    return parent, token, score, value, bad


@triton.jit
@no_type_check
def choose(
    logits_ptr, maxima_ptr, level_ptr, sum_ptr, penalty_ptr, step_ptr, limits_ptr,
    tokens_ptr, total_ptr, ids_ptr, scores_ptr,
    kept_ids_ptr, kept_scores_ptr, kept_score_ptr, kept_length_ptr, kept_ended_ptr,
    order_ptr, done_ptr, failed_ptr, logits_row, size, groups, chunks, room,
    K: tl.constexpr, KS: tl.constexpr, C: tl.constexpr, CS: tl.constexpr, N: tl.constexpr,
    NS: tl.constexpr, GROUP: tl.constexpr, GROUPS: tl.constexpr, CHUNKS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """A turn of one row: K hypotheses grow, C candidates, N kept finished ones; KS, CS and NS are
    the powers of 2 that hold them."""
    row = tl.program_id(0).to(tl.int64)
    k, c, n = tl.arange(0, KS), tl.arange(0, CS), tl.arange(0, NS)
    in_k, in_c, in_n = k < K, c < C, n < N
    step = tl.load(step_ptr).to(tl.int32)
    limit = tl.load(limits_ptr + row).to(tl.int32)
    total = tl.load(total_ptr + row * K + k, mask=in_k, other=NEVER)
    on = tl.load(total_ptr + row * K) > NEVER
    parent, token, score, value, bad = _candidates(
        logits_ptr, maxima_ptr, level_ptr, sum_ptr, logits_row, size, groups, chunks, row, total,
        on, k, in_k, c, in_c, K, C, CS, GROUP, GROUPS, CHUNKS,
    )  # fmt: skip

    # Those that end, of the first K, among the finished ones; a row that is done stays as it is.
    ends = in_c & (token == EOS)
    counts = ends & (c < K)
    length = step + 1
    penalty = tl.load(penalty_ptr + length)
    ended = tl.where(counts, tl.div_rn(value, tl.zeros([CS], tl.float32) + penalty), NEVER)
    kept = tl.load(kept_score_ptr + row * N + n, mask=in_n, other=NEVER)
    kept_length = tl.load(kept_length_ptr + row * N + n, mask=in_n, other=0).to(tl.int32)
    kept_ended = tl.load(kept_ended_ptr + row * N + n, mask=in_n, other=0).to(tl.int32)
    rank = _before(kept, kept, n[None, :] < n[:, None], in_n)
    rank += _before(kept, ended, c[None, :] < 0 * n[:, None], in_c)
    rank = tl.where(in_n, tl.where(on, rank, n), N)
    old = rank[None, :] == n[:, None]
    rank = _before(ended, kept, n[None, :] >= 0 * c[:, None], in_n)
    rank += _before(ended, ended, c[None, :] < c[:, None], in_c)
    rank = tl.where(in_c, tl.where(on, rank, N), N)
    new = rank[None, :] == n[:, None]
    is_old = tl.sum(old.to(tl.int32), 1) > 0
    kept = _picked(old, kept) + _picked(new, ended)
    kept_ended = _picked(old, kept_ended) + _picked(new, counts.to(tl.int32))
    kept_length = tl.where(is_old, _picked(old, kept_length), length)
    kept_from = tl.where(is_old, _picked(old, n), _picked(new, parent))
    kept_token, kept_last = _picked(new, token), _picked(new, score)

    # Those that go on.
    value = tl.where(ends, NEVER, value)
    rank = tl.where(in_c, _before(value, value, c[None, :] < c[:, None], in_c), K)
    on_ward = rank[None, :] == k[:, None]
    grown = tl.where(in_k, _picked(on_ward, value), NEVER)
    grown_from, grown_token = _picked(on_ward, parent), _picked(on_ward, token)
    grown_last = _picked(on_ward, score)

    # Where the limit is reached they take the places that are left.
    live = tl.sum((in_n & (kept > NEVER)).to(tl.int32), 0)
    live = tl.where(limit == length, live, N)
    cut = (k[None, :] == (n - live)[:, None]) & (grown > NEVER)[None, :]
    is_cut = in_n & (tl.sum(cut.to(tl.int32), 1) > 0)
    worth = tl.div_rn(grown, tl.zeros([KS], tl.float32) + penalty)
    kept = tl.where(is_cut, _picked(cut, worth), kept)
    kept_length = tl.where(is_cut, length, kept_length)
    kept_ended = tl.where(is_cut, 0, kept_ended)
    kept_from = tl.where(is_cut, _picked(cut, grown_from), kept_from)
    kept_token = tl.where(is_cut, _picked(cut, grown_token), kept_token)
    kept_last = tl.where(is_cut, _picked(cut, grown_last), kept_last)
    is_old = is_old & ~is_cut

    # Whether the row is done.
    worst = tl.sum(tl.where(n == N - 1, kept, 0.0), 0)
    highest = tl.maximum(tl.load(penalty_ptr + limit), tl.load(penalty_ptr + length + 1))
    reachable = tl.div_rn(grown, tl.zeros([KS], tl.float32) + highest)
    done = (length >= limit) | (worst >= tl.sum(tl.where(k == 0, reachable, 0.0), 0))
    grown = tl.where(done, NEVER, grown)

    tl.debug_barrier()  # all has been read
    tl.store(tokens_ptr + row * K + k, grown_token, mask=in_k)
    tl.store(total_ptr + row * K + k, grown, mask=in_k)
    tl.store(order_ptr + row * K + k, row * K + grown_from, mask=in_k)
    tl.store(kept_score_ptr + row * N + n, kept, mask=in_n)
    tl.store(kept_length_ptr + row * N + n, kept_length, mask=in_n)
    tl.store(kept_ended_ptr + row * N + n, kept_ended, mask=in_n)
    tl.store(done_ptr + row, done)
    failed = tl.load(failed_ptr + row)
    tl.store(failed_ptr + row, tl.where(bad & (failed < 0), step, failed))

    own, others = row * K, row * N
    _moved(
        ids_ptr, kept_ids_ptr, own + grown_from, own + k, in_k, others + n, in_n, is_old,
        tl.where(is_old, others + kept_from, own + kept_from), grown_token, kept_token,
        step, room, BLOCK,
    )  # fmt: skip
    _moved(
        scores_ptr, kept_scores_ptr, own + grown_from, own + k, in_k, others + n, in_n, is_old,
        tl.where(is_old, others + kept_from, own + kept_from), grown_last, kept_last,
        step, room, BLOCK,
    )  # fmt: skip
