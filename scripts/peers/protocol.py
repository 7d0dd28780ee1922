"""What the scripts of this folder share: PyTorch as a peer of `assay bench`, for its option --peers.

The protocol is that of kernels/runtime/timer.hpp: caches made cold by writing twice the size of the L2 cache, one call
between two events while the device is still writing (asked of the device each time), warm clocks, peer and copy in
turn, the median.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

RUNS = 30

try:
    import torch
except ImportError:
    torch = None


class Clock:
    """Times calls that take turns; see the protocol above."""

    def __init__(self):
        l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        self.scratch = torch.empty(2 * l2_bytes, dtype=torch.uint8, device="cuda")
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.passes = 1
        self.exposed = 0

    def sample(self, call):
        for attempt in range(8):
            for value in range(self.passes):
                self.scratch.fill_(value)
            self.begin.record()
            call()
            self.end.record()
            late = self.begin.query()
            self.end.synchronize()
            if not late:
                break
            self.passes = min(2 * self.passes, 64)
        else:
            self.exposed += 1
        return 1e3 * self.begin.elapsed_time(self.end)

    def medians(self, calls):
        self.passes = 1
        warm_until = time.monotonic() + 0.3
        while time.monotonic() < warm_until:
            for call in calls:
                call()
            torch.cuda.synchronize()
        samples = [[self.sample(call) for call in calls] for _ in range(RUNS)]
        return [statistics.median(column) for column in zip(*samples)]


class Task:
    """One peer at one benchmark. make() gives what is timed once, and is itself not timed; it raises when the peer does
    not compute what it should. `traffic` counts the bytes that the benchmark reads and writes, each once."""

    def __init__(self, name, peer, note, traffic, make):
        self.name, self.peer, self.note, self.traffic, self.make = name, peer, note, traffic, make

    def measure(self, clock):
        """Medians of the peer and of a copy of as many bytes, in microseconds."""
        call = self.make()
        generator = torch.Generator("cuda").manual_seed(1)
        size = self.traffic // 2
        source = torch.randint(0, 256, (size,), dtype=torch.uint8, device="cuda", generator=generator)
        target = torch.empty_like(source)
        return clock.medians([call, lambda: target.copy_(source)])


def measure_all(tasks, deadline):
    """[(task, microseconds, microseconds of the copy)] of the tasks that worked, in their order, so that a lack of time
    costs the last ones."""
    clock = Clock()
    taken = []
    for task in tasks:
        if time.monotonic() > deadline:
            print(f"no time left for {task.name}, {task.peer}", file=sys.stderr)
            continue
        try:
            taken.append((task, *task.measure(clock)))
        except Exception as error:  # a compiler may fail in any way; another peer may do
            first_line = (str(error).splitlines() or [type(error).__name__])[0]
            print(f"{task.name}, {task.peer}: {first_line}", file=sys.stderr)
        torch.cuda.empty_cache()
    if clock.exposed:
        print(f"{clock.exposed} calls may hold launch latency", file=sys.stderr)
    return taken


def entries_of(taken):
    """What `assay bench --peers` reads: the peers of a benchmark, and the fastest of the copies timed beside them."""
    entries, copies = [], {}
    for name in dict.fromkeys(task.name for task, _, _ in taken):
        for task, peer_us, copy_us in taken:
            if task.name != name:
                continue
            entries.append({"name": name, "time_us": peer_us, "peer": task.peer, "note": task.note})
            copies[name] = min(copy_us, copies.get(name, copy_us))
        entries.append({"name": name, "time_us": copies[name], "peer": "torch copy_"})
    return entries


def print_table(taken):
    print(f"{'benchmark':<44} {'us':>9} {'TB/s':>6} {'copy us':>9}  peer")
    for name in dict.fromkeys(task.name for task, _, _ in taken):
        for task, peer_us, copy_us in taken:
            if task.name == name:
                rate = task.traffic / peer_us / 1e6
                print(f"{name:<44} {peer_us:>9.2f} {rate:>6.2f} {copy_us:>9.2f}  {task.peer}")


def run(description, make_tasks, check):
    """The program: options, the check before anything is timed, the times, the file. make_tasks() needs no PyTorch.
    Exits 0 when every benchmark has a time, 1 when one has none or the check fails, 4 without PyTorch or a GPU."""
    program = Path(sys.argv[0]).name
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", default="peers.json", help="what to write; default peers.json")
    parser.add_argument("--seconds", metavar="N", type=float, default=200, help="begin no measurement after this")
    parser.add_argument("--names", action="store_true", help="print the names of the benchmarks and end")
    arguments = parser.parse_args()
    tasks = make_tasks()
    names = list(dict.fromkeys(task.name for task in tasks))
    if arguments.names:
        print("\n".join(names))
        return 0
    deadline = time.monotonic() + arguments.seconds
    if torch is None or not torch.cuda.is_available():
        print(f"{program}: PyTorch with a CUDA device is needed", file=sys.stderr)
        return 4
    print(f"{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}, medians of {RUNS}")
    if wrong := check():
        print(f"{program}: {wrong}", file=sys.stderr)
        return 1
    taken = measure_all(tasks, deadline)
    print_table(taken)
    with open(arguments.json, "w", encoding="utf-8") as file:
        json.dump(entries_of(taken), file, indent=1)
        file.write("\n")
    missing = [name for name in names if all(task.name != name for task, _, _ in taken)]
    for name in missing:
        print(f"{program}: no time for '{name}'", file=sys.stderr)
    return 1 if missing else 0
