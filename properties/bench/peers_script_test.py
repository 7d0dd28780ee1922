"""The exact arithmetic that scripts/peers/mxfp8_cast.py holds PyTorch against, against the approved bits; and the names
it writes against the program's. Usage: SCRIPT GOLDEN_RECORD PROGRAM"""
import importlib.util
import subprocess
import sys

import h5py
import numpy as np

spec = importlib.util.spec_from_file_location("peers", sys.argv[1])
peers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(peers)


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

names = subprocess.run([sys.argv[1], "--names"], check=True, capture_output=True, text=True).stdout.splitlines()
listed = subprocess.run([sys.argv[3], "bench", "--list"], check=True, capture_output=True, text=True).stdout.splitlines()
assert len(names) == 12 and set(names) <= set(listed), set(names) - set(listed)
assert peers.traffic("rowwise", 64, 32) == 64 * (2 * 32 + 32 + 1)
assert peers.traffic("bidimensional", 64, 32) == 64 * (2 * 32 + 2 * (32 + 1))
print(f"{compared} blocks as approved")
