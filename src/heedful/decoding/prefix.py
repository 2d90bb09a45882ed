"""Tokens that an output must begin with, row by row.

B rows, K hypotheses a row, P longest prefix, V vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.decoding.scores import NEVER
from heedful.errors import UsageError
from heedful.text.specials import EOS, PAD


@dataclass(frozen=True, eq=False)
class Prefix:
    """What each row must begin with. Rows may differ in length; an empty one forces nothing."""

    ids: Tensor  # [B, P] int64, zeros after a row's own end
    lengths: Tensor  # [B] int64
    longest: int  # P, known without asking the device
    highest: int  # the largest id, likewise

    @classmethod
    def of(
        cls, prefixes: Sequence[Sequence[int]] | None, rows: int, device: torch.device | str
    ) -> "Prefix":
        if prefixes is None:
            none = torch.zeros(rows, dtype=torch.long, device=device)
            return cls(none.view(rows, 1)[:, :0], none, 0, 0)
        lists = [list(prefix) for prefix in prefixes]
        if len(lists) != rows:
            raise UsageError(f"{len(lists)} prefixes for {rows} rows. Give one a row, [] for none")
        for row, ids in enumerate(lists):
            if any(token in (PAD, EOS) or token < 0 for token in ids):
                raise UsageError(
                    f"the prefix of row {row} holds padding, an end symbol or a negative id. "
                    "Leave those out"
                )
        longest = max(map(len, lists), default=0)
        padded = [ids + [PAD] * (longest - len(ids)) for ids in lists]
        return cls(
            torch.tensor(padded, dtype=torch.long, device=device).view(rows, longest),
            torch.tensor([len(ids) for ids in lists], dtype=torch.long, device=device),
            longest,
            max((max(ids) for ids in lists if ids), default=0),
        )

    def select(self, rows: Tensor) -> "Prefix":
        return Prefix(self.ids[rows], self.lengths[rows], self.longest, self.highest)

    def force(self, log_probs: Tensor, step: int) -> Tensor:
        """[B, K, V] with all but the forced token ruled out, in rows still inside their prefix.

        The forced token keeps the log-probability that the model gives it.
        """
        if step >= self.longest:
            return log_probs
        if self.highest >= log_probs.shape[-1]:
            raise UsageError(
                f"a prefix holds the id {self.highest}, but the vocabulary has "
                f"{log_probs.shape[-1]}. Encode it with the model's own tokenizer"
            )
        rows, beams, _ = log_probs.shape
        forced = self.ids[:, step].view(rows, 1, 1).expand(rows, beams, 1)
        only = torch.full_like(log_probs, NEVER).scatter_(2, forced, log_probs.gather(2, forced))
        inside = (step < self.lengths).view(rows, 1, 1)
        return torch.where(inside, only, log_probs)
