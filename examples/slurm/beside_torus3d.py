"""The same jobs on Slurm's topology/torus3d and on `pavior slurm`: who waits, who is refused, what fits.

    python3 examples/slurm/beside_torus3d.py ROOT PAVIOR OUT.csv [4x4x4,8x8x4] [1,2,3]
    python3 examples/slurm/beside_torus3d.py table OUT.csv ...

ROOT is a chroot with Debian's slurm-wlm, slurm-wlm-basic-plugins, slurm-client, slurmctld, slurmd and
munge of 26.05 or later, with /dev and /proc bound; PAVIOR is the program, built with the feature `slurm`.
As root. For each machine and seed three clusters run at once on the loopback interface, with a slurmd a
node, and get the same jobs at the same moments:

- aligned: torus3d with the file of `pavior slurm generate`;
- any: torus3d with that of `generate --anchors any --turn`;
- pavior: topology/flat, and the daemon with the settings of docs/slurm.md.

A row of OUT.csv is a job: of the stream (kind `stream`), or of the test of what fits (`fill`: on an
empty machine, one after the other; `refill`: after every second one was ended). What ran where is
read from Slurm's own log of completed jobs. The second form prints the tables of results/torus3d.md.
"""

import csv
import datetime
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time

ARRIVALS = 200  # seconds in which jobs of the stream arrive
LOAD = 0.9  # of the nodes, if no node were ever idle
RUNS = (5, 35)  # seconds that a job runs; its time limit is a minute
PATIENCE = 7  # seconds that a job may take to start in the test of what fits
MIXES = {
    "4x4x4": "1x1x1:3 2x1x1:3 2x2x1:3 4x1x1:2 3x1x1:1 2x2x2:3 4x2x1:1 4x2x2:2 4x4x1:2 4x4x2:1 "
    "3x2x2:1 5:1 7:1",
    "8x8x4": "2x2x1:2 4x1x1:1 2x2x2:3 4x2x2:3 4x4x1:2 4x4x2:2 8x4x1:1 4x4x4:2 8x8x1:1 3x3x2:1 "
    "6x4x2:1 8x4x4:0.5 13:1 20:1",
}
FILLS = {"4x4x4": (20, 10), "8x8x4": (22, 12)}
PORTS = {"4x4x4": 20000, "8x8x4": 23000}
PROGRAM = f"/beside/pavior-{os.getpid()}"
SYSTEMS = ("aligned", "any", "pavior")


def volume(ask):
    sides = [int(side) for side in ask.split("x")]
    total = 1
    for side in sides:
        total *= side
    return total


def sides_of(machine):
    return [int(side) for side in machine.split("x")]


