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
FILLS = ("normal", "ramps", "midpoints")


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


# What the functions of the package safetensors do for tensors of PyTorch, of which it is one format.
SAFETENSORS = '''
import json

def load(path):
    raw = path.read_bytes()
    data = 8 + int.from_bytes(raw[:8], "little")
    header, types = json.loads(raw[8:data]), {"F32": np.float32, "F16": np.float16}
    return {name: np.frombuffer(raw[data:][slice(*t["data_offsets"])], types[t["dtype"]]).reshape(t["shape"])
            for name, t in header.items() if name != "__metadata__"}

def save(path, tensors):
    header, data = {}, b""
    for name, t in tensors.items():
        dtype = {"data": "F8_E4M3", "scales": "U8"}[name]
        header[name] = {"dtype": dtype, "shape": t.shape, "data_offsets": [len(data), len(data) + t.nbytes]}
        data += t.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
'''


def replaced(source, *pairs):
    for old, new in pairs:
        assert source.count(old) == 1, f"the README's example has {source.count(old)} times: {old}"
        source = source.replace(old, new)
    return source


def with_safetensors(source):
    """The example with its files in safetensors."""
    files = '    with h5py.File(case) as file, h5py.File(outputs, "w") as results:\n'
    return replaced(
        source,
        ("import h5py, numpy as np\n", "import numpy as np\n" + SAFETENSORS),
        ("*.h5", "*.safetensors"),
        (files + '        results.update(cast(file["x"][...]))\n', '    save(outputs, cast(load(case)["x"]))\n'),
    )


def example_judges(folder, form, dtypes, source):
    texts = [CASE.format(dtype, fill) for dtype in dtypes for fill in FILLS]
    words = [word for case in texts for word in ("--case", case)]
    index = write_cases(folder / "cases", "--format", form, *words)
    assert [case for _, case in index] == texts, index
    right = run_example(folder, source)
    assert right.returncode == 0, right.stdout + right.stderr
    assert right.stdout.count("PASS: ") == len(texts), right.stdout

    wrong = run_example(folder, replaced(source, ("np.rint(", "np.trunc(")))
    assert wrong.returncode == 1, wrong.stdout + wrong.stderr
    assert "A001 mxfp8_cast" in wrong.stdout and "pattern: truncation" in wrong.stdout, wrong.stdout
    print(f"the example of the README passes in {form}, and fails with a wrong rounding")


def example_judges_hdf5(folder):
    assert len(blocks[0].splitlines()) <= 20, "the example of the README is longer than 20 lines"
    example_judges(folder, "hdf5", ("fp32",), blocks[0])


def example_judges_safetensors(folder):
    example_judges(folder, "safetensors", ("fp32", "fp16"), with_safetensors(blocks[0]))


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


for test in (example_judges_hdf5, example_judges_safetensors, h5py_reads):
    with tempfile.TemporaryDirectory() as name:
        test(pathlib.Path(name))
