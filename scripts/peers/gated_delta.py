#!/usr/bin/env python3
"""Times of Triton at what `assay bench` times of the family gated_delta, for its option --peers.

  scripts/peers/gated_delta.py --json FILE      needs PyTorch with CUDA and Triton; under two minutes
  scripts/peers/gated_delta.py --names          the names it writes; needs nothing

The peer is a kernel of one step as such kernels are written in Triton: a program takes some columns of one head, holds
all rows of them, and reduces over the rows. Its functions are the hardware's approximations, and its sums are in
Triton's order. Several widths are timed, because none is best at every batch. Before anything is timed, and again for
every shape, its results are compared with exact ones: of operands with which no operation rounds.

The protocol is in protocol.py. Exits 0 when every time was taken, 1 when one is missing or wrong, 4 without PyTorch,
Triton or a GPU.
"""

import sys

from protocol import Task, run, torch

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

BATCHES = (1, 4, 16, 64, 256)
KEY_HEADS, HEADS, KEY_DIM, VALUE_DIM = 16, 32, 128, 128
SCALE = 0.125  # a power of two, for exact results
EPSILON = 1e-6
FORMS = ((8, 1), (16, 2), (32, 4), (64, 8))  # columns of a program, and its warps


def name_of(batch, layout):
    return f"batch {batch}, {HEADS} heads, {KEY_DIM} x {VALUE_DIM}, fp32 state, {layout}, gates given"


def traffic(batch):
    """Bytes of the peer: the state read and written, q, k and v in bf16, g and beta, a slot, o in bf16."""
    state = 4 * HEADS * KEY_DIM * VALUE_DIM
    token = 2 * (2 * KEY_HEADS * KEY_DIM + HEADS * VALUE_DIM) + 2 * 4 * HEADS + 4 + 2 * HEADS * VALUE_DIM
    return batch * (2 * state + token)


