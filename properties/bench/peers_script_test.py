"""The exact arithmetic that the scripts of scripts/peers hold PyTorch against: of mxfp8_cast against the approved bits, of
matmul_nbits against another way to round; the names they write against the program's; and what they write of times.
Usage: scripts/peers GOLDEN_RECORD PROGRAM"""
import struct
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, sys.argv[1])
import gated_delta
import matmul_nbits
import mxfp8_cast as peers
import protocol


def text(value):
    return value.decode() if isinstance(value, bytes) else value


# Ties go to the even code, in the normal and in the subnormal range; the largest code saturates; zero keeps its sign.
for value, code in [(1.0, 0x38), (1.0625, 0x38), (1.1875, 0x3A), (-1.0625, 0xB8), (2**-10, 0x00), (3 * 2**-10, 0x02),
                    (448.0, 0x7E), (464.0, 0x7E), (1e9, 0x7E), (-1e9, 0xFE), (0.0, 0x00), (-0.0, 0x80)]:
    assert peers.nearest_e4m3(value) == code, (value, hex(peers.nearest_e4m3(value)), hex(code))

compared = 0
with h5py.File(sys.argv[2], "r") as record:
    for entry in record["entries"].values():
        token = text(entry.attrs["token"])
        fields = dict(part.split("=", 1) for part in token.split(":", 1)[1].split(","))
        # What the script computes: packed rowwise scales by this rule. Blocks with NaN or Inf are not compared.
        if fields["fp8"] != "e4m3" or fields["rule"] != "rceil" or fields.get("dir", "rowwise") != "rowwise":
            continue
        if fields.get("scales", "linear") != "linear":
            continue
        rows, cols = int(fields["rows"]), int(fields["cols"])
        x = (entry["inputs/x"][()].astype("<u4") << 16).view("<f4").reshape(rows, cols)
        data, scales = (entry["outputs"][name][()] for name in list(entry["outputs"])[:2])
        for row in range(rows):
            for block in range(cols // peers.BLOCK):
                part = slice(block * peers.BLOCK, (block + 1) * peers.BLOCK)
                if np.isfinite(x[row, part]).all():
                    expected = scales[row, block], data[row, part].tolist()
                    assert peers.exact_block([float(v) for v in x[row, part]]) == expected, (token, row, block)
                    compared += 1
assert compared >= 100, compared

# A matrix is its blocks: two rows of two.
matrix = [[float(row * 64 + column - 50) for column in range(64)] for row in range(2)]
data, scales = peers.exact_rowwise(matrix)
for row in range(2):
    for block in range(2):
        part = slice(block * 32, block * 32 + 32)
        assert peers.exact_block(matrix[row][part]) == (scales[row][block], data[row][part])
assert peers.transposed([[1, 2, 3], [4, 5, 6]]) == [[1, 4], [2, 5], [3, 6]]

# Integers to bf16: fp32 holds these exactly, and its upper half is bf16.
for value in [*range(1 << 12), *range((1 << 23) - 300, (1 << 23) + 300), 255 << 13, 0x1FF << 7, 0xFFFF80, 0xFF8000]:
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    assert matmul_nbits.nearest_bf16(value) == struct.unpack("<f", struct.pack("<I", bits))[0], value
    assert matmul_nbits.nearest_bf16(-value) == -matmul_nbits.nearest_bf16(value)


def lines_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


listed = set(lines_of(sys.argv[3], "bench", "--list"))
for script, count in [("mxfp8_cast.py", 12), ("matmul_nbits.py", 4), ("gated_delta.py", 10)]:
    names = lines_of(f"{sys.argv[1]}/{script}", "--names")
    assert len(names) == count and set(names) <= listed, set(names) - listed
# Bytes that the program counts at the same benchmarks: x, weights, scales, y.
assert matmul_nbits.traffic(64, 128) == 2 * 128 + 64 * 64 + 64 * 4 * 2 + 2 * 64

# One sequence: its states twice, q, k and v, gates, a slot, o.
assert gated_delta.traffic(1) == 2 * 4 * 32 * 128 * 128 + 2 * (2 * 16 + 32) * 128 + 2 * 4 * 32 + 4 + 2 * 32 * 128

# Of every benchmark its peers, then the fastest of the copies that were timed beside them.
first, second = (protocol.Task(name, "peer A", "how", 100, None) for name in ("one", "two"))
again = protocol.Task("one", "peer B", "how", 100, None)
assert protocol.entries_of([(first, 3.0, 2.5), (second, 5.0, 4.5), (again, 2.0, 2.25)]) == [
    {"name": "one", "time_us": 3.0, "peer": "peer A", "note": "how"},
    {"name": "one", "time_us": 2.0, "peer": "peer B", "note": "how"},
    {"name": "one", "time_us": 2.25, "peer": "torch copy_"},
    {"name": "two", "time_us": 5.0, "peer": "peer A", "note": "how"},
    {"name": "two", "time_us": 4.5, "peer": "torch copy_"},
]
assert peers.traffic("rowwise", 64, 32) == 64 * (2 * 32 + 32 + 1)
assert peers.traffic("bidimensional", 64, 32) == 64 * (2 * 32 + 2 * (32 + 1))
print(f"{compared} blocks as approved")
