#!/usr/bin/env python3
"""Times of PyTorch at what `assay bench` times of the family matmul_nbits, for its option --peers.

  scripts/peers/matmul_nbits.py --json FILE      needs PyTorch with CUDA; under half a minute
  scripts/peers/matmul_nbits.py --names          the names it writes; needs nothing

The peer is torch.ops.aten._weight_int4pack_mm: bf16 activations of one row, int4 weights in groups of 32 packed for
tensor cores, a bf16 scale and zero for each group. It reads four bytes a group where the benchmark's weights have two.
Before anything is timed, and again for every shape, its results are compared with exact sums: of integers, which
neither the kernel's arithmetic nor its order can round before the end.

The protocol is in protocol.py. Exits 0 when every time was taken, 1 when one is missing or wrong, 4 without PyTorch or
a GPU.
"""

import sys

from protocol import Task, run, torch

SHAPES = ((4096, 4096), (14336, 4096), (4096, 14336), (32000, 4096))  # n, k
GROUP = 32
INNER_K_TILES = 8
PEER = "torch _weight_int4pack_mm"


def name_of(n, k):
    return f"GEMV, bf16, {n} x {k}"


def traffic(n, k):
    """Bytes of the benchmark: activations, weights and scales read once each, results written."""
    return 2 * k + n * k // 2 + 2 * n * (k // GROUP) + 2 * n


def nearest_bf16(value):
    """An integer rounded to the eight significant bits of bf16, ties to even."""
    magnitude = abs(value)
    dropped = max(magnitude.bit_length() - 8, 0)
    kept, rest = magnitude >> dropped, magnitude & ((1 << dropped) - 1)
    half = (1 << dropped) >> 1
    if rest > half or (rest == half and dropped and kept & 1):
        kept += 1
    return (kept << dropped) * (-1 if value < 0 else 1)


def packed(codes):
    """Codes 0..15 [n, k] in the order the kernel reads them."""
    pairs = (codes[:, ::2] << 4 | codes[:, 1::2]).to(torch.uint8)
    try:
        return torch.ops.aten._convert_weight_to_int4pack(pairs, INNER_K_TILES)
    except RuntimeError:  # before PyTorch 2.5 it took one code an int32
        return torch.ops.aten._convert_weight_to_int4pack(codes.to(torch.int32), INNER_K_TILES)


class Operands:
    """Integers: activations -2..2, weights (code - zero) * scale with zeros 0..15 and scales 1, 2, 4."""

    def __init__(self, n, k):
        generator = torch.Generator("cuda").manual_seed(1)

        def draw(low, high, *shape):
            return torch.randint(low, high, shape, device="cuda", generator=generator, dtype=torch.int32)

        self.activations = draw(-2, 3, 1, k)
        self.codes = draw(0, 16, n, k)
        zero_points = draw(0, 16, k // GROUP, n)
        scales = 1 << draw(0, 3, k // GROUP, n)
        # The kernel computes (code - 8) * scale + zero.
        zeros = (8 - zero_points) * scales
        self.a = self.activations.to(torch.bfloat16)
        self.weights = packed(self.codes)
        self.scales_and_zeros = torch.stack([scales, zeros], dim=2).to(torch.bfloat16).contiguous()
        self.centred = (self.codes - zero_points.t().repeat_interleave(GROUP, dim=1)) * scales.t().repeat_interleave(
            GROUP, dim=1
        )

    def multiply(self):
        return torch.ops.aten._weight_int4pack_mm(self.a, self.weights, GROUP, self.scales_and_zeros)

    def exact(self):
        """The results as integers, before the rounding to bf16; exact in int64."""
        return (self.centred.to(torch.int64) * self.activations.to(torch.int64)).sum(dim=1).tolist()

    def differing(self):
        """How many results are not the exact sums rounded once."""
        actual = self.multiply().to(torch.float64).flatten().tolist()
        return sum(a != nearest_bf16(e) for a, e in zip(actual, self.exact(), strict=True))


def check_against_exact():
    """What is wrong on a small matrix; nothing when nothing is."""
    differing = Operands(64, 512).differing()
    return f"{differing} of 64 results of a small matrix differ from exact sums" if differing else ""


def make_call(n, k):
    operands = Operands(n, k)
    if differing := operands.differing():
        raise RuntimeError(f"{differing} of {n} results differ from exact sums")
    del operands.centred, operands.codes
    return operands.multiply


def make_tasks():
    version = torch.__version__ if torch else "absent"
    note = f"groups of {GROUP}, PyTorch {version}"
    return [Task(name_of(n, k), PEER, note, traffic(n, k), lambda n=n, k=k: make_call(n, k)) for n, k in SHAPES]


if __name__ == "__main__":
    sys.exit(run(__doc__, make_tasks, check_against_exact))