def expand(text):
    """The node numbers of n[000-001,004] or n007."""
    numbers = []
    for part in re.findall(r"\d+(?:-\d+)?", text):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def box_of(nodes, machine):
    """The sides of the box that nodes form, the longest first; none if they form no box."""
    x, y, _ = sides_of(machine)
    points = [(n % x, n // x % y, n // x // y) for n in nodes]
    sides = []
    for axis, side in enumerate(sides_of(machine)):
        used = {point[axis] for point in points}
        # A run around the torus has one gap at most.
        starts = [at for at in used if (at - 1) % side not in used]
        if len(starts) > 1:
            return None
        sides.append(len(used))
    product = sides[0] * sides[1] * sides[2]
    return sorted(sides, reverse=True) if product == len(points) == len(set(points)) else None


class Cluster:
    def __init__(self, root, pavior, machine, system, port):
        self.root, self.machine, self.system, self.port = root, machine, system, port
        self.pavior = pavior
        self.nodes = volume(machine)
        self.names = f"n[000-{self.nodes - 1:03}]"
        self.folder = f"/beside/{machine}-{system}"
        self.env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SLURM_CONF": f"{self.folder}/slurm.conf"}
        self.daemon = None

    def host(self, path=""):
        return self.root + self.folder + ("/" + path if path else "")

    def run(self, *command):
        return subprocess.run(
            ["chroot", self.root, *command], env=self.env, capture_output=True, text=True
        )

    def start(self):
        shutil.rmtree(self.host(), ignore_errors=True)
        for name in ("log", "state", "spool", "pid", "munge"):
            os.makedirs(self.host(name))
        os.chmod(self.host("munge"), 0o711)
        key = os.open(self.host("munge/key"), os.O_CREAT | os.O_WRONLY, 0o400)
        os.write(key, os.urandom(128))
        os.close(key)
        munge = f"{self.folder}/munge"
        self.run(
            "munged", "--key-file", f"{munge}/key", "--socket", f"{munge}/socket", "--log-file",
            f"{munge}/log", "--pid-file", f"{munge}/pid", "--seed-file", f"{munge}/seed", "--force",
        )
        self.configure()
        self.run("slurmctld", "-L", f"{self.folder}/log/slurmctld")
        script = f'for n in $(seq -f n%03g 0 {self.nodes - 1}); do slurmd -N $n -L {self.folder}/log/$n; done'
        self.run("sh", "-c", script)
        for _ in range(600):
            if self.run("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.strip() == str(self.nodes):
                break
            time.sleep(0.5)
        else:
            sys.exit(f"{self.system}: the cluster did not start")
        if self.system == "pavior":
            self.run(
                "scontrol", "create", "reservation", "ReservationName=pavior", "Licenses=pavior:1",
                "Users=root", "StartTime=now", "Duration=UNLIMITED", "Flags=LICENSE_ONLY",
            )
            log = open(self.host("log/pavior"), "w")
            self.daemon = subprocess.Popen(
                ["chroot", self.root, PROGRAM, "slurm", "--config", f"{self.folder}/pavior.toml"],
                env=self.env, stdout=log, stderr=log,
            )

    def configure(self):
        ports = f"[{self.port + 1}-{self.port + self.nodes}]"
        lines = f"""ClusterName=toy
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={self.port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={self.folder}/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
JobCompType=jobcomp/filetxt
JobCompLoc={self.folder}/jobs
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PriorityType=priority/basic
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,batch_sched_delay=1
ReturnToService=2
SlurmctldTimeout=300
SlurmdTimeout=300
KillWait=2
MinJobAge=300
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool/%n
SlurmctldPidFile={self.folder}/pid/slurmctld
SlurmdPidFile={self.folder}/pid/%n
NodeName={self.names} NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports} CPUs=1 RealMemory=100
PartitionName=mesh Nodes={self.names} Default=YES OverSubscribe=EXCLUSIVE MaxTime=INFINITE State=UP
"""
        with open(self.host("cgroup.conf"), "w") as file:
            file.write("CgroupPlugin=disabled\n")
        with open(self.host("pavior.toml"), "w") as file:
            file.write(f'machine = "torus:{self.machine}"\nnodes = "n{{:03}}"\npartition = "mesh"\n')
        pavior = ["chroot", self.root, PROGRAM, "slurm", "--config", f"{self.folder}/pavior.toml"]
        if self.system == "pavior":
            subprocess.run([*pavior, "install", self.folder], check=True, stdout=subprocess.DEVNULL)
            lines += "Licenses=pavior:1\nJobSubmitPlugins=lua\nSlurmctldParameters=disable_job_shrink\n"
        else:
            mix = MIXES[self.machine].replace(" ", ",")
            more = ["--anchors", "any", "--turn"] if self.system == "any" else []
            # Sizes without a box are reported with status 1; Slurm refuses their jobs.
            text = subprocess.run([*pavior, "generate", "--mix", mix, *more], capture_output=True, text=True)
            with open(self.host("topology.yaml"), "w") as file:
                file.write(text.stdout)
            told = subprocess.run(
                [*pavior[:3], "slurm", "lint", f"{self.folder}/topology.yaml", "--nodes", self.names],
                capture_output=True, text=True,
            )
            if told.returncode != 0:
                sys.exit(f"lint: {told.stdout}{told.stderr}")
        with open(self.host("slurm.conf"), "w") as file:
            file.write(lines)

    def submit(self, name, ask, run, minutes):
        """The job's number; none if Slurm refuses it."""
        size = ["-N", str(volume(ask))]
        if self.system == "pavior" and "x" in ask:
            size = [f"--comment=shape={ask}"]
        done = self.run(
            "sbatch", "-J", name, *size, "-t", str(minutes), "-o", "/dev/null", "--wrap", f"sleep {run}"
        )
        found = re.search(r"Submitted batch job (\d+)", done.stdout)
        return found.group(1) if found else None

    def states(self):
        """Job names with their states and nodes."""
        lines = self.run("squeue", "-h", "-o", "%j %T %N").stdout.splitlines()
        return {line.split(" ")[0]: line.split(" ")[1:] for line in lines}

    def ended(self):
        """The log of completed jobs: name to its fields."""
        jobs = {}
        if os.path.exists(self.host("jobs")):
            for line in open(self.host("jobs")):
                fields = dict(re.findall(r"(\w+)=(\S*)", line))
                jobs[fields["Name"]] = fields
        return jobs

    def stop(self):
        # Jobs outlive slurmd.
        self.run("scancel", "--user=root")
        for _ in range(60):
            if not self.states():
                break
            time.sleep(0.5)
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()
        pids = []
        for folder in ("pid", "munge"):
            for name in os.listdir(self.host(folder)):
                if folder == "pid" or name == "pid":
                    pids.append(int(open(self.host(f"{folder}/{name}")).read()))
        for signal in (15, 9):
            for pid in pids:
                try:
                    os.kill(pid, signal)
                except ProcessLookupError:
                    pass
            time.sleep(2)


def jobs_of(machine, seed):
    """The jobs of a stream: when, what, how long."""
    entries = [entry.rpartition(":") for entry in MIXES[machine].split()]
    asks, weights = [ask for ask, _, _ in entries], [float(weight) for _, _, weight in entries]
    mean = sum(volume(ask) * weight for ask, weight in zip(asks, weights)) / sum(weights)
    gap = mean * sum(RUNS) / 2 / (LOAD * volume(machine))
    draw = random.Random(f"{machine} {seed}")
    at, jobs = draw.expovariate(1 / gap), []
    while at < ARRIVALS:
        jobs.append((at, draw.choices(asks, weights)[0], draw.randint(*RUNS)))
        at += draw.expovariate(1 / gap)
    shaped = [(ask, weight) for ask, weight in zip(asks, weights) if "x" in ask]
    fills = draw.choices(*zip(*shaped), k=sum(FILLS[machine]))
    return jobs, fills


def stream(cluster, jobs, rows, seed):
    begin = time.time()
    refused = set()
    sizes = sorted({volume(entry.rpartition(":")[0]) for entry in MIXES[cluster.machine].split() if "x" in entry})
    for number, (at, ask, run) in enumerate(jobs):
        time.sleep(max(0, begin + at - time.time()))
        if cluster.submit(f"s{number}", ask, run, 1) is None:
            # As its user would: with the next size that there is.
            refused.add(number)
            cluster.submit(f"s{number}", str(min(size for size in sizes if size > volume(ask))), run, 1)
    while cluster.states() and time.time() < begin + 420:
        time.sleep(2)
    ended = cluster.ended()
    for number, (_, ask, run) in enumerate(jobs):
        fields = ended.get(f"s{number}", {})
        row = [cluster.machine, seed, cluster.system, "stream", number, ask, volume(ask), run]
        row.append(int(number in refused))
        nodes = expand(fields.get("NodeList", ""))
        outcome = fields.get("JobState", "waiting").lower()
        times = [fields.get(key, "") for key in ("SubmitTime", "StartTime", "EndTime")]
        box = box_of(nodes, cluster.machine) if nodes else None
        rows.append([*row, outcome, *times, len(nodes), "x".join(map(str, box or []))])


def fill(cluster, fills, rows, seed):
    counts = FILLS[cluster.machine]
    kinds = ["fill"] * counts[0] + ["refill"] * counts[1]
    held = {}
    for number, (kind, ask) in enumerate(zip(kinds, fills)):
        if kind == "refill" and kinds[number - 1] == "fill":
            gone = [name for name, at in held.items() if at % 2 == 0]
            for name in gone:
                cluster.run("scancel", "-n", name)
            while any(name in cluster.states() for name in gone):
                time.sleep(0.5)
        name = f"f{number}"
        row = [cluster.machine, seed, cluster.system, kind, number, ask, volume(ask), 0]
        refused = cluster.submit(name, ask, 3600, 60) is None
        end, state = time.time() + PATIENCE, ["PENDING", ""]
        while not refused and state[0] != "RUNNING" and time.time() < end:
            time.sleep(0.3)
            state = cluster.states().get(name, state)
        if state[0] == "RUNNING":
            held[name] = number
            nodes = expand(state[1])
            box = "x".join(map(str, box_of(nodes, cluster.machine) or []))
            rows.append([*row, 0, "fits", "", "", "", len(nodes), box])
        else:
            cluster.run("scancel", "-n", name)
            rows.append([*row, int(refused), "does not fit", "", "", "", "", ""])


def wait_of(row):
    start, submit = (datetime.datetime.fromisoformat(row[key]) for key in ("start", "submit"))
    return (start - submit).total_seconds()


def other_shape(row):
    """Whether a job that asked for a shape got another."""
    asked = sorted(map(int, row["asks"].split("x")), reverse=True)
    return len(asked) > 1 and row["got_box"] != "x".join(map(str, asked))


def table(paths):
    """Prints who waited how long, and what fitted at the end."""
    rows = [row for path in paths for row in csv.DictReader(open(path))]
    machines = sorted({row["machine"] for row in rows})
    print("| machine | system | jobs | refused | other shape | wait: mean | median | p90 | longest | mean of "
          "large | mean of small |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for machine in machines:
        for system in SYSTEMS:
            own = [row for row in rows if (row["machine"], row["system"]) == (machine, system)]
            jobs = [row for row in own if row["kind"] == "stream"]
            done = [row for row in jobs if row["outcome"] == "completed"]
            assert len(done) == len(jobs), [row for row in jobs if row not in done]
            nodes = volume(machine)
            waits = sorted(map(wait_of, done))
            large = [wait_of(row) for row in done if int(row["nodes"]) * 4 >= nodes]
            small = [wait_of(row) for row in done if int(row["nodes"]) * 16 < nodes]
            means = [statistics.mean(waits), statistics.median(waits), waits[len(waits) * 9 // 10], waits[-1],
                     statistics.mean(large), statistics.mean(small)]
            print(f"| {machine} | {system} | {len(jobs)} | {sum(int(row['refused']) for row in jobs)} | "
                  f"{sum(map(other_shape, done))} | {' | '.join(f'{mean:.1f} s' for mean in means)} |")
    print("\n| machine | system | filled: nodes held, jobs | after every second job ended: nodes held, jobs | "
          "other shape |\n|---|---|---|---|---:|")
    for machine in machines:
        for system in SYSTEMS:
            own = [row for row in rows if (row["machine"], row["system"]) == (machine, system)]
            cells = [[], []]
            for seed in sorted({row["seed"] for row in own}):
                fits = [row for row in own if row["seed"] == seed and row["outcome"] == "fits"]
                fill = [row for row in fits if row["kind"] == "fill"]
                again = [row for row in fits if row["kind"] == "refill"]
                kept = [row for row in fill if int(row["job"]) % 2]
                held = [sum(int(row["nodes"]) for row in some) for some in (fill, kept + again)]
                cells[0].append(f"{held[0]} ({len(fill)})")
                cells[1].append(f"{held[1]} ({len(again)})")
            wrong = sum(other_shape(row) for row in own if row["outcome"] == "fits")
            print(f"| {machine} | {system} | {', '.join(cells[0])} | {', '.join(cells[1])} | {wrong} |")


def main():
    if sys.argv[1] == "table":
        return table(sys.argv[2:])
    root, pavior, out = sys.argv[1:4]
    machines = (sys.argv[4] if len(sys.argv) > 4 else "4x4x4,8x8x4").split(",")
    seeds = (sys.argv[5] if len(sys.argv) > 5 else "1,2,3").split(",")
    os.makedirs(f"{root}/beside", exist_ok=True)
    shutil.copy(pavior, root + PROGRAM)
    header = ["machine", "seed", "system", "kind", "job", "asks", "nodes", "run_s", "refused", "outcome",
              "submit", "start", "end", "got_nodes", "got_box"]
    rows = []
    for machine in machines:
        for seed in seeds:
            jobs, fills = jobs_of(machine, seed)
            clusters = [
                Cluster(root, pavior, machine, system, PORTS[machine] + 1000 * at)
                for at, system in enumerate(SYSTEMS)
            ]

            def both(cluster):
                stream(cluster, jobs, rows, seed)
                fill(cluster, fills, rows, seed)

            try:
                for cluster in clusters:
                    cluster.start()
                threads = [threading.Thread(target=both, args=(cluster,)) for cluster in clusters]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            finally:
                for cluster in clusters:
                    cluster.stop()
            with open(out, "w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(header)
                writer.writerows(sorted(rows, key=lambda row: [row[0], row[1], row[2], row[3][0] == "f", row[4]]))
            print(machine, seed, "done", flush=True)


if __name__ == "__main__":
    main()
