#!/usr/bin/env python3
"""Times a cycle of `pavior slurm` with 10,000 queued jobs on 4,096 nodes.

Slurm's programs are replaced by scripts that print the same output for 16x16x16 nodes, half of which
are `fast`. About 54 jobs of 4x4x4 nodes are running. The queued jobs have sides of 1 to 8; a third
request `fast`, a third `fast&wet`, and a third no feature. Nothing is changed.

  examples/slurm/large_queue.py pavior [JOBS]
"""

import os
import random
import resource
import subprocess
import sys
import tempfile
import time

SIDE = 16
MARK = "@MARK@"


def records(jobs):
    """Returns the states of all nodes and the job records."""
    draw = random.Random(1)
    state, lines = ["idle"] * SIDE**3, []
    corners = [(x, y, z) for z in range(0, SIDE, 4) for y in range(0, SIDE, 4) for x in range(0, SIDE, 4)]
    for x, y, z in corners:
        if draw.random() < 0.85:
            held = [x + i + SIDE * (y + j) + SIDE**2 * (z + k)
                    for k in range(4) for j in range(4) for i in range(4)]
            for node in held:
                state[node] = "allocated"
            names = ",".join(f"n{node:04}" for node in held)
            lines.append(["R", "None", "9", "64", names, "", "1795600000", f"{draw.randint(1, 30)}:00:00",
                          "1795500000", "(null)", "(null)", "shape=4x4x4"])
    for place in range(jobs):
        sides = [draw.randint(1, 8) for _ in range(3)]
        lines.append(["PD", "Licenses", str(jobs - place), str(sides[0] * sides[1] * sides[2]), "", "", "N/A",
                      f"{draw.randint(1, 24)}:00:00", str(1795500000 + place), "pavior:1",
                      draw.choice(["(null)", "fast", "fast&wet"]), "shape=" + "x".join(map(str, sides))])
    fields = [[str(number), *line[:10], "mesh", "(null)", "(null)", "1000", "(null)", line[10],
               "N/A", "0", "1", "1", "*:*:*", "0", "", "N/A", line[11]] for number, line in enumerate(lines, 1)]
    nodes = [f"n{node:04}|{is_}|{'fast,wet' if node % SIDE < 8 else '(null)'}|(null)|100|1|1:1:1|0"
             for node, is_ in enumerate(state)]
    return nodes, [MARK + "".join(field + MARK for field in job) for job in fields]


def main():
    program, jobs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        def write(name, text, mode=0o644):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
            os.chmod(os.path.join(folder, name), mode)

        nodes, queue = records(jobs)
        write("nodes", "\n".join(nodes) + "\n")
        write("jobs", "\n".join(queue) + "\n")
        write("sinfo", f"#!/bin/sh\nexec cat {folder}/nodes\n", 0o755)
        write("squeue", f"#!/bin/sh\nM=${{SQUEUE_FORMAT%%%*}}\nexec sed \"s/{MARK}/$M/g\" {folder}/jobs\n", 0o755)
        write("sbatch", "#!/bin/sh\nexit 1\n", 0o755)
        reservation = "ReservationName=pavior StartTime=1 EndTime=4000000000 Licenses=pavior:1"
        partition = "PartitionName=mesh OverSubscribe=EXCLUSIVE PriorityTier=1 State=UP"
        write("scontrol", f"#!/bin/sh\ncase \"$*\" in 'show reservation'*) echo '{reservation}';; "
                          f"'show partition'*) echo '{partition}';; esac\n", 0o755)
        write("pavior.toml", 'machine = "torus:16x16x16"\nnodes = "n{:04}"\npartition = "mesh"\n')
        path = folder + ":" + os.environ["PATH"]
        begun = time.monotonic()
        said = subprocess.run([program, "slurm", "--config", os.path.join(folder, "pavior.toml"), "--dry-run", "--once"],
                              env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True)
        wall, used = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        opened = said.stderr.count('"event":"open"')
        print(f"{jobs} jobs queued, {opened} would be opened: {wall:.2f} s, "
              f"{used.ru_utime + used.ru_stime:.2f} s of processor, {used.ru_maxrss // 1024} MiB")


main()
