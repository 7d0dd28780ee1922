"""Reads the test record and every approved one with h5py, and checks what a user of h5py relies on.

Usage: SAMPLE_RECORD_PROGRAM GOLDENS
"""
import hashlib
import pathlib
import struct
import subprocess
import sys
import tempfile

import h5py
import numpy as np


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def codes(dtype, shape):
    size = int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize
    return ((np.arange(size) * 37 + 11) % 256).astype("u1").view(dtype).reshape(shape)


def check_seal(path):
    with open(path, "rb") as file:
        lines = file.read(512).rstrip(b"\0").decode().splitlines()
        content = file.read()
    assert lines == ["assay golden record 1", "sha256 " + hashlib.sha256(content).hexdigest(), f"bytes {len(content)}"], lines


def number(value):
    return struct.pack("<Q", value)


def word(value):
    return number(len(value.encode())) + value.encode()


def digest(arrays):
    """As goldens/record/record.hpp defines it, of a group of datasets."""
    sha = hashlib.sha256()
    for name, data in arrays.items():
        codes = np.asarray(data[()], dtype=data.dtype.newbyteorder("<")).tobytes()
        sha.update(word(name) + word(text(data.attrs["format"])) + number(len(data.shape)))
        sha.update(b"".join(map(number, data.shape)) + number(len(codes)) + codes)
    return sha.hexdigest()


def check_record(path, family, hardware):
    check_seal(path)
    with h5py.File(path, "r") as record:
        assert text(record.attrs["family"]) == family, path
        provenance = set(record["provenance"].attrs)
        wanted = {"device", "compute_capability", "build", "inputs"} if hardware else {
            "oracle", "contracts", "generator", "inputs", "source_revision"}
        assert wanted <= provenance, (path, provenance)
        assert len(record["entries"]) != 0, path
        for name, entry in record["entries"].items():
            where = f"{path} {name}"
            assert text(entry.attrs["token"]).startswith(family + ":"), where
            assert ("route" in entry.attrs) == hardware, where
            assert len(entry["outputs"]) != 0 and digest(entry["outputs"]) == text(entry.attrs["output_digest"]), where
            if not hardware:
                assert digest(entry["inputs"]) == text(entry.attrs["input_digest"]), where


with tempfile.TemporaryDirectory() as folder:
    path = folder + "/sample.h5"
    subprocess.run([sys.argv[1], path], check=True)
    check_seal(path)
    with h5py.File(path, "r") as record:
        assert text(record.attrs["family"]) == "sample"
        assert text(record["provenance"].attrs["key 3"]) == "value 9"
        assert text(record["provenance"].attrs["utf8"]) == "\u03b5"
        assert text(record["provenance"].attrs["empty"]) == ""
        assert list(record["entries"]) == [f"{i:06}" for i in range(20)]
        entry = record["entries/000001"]
        assert text(entry.attrs["token"]) == "token=2"
        assert list(entry["outputs"]) == ["z", "b", "scalar", "none", "n"], "creation order"
        for name, dtype, shape, form in [("z", "<u2", (2, 3, 5), "fp16"), ("b", "u1", (7,), "e5m2"),
                                         ("scalar", "<u4", (), "fp32"), ("none", "u1", (0, 8), "int4")]:
            data = entry["outputs"][name]
            assert data.dtype == np.dtype(dtype) and data.shape == shape, (name, data)
            assert text(data.attrs["format"]) == form, name
            assert np.array_equal(data[()], codes(dtype, shape)), name
            assert data.fletcher32 == (data.size > 0 and shape != ()), name

goldens = pathlib.Path(sys.argv[2])
files = sorted(path for path in goldens.rglob("*.h5") if not path.name.endswith(".pending.h5") and path.name[0] != ".")
for path in files:
    folders = path.relative_to(goldens).parts[:-1]
    check_record(path, folders[0], folders[1:] == ("hardware",))
assert files, f"no records in {goldens}"
print(f"h5py reads the record, and {len(files)} approved ones")
