"""Reads the test record with h5py and checks what a user of h5py relies on. Usage: SAMPLE_RECORD_PROGRAM"""
import hashlib
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


with tempfile.TemporaryDirectory() as folder:
    path = folder + "/sample.h5"
    subprocess.run([sys.argv[1], path], check=True)
    with open(path, "rb") as file:
        lines = file.read(512).rstrip(b"\0").decode().splitlines()
        content = file.read()
    assert lines == ["assay golden record 1", "sha256 " + hashlib.sha256(content).hexdigest(), f"bytes {len(content)}"], lines

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
print("h5py reads the record")
