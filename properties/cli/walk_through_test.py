"""Runs the walk-through of the README: the commands as they stand there, in a copy of the project's data, with a program
whose kernel is broken until the walk-through says that it is mended.

  walk_through_test.py SOURCE ASSAY BROKEN-ASSAY

Blocks of the language `console` with the word walk-through are its steps; exit-N is how a block's commands end, `mended`
marks those from which on the kernel is right. Every line of output that is shown has to occur in that order, "..."
standing for any text.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

source, assay, broken = (pathlib.Path(word).resolve() for word in sys.argv[1:])
readme = (source / "README.md").read_text()


def steps():
    """(words after `console`, [(command, [lines of output])]) of each block of the walk-through."""
    for words, body in re.findall(r"^```console ([^\n]*)\n(.*?)^```$", readme, re.M | re.S):
        if "walk-through" not in words.split():
            continue
        commands = []
        for line in body.replace("\\\n", "").splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            else:
                commands[-1][1].append(line)
        yield words.split(), commands


def missing(shown, output):
    """The first line shown that does not occur in the output, after those before it."""
    lines = iter(output.splitlines())
    for line in shown:
        pattern = ".*".join(re.escape(part) for part in line.split("..."))
        if pattern not in ("", ".*") and not any(re.fullmatch(pattern, one) for one in lines):
            return line


def use(program, folder):
    (folder / "assay").write_text(f'#!/bin/sh\nexec {shlex.quote(str(program))} "$@"\n')
    (folder / "assay").chmod(0o755)


def walk(folder):
    shutil.copytree(source / "fixtures", folder / "fixtures")
    (folder / "goldens").mkdir()
    shutil.copy(source / "README.md", folder)
    example = [part.split("```", 1)[0] for part in readme.split("```python\n")[1:]]
    (folder / "example.py").write_text(example[0])
    environment = {**os.environ, "ASSAY_HOME": str(folder)}
    environment.pop("CI", None)  # a reader types this
    environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + environment["PATH"]
    use(broken, folder)
    ran, mended, texts = 0, False, []
    for words, commands in steps():
        if "mended" in words:
            use(assay, folder)
            mended = True
        wanted = next((int(word[5:]) for word in words if word.startswith("exit-")), 0)
        for command, shown in commands:
            done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
            output = done.stdout + done.stderr
            assert done.returncode == wanted, f"$ {command}\nexit code {done.returncode}, not {wanted}\n{output}"
            line = missing(shown, output)
            assert line is None, f"$ {command}\nthe README shows this line, the output has it not: {line}\n{output}"
            ran += 1
            texts.append(command)
    assert mended and ran >= 6, f"the walk-through of the README has {ran} commands"
    for command in ("repro", "capture", "gate"):
        assert any(text.startswith(f"./assay {command}") for text in texts), f"no step is `{command}`"
    print(f"{ran} commands of the walk-through ran as shown")


def fixtures():
    return sorted(path for path in (source / "fixtures").rglob("*"))


with tempfile.TemporaryDirectory() as name:
    before = fixtures()
    walk(pathlib.Path(name))
    assert fixtures() == before, "the walk-through left a fixture behind"
