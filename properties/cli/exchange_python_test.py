"""Runs the Python example of the README, as it is and with a wrong rounding in it, and reads with h5py what Assay writes.

  exchange_python_test.py README ASSAY
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

readme, assay = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2]
blocks = [part.split("```", 1)[0] for part in readme.split("```python\n")[1:]]
assert len(blocks) == 1, f"the README has {len(blocks)} Python examples"
CASE = "mxfp8_cast:in={},fp8=e4m3,rule=floor,rows=5,cols=96,fill={},seed=3"
TEXTS = [CASE.format(dtype, fill) for dtype in ("fp32", "fp16") for fill in ("normal", "ramps", "midpoints")]


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True)


def write_cases(folder, *words):
    done = run(assay, "cases", "--out", folder, *words)
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in (folder / "index.tsv").read_text().splitlines()]


def run_example(folder, source):
    (folder / "example.py").write_text(source)
    return run(sys.executable, "-B", folder / "example.py", assay, folder / "cases")


def example_judges(folder):
    words = [word for case in TEXTS for word in ("--case", case)]
    index = write_cases(folder / "cases", *words)
    assert [case for _, case in index] == TEXTS, index
    right = run_example(folder, blocks[0])
    assert right.returncode == 0, right.stdout + right.stderr
    assert right.stdout.count("PASS: ") == len(TEXTS), right.stdout

    assert blocks[0].count("np.rint(") == 1
    wrong = run_example(folder, blocks[0].replace("np.rint(", "np.trunc("))
    assert wrong.returncode == 1, wrong.stdout + wrong.stderr
    assert "A001 mxfp8_cast" in wrong.stdout and "pattern: truncation" in wrong.stdout, wrong.stdout
    print("the example of the README passes, and fails with a wrong rounding")


def h5py_reads(folder):
    cases = [
        "mxfp8_cast:in=bf16,fp8=e5m2,dir=bidimensional,rows=3,cols=64,stride=5,fill=normal,seed=1",
        "mxfp8_dequant:fp8=e4m3,out=fp32,rows=3,cols=96,seed=1",
        "matmul_nbits:model=fp16,schedule=tile,bias=once,m=2,n=8,k=96,seed=1",
        "gated_delta:io=bf16,state=fp32,gates=raw,batch=2,pool=3,slots=permuted,seed=1",
    ]
    words = [word for case in cases for word in ("--case", case)]
    same = write_cases(folder / "safetensors", *words)
    index = write_cases(folder / "hdf5", "--format", "hdf5", *words)
    for (name, case), (other, _) in zip(index, same):
        raw = (folder / "safetensors" / other).read_bytes()
        data = 8 + int.from_bytes(raw[:8], "little")
        header = json.loads(raw[8:data])
        with h5py.File(folder / "hdf5" / name) as file:
            assert text(file.attrs["assay.case"]) == case == header.pop("__metadata__")["assay.case"]
            outputs = json.loads(text(file.attrs["assay.outputs"]))
            assert outputs and all(set(one) == {"dtype", "shape"} for one in outputs.values())
            assert sorted(file) == sorted(header), (sorted(file), sorted(header))
            for tensor, info in header.items():
                assert list(file[tensor].shape) == info["shape"], tensor
                begin, end = info["data_offsets"]
                assert file[tensor][...].tobytes() == raw[data + begin : data + end], tensor
                formats = {"BF16": "bf16", "F16": "fp16", "F8_E4M3": "e4m3", "F8_E5M2": "e5m2"}
                assert text(file[tensor].attrs.get("format", "")) == formats.get(info["dtype"], ""), tensor
                if info["dtype"] == "F32":
                    assert file[tensor].dtype == np.float32
    print("h5py reads every case file")


for test in (example_judges, h5py_reads):
    with tempfile.TemporaryDirectory() as name:
        test(pathlib.Path(name))