if triton is not None:

    @triton.jit
    def one_step(
        q,
        k,
        v,
        g,
        beta,
        state,
        slots,
        o,
        scale,
        eps,
        KEY_HEADS: tl.constexpr,
        HEADS: tl.constexpr,
        K: tl.constexpr,
        V: tl.constexpr,
        COLUMNS: tl.constexpr,
        ROW_STRIDE: tl.constexpr,
        COLUMN_STRIDE: tl.constexpr,
    ):
        part = tl.program_id(0)
        pair = tl.program_id(1)  # of sequence and head
        slot = tl.load(slots + pair // HEADS).to(tl.int64)
        rows = tl.arange(0, K)
        columns = part * COLUMNS + tl.arange(0, COLUMNS)
        cells = state + (slot * HEADS + pair % HEADS) * K * V
        cells = cells + rows[:, None] * ROW_STRIDE + columns[None, :] * COLUMN_STRIDE
        s = tl.load(cells)
        key_pair = pair // HEADS * KEY_HEADS + pair % HEADS // (HEADS // KEY_HEADS)
        x = tl.load(q + key_pair * K + rows).to(tl.float32)
        y = tl.load(k + key_pair * K + rows).to(tl.float32)
        x = x / tl.sqrt(tl.sum(x * x) + eps) * scale
        y = y / tl.sqrt(tl.sum(y * y) + eps)
        s = s * tl.exp(tl.load(g + pair))
        predicted = tl.sum(s * y[:, None], axis=0)
        u = (tl.load(v + pair * V + columns).to(tl.float32) - predicted) * tl.load(beta + pair)
        s = s + y[:, None] * u[None, :]
        tl.store(o + pair * V + columns, tl.sum(s * x[:, None], axis=0).to(tl.bfloat16))
        tl.store(cells, s)


class Operands:
    """Small integers and powers of two: q and k have one element that is not zero, 2^10, beside whose square eps is
    lost; nothing decays, and beta is 1/2."""

    def __init__(self, batch, layout):
        generator = torch.Generator("cuda").manual_seed(1)

        def draw(low, high, *shape):
            return torch.randint(low, high, shape, device="cuda", generator=generator, dtype=torch.int32)

        self.batch, self.layout = batch, layout
        self.q_row = draw(0, KEY_DIM, batch, KEY_HEADS).long()
        self.k_row = draw(0, KEY_DIM, batch, KEY_HEADS).long()
        self.v = draw(-8, 9, batch, HEADS, VALUE_DIM).to(torch.bfloat16)
        shape = (batch, HEADS, KEY_DIM, VALUE_DIM) if layout == "[K,V]" else (batch, HEADS, VALUE_DIM, KEY_DIM)
        self.state = draw(-8, 9, *shape).to(torch.float32)
        self.q, self.k = (
            torch.zeros(batch, KEY_HEADS, KEY_DIM, device="cuda").scatter_(2, row[..., None], 1024.0).to(torch.bfloat16)
            for row in (self.q_row, self.k_row)
        )
        self.g = torch.zeros(batch, HEADS, device="cuda")
        self.beta = torch.full((batch, HEADS), 0.5, device="cuda")
        self.slots = torch.arange(batch, device="cuda", dtype=torch.int32)
        self.o = torch.empty_like(self.v)

    def step(self, columns, warps):
        strides = (VALUE_DIM, 1) if self.layout == "[K,V]" else (1, KEY_DIM)
        one_step[(VALUE_DIM // columns, self.batch * HEADS)](
            self.q, self.k, self.v, self.g, self.beta, self.state, self.slots, self.o, SCALE, EPSILON,
            KEY_HEADS, HEADS, KEY_DIM, VALUE_DIM, columns, *strides, num_warps=warps,
        )  # fmt: skip

    def expected(self):
        """State and o: the row of k becomes the mean of itself and v, and o is an eighth of the row of q."""
        state = self.state if self.layout == "[K,V]" else self.state.transpose(2, 3)
        state = state.contiguous().clone()
        q_row, k_row = (
            row.repeat_interleave(HEADS // KEY_HEADS, dim=1)[..., None, None].expand(-1, -1, 1, VALUE_DIM)
            for row in (self.q_row, self.k_row)
        )
        row = (state.gather(2, k_row) + self.v.float()[:, :, None, :]) / 2
        state.scatter_(2, k_row, row)
        out = state.gather(2, q_row)[:, :, 0, :] * SCALE
        return (state if self.layout == "[K,V]" else state.transpose(2, 3).contiguous()), out.to(torch.bfloat16)

    def differing(self, columns, warps):
        """How many results of one step are not the exact ones."""
        state, out = self.expected()
        self.step(columns, warps)
        return int((self.state != state).sum() + (self.o != out).sum())


def check_against_exact():
    """What is wrong with a few sequences; nothing when nothing is."""
    for layout in ("[K,V]", "[V,K]"):
        for columns, warps in FORMS:
            if differing := Operands(2, layout).differing(columns, warps):
                return f"{differing} results of a small batch in {layout} differ from exact ones"
    return ""


def make_call(batch, layout, columns, warps):
    operands = Operands(batch, layout)
    if differing := operands.differing(columns, warps):
        raise RuntimeError(f"{differing} results differ from exact ones")
    return lambda: operands.step(columns, warps)


def make_tasks():
    version = triton.__version__ if triton else "absent"
    return [
        Task(
            name_of(batch, layout),
            f"Triton, {columns} columns",
            f"{warps} warps, Triton {version}",
            traffic(batch),
            lambda batch=batch, layout=layout, columns=columns, warps=warps: make_call(batch, layout, columns, warps),
        )
        for layout in ("[K,V]", "[V,K]")
        for batch in BATCHES
        for columns, warps in FORMS
    ]


if __name__ == "__main__":
    if triton is None and "--names" not in sys.argv and "--help" not in sys.argv:
        print("gated_delta.py: Triton is needed", file=sys.stderr)
        sys.exit(4)
    sys.exit(run(__doc__, make_tasks, check_against_exact))
