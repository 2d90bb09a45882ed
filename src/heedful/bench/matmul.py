"""The rate of large matrix products on a device: what a model's rate is a share of."""

from dataclasses import dataclass

import torch

from heedful.bench.table import Row, attempt
from heedful.bench.timing import by_device, rates


@dataclass(frozen=True, kw_only=True)
class Product:
    """A product of two square matrices."""

    size: int
    dtype: torch.dtype

    @classmethod
    def usual(cls, device: torch.device) -> "Product":
        """8192³ in bf16 on a GPU, 2048³ in fp32 on a CPU."""
        if device.type == "cuda":
            return cls(size=8_192, dtype=torch.bfloat16)
        return cls(size=2_048, dtype=torch.float32)

    def row(self, device: torch.device, repeats: int) -> Row:
        """Its rate in TFLOP/s."""
        precision = str(self.dtype).removeprefix("torch.")
        name, unit = f"matmul {self.size}³ {precision}", "TFLOP/s"

        def measure() -> Row:
            a, b = (
                torch.randn(self.size, self.size, device=device).to(self.dtype) for _ in range(2)
            )
            seconds = by_device(lambda: a @ b, device, repeats)
            return Row.of(name, unit, rates(2 * self.size**3 / 1e12, seconds), {})

        return attempt(name, unit, measure, device)
