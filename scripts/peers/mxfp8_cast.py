#!/usr/bin/env python3
"""Times of PyTorch at what `assay bench` times of the family mxfp8_cast, for its option --peers.

  scripts/peers/mxfp8_cast.py --json FILE      needs PyTorch with CUDA and Triton; under four minutes
  scripts/peers/mxfp8_cast.py --names          the names it writes; needs nothing

A plain implementation of the cast (bf16 to e4m3, scale rule rceil, special blocks poison) goes through torch.compile,
in its default mode and in max-autotune-no-cudagraphs, each of which is a peer. Before anything is timed, the implementation
is compared with exact arithmetic on a small matrix, and every compiled function with the same code run eagerly.

The protocol is in protocol.py. Exits 0 when every time was taken, 1 when one is missing or wrong, 4 without PyTorch or
a GPU.
"""

import bisect
import math
import struct
import sys

from protocol import Task, run, torch

SHAPES = ((1024, 1024), (2048, 4096), (4096, 4096), (8192, 8192), (16384, 16384), (65536, 16384))
DIRECTIONS = ("rowwise", "bidimensional")
PEERS = {"default": "torch.compile", "max-autotune-no-cudagraphs": "torch.compile, max-autotune"}  # by mode
BLOCK = 32


def name_of(direction, rows, cols):
    return f"{direction}, bf16 to e4m3, {rows} x {cols}"


def traffic(direction, rows, cols):
    """Bytes read and written: each element of x once, each byte of data and scales once."""
    outputs = 1 if direction == "rowwise" else 2
    return 2 * rows * cols + outputs * (rows * cols + rows * cols // BLOCK)


# The cast. The maximum of a block is divided by 448, the largest e4m3; the scale is the power of two at or above that,
# taken on its bits.


def scales_of(amax):
    bits = (amax.to(torch.float32) * (1.0 / 448.0)).view(torch.int32)
    byte = (bits >> 23) + ((bits & 0x7FFFFF) != 0).to(torch.int32)
    byte = torch.where(bits <= 0x400000, torch.zeros_like(byte), byte)  # up to 2^-127
    return byte.clamp(max=255)  # 255: the block holds a NaN or an Inf


def scaled(x, byte):
    reciprocal = torch.where(byte < 254, (254 - byte) << 23, torch.where(byte == 254, 0x00400000, 0x7FC00000))
    product = x.to(torch.float32) * reciprocal.to(torch.int32).view(torch.float32)
    return product.clamp(-448.0, 448.0).to(torch.float8_e4m3fn)


def cast_rowwise(x):
    rows, cols = x.shape
    blocks = x.view(rows, cols // BLOCK, BLOCK)
    byte = scales_of(blocks.abs().amax(dim=2, keepdim=True))
    return scaled(blocks, byte).view(rows, cols), byte.to(torch.uint8).view(rows, cols // BLOCK)


def cast_colwise(x):
    rows, cols = x.shape
    blocks = x.view(rows // BLOCK, BLOCK, cols)
    byte = scales_of(blocks.abs().amax(dim=1, keepdim=True))
    return scaled(blocks, byte).view(rows, cols), byte.to(torch.uint8).view(rows // BLOCK, cols)


def cast_bidimensional(x):
    return cast_rowwise(x) + cast_colwise(x)


CASTS = {"rowwise": cast_rowwise, "bidimensional": cast_bidimensional}


# The same in exact arithmetic, a block at a time. Python's floats hold every number here exactly.


def e4m3_magnitude(code):
    exponent, mantissa = code >> 3, code & 7
    return math.ldexp(mantissa, -9) if exponent == 0 else math.ldexp(8 + mantissa, exponent - 10)


MAGNITUDES = [e4m3_magnitude(code) for code in range(127)]


def nearest_e4m3(value):
    """To nearest, ties to the even code, saturating."""
    magnitude = abs(value)
    sign = 0x80 if math.copysign(1.0, value) < 0 else 0
    if magnitude >= MAGNITUDES[-1]:
        return sign | 126
    above = bisect.bisect_right(MAGNITUDES, magnitude)
    below = above - 1
    down, up = magnitude - MAGNITUDES[below], MAGNITUDES[above] - magnitude
    return sign | (below if down < up or (down == up and below % 2 == 0) else above)


def to_fp32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def exact_block(values):
    """Scale byte and codes of one block of finite values."""
    amax = max(abs(value) for value in values)
    quotient = to_fp32(amax * to_fp32(1.0 / 448.0))
    mantissa, exponent = math.frexp(quotient)  # in [0.5, 1): a power of two is 0.5 of the next
    log2 = exponent - 1 if mantissa == 0.5 else exponent
    byte = 0 if quotient == 0 else max(log2, -127) + 127
    return byte, [nearest_e4m3(math.ldexp(value, 127 - byte)) for value in values]


def exact_rowwise(x):
    """Data and scales of a matrix, given and returned as lists of rows."""
    data, scales = [], []
    for row in x:
        blocks = [exact_block(row[i : i + BLOCK]) for i in range(0, len(row), BLOCK)]
        data.append([code for _, codes in blocks for code in codes])
        scales.append([byte for byte, _ in blocks])
    return data, scales


def transposed(rows):
    return [list(column) for column in zip(*rows)]


def check_against_exact():
    """What is wrong with the eager cast; nothing when nothing is."""
    rows = cols = 2 * BLOCK
    x = torch.randn(rows, cols, device="cuda", generator=torch.Generator("cuda").manual_seed(1))
    powers = torch.arange(cols, device="cuda") % 24 - 12
    x = torch.ldexp(x, powers).to(torch.bfloat16)
    x[:BLOCK, :BLOCK] = 0
    x[BLOCK, :] = 448.0
    x[3, 7] = -0.0
    values = x.to(torch.float32).tolist()
    expected = list(exact_rowwise(values)) + [transposed(part) for part in exact_rowwise(transposed(values))]
    for part, (actual, wanted) in enumerate(zip(cast_bidimensional(x), expected)):
        if actual.view(torch.uint8).tolist() != wanted:
            return f"output {part} of the eager cast differs from exact arithmetic"
    return ""


def equals_eager(direction, compiled, x):
    """Whether the compiled function has the bits of the eager one, on the first rows where x is large."""
    rows = min(x.shape[0], 1024)
    for eager, whole in zip(CASTS[direction](x[:rows]), compiled(x)):
        part = whole[: eager.shape[0]]
        if not torch.equal(eager.view(torch.uint8), part.view(torch.uint8)):
            return False
    return True


def compiled_cast(direction, rows, cols, mode):
    torch.compiler.reset()
    generator = torch.Generator("cuda").manual_seed(1)
    x = torch.randn(rows, cols, dtype=torch.bfloat16, device="cuda", generator=generator)
    compiled = torch.compile(CASTS[direction], mode=mode, dynamic=False, fullgraph=True)
    if not equals_eager(direction, compiled, x):
        raise RuntimeError("its bits are not those of the eager cast")
    return lambda: compiled(x)


def make_tasks():
    """Modes in turn, so that a lack of time costs the last one."""
    version = torch.__version__ if torch else "absent"
    return [
        Task(
            name_of(direction, *shape),
            peer,
            f"mode {mode}, PyTorch {version}",
            traffic(direction, *shape),
            lambda direction=direction, shape=shape, mode=mode: compiled_cast(direction, *shape, mode),
        )
        for mode, peer in PEERS.items()
        for direction in DIRECTIONS
        for shape in SHAPES
    ]


if __name__ == "__main__":
    sys.exit(run(__doc__, make_tasks, check_against_exact))
