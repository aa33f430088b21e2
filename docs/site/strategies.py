"""Writes a page for each strategy. The page contains the header of the strategy's source file, drawings and
numbers that show which nodes it chooses in a common state, and its registry entry. Everything except the
header comes from the program. If the browser engine has been built, users can try other states in a live figure.

    python docs/site/strategies.py --live NAME ...

prints only the live figures, without running the program.
"""

from __future__ import annotations

import html
import itertools
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = str(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/debug/pavior").resolve())
SOURCES = ROOT / "crates/allocation/src/strategies"
LIVE = ROOT / "target/try/figure.js"
"""The script for live figures, if it has been built."""
FAMILIES = {
    "contiguous": "Contiguous",
    "noncontiguous": "Non-contiguous",
    "partitioned": "Partition hardware",
}
"""The directory of each family, and the family's name."""
CASES = ROOT / "crates/allocation/cases"
"""Examples from papers, and other states in which the answer is known."""
CLAIMS = "docs/strategies.md"
"""The page that lists all strategies and explains each claim."""


@dataclass
class State:
    """A machine with busy nodes, and the requests whose placements are shown."""

    machine: str
    busy: str
    words: str
    requests: list[str]
    """The requests. Only the first two are drawn."""


MESH = State(
    "mesh:8x8",
    "examples/mfa-example-1.jsonl",
    "Four jobs hold 23 of the nodes in an 8x8 mesh (the first example in the MFA paper).",
    ["3x2", "5x3", "4x4", "6x3"],
)
OTHERS = {
    "2db": State(MESH.machine, MESH.busy, MESH.words, ["2x1", "3x2", "2x2", "4x4"]),
    "bluegene": State(
        "torus:8x8",
        MESH.busy,
        "Four jobs hold 23 of the units in an 8x8 torus, along with the cables in their rings.",
        ["4x1", "3x2", "8x1", "8x2"],
    ),
    "tpu": State(
        "torus:8x8x4",
        "examples/pod-8x8x4.jsonl",
        "In a pod with four cubes, two jobs hold one cube and four chips in another.",
        ["4x8x4", "2x2x2", "8x8x4", "3x3x3"],
    ),
}
"""States for strategies that would refuse every request in the common state."""


@dataclass
class Strategy:
    """A registry entry and its source file."""

    entry: dict[str, Any]
    path: str
    family: str
    module: str
    header: list[str]

    @property
    def name(self) -> str:
        return str(self.entry["name"])

    @property
    def state(self) -> State:
        return OTHERS.get(self.name, MESH)

    @property
    def row(self) -> str:
        """Returns the strategy's row in the list."""
        entry = self.entry
        turns = "yes" if entry["turns"] else "no"
        link = f"[`{self.name}`](../{self.path})"
        claim = f"`{entry['recognition']}`"
        return f"| {link} | {entry['title']} | {claim} | {turns} | {entry['source']} |"


def pavior(*arguments: str, text: str = "") -> str:
    """Runs the program and returns its output."""
    command = [PROGRAM, *arguments]
    return subprocess.run(
        command, cwd=ROOT, input=text, capture_output=True, text=True, check=True
    ).stdout


def strategies() -> list[Strategy]:
    """Returns all strategies in registry order, without aliases such as `hilbert`."""
    found = {}
    for file in SOURCES.rglob("*.rs"):
        text = file.read_text("utf-8")
        for name in re.findall(r'^ *name: "([a-z0-9-]+)",$', text, re.MULTILINE)[:1]:
            header = re.match(r"(?://!.*\n)*", text)
            lines = header[0].splitlines() if header else []
            own = file.parent if file.name == "mod.rs" else file
            family = file.relative_to(SOURCES).parts[0]
            path = str(file.relative_to(ROOT))
            found[name] = (path, family, own.stem, [line[4:] for line in lines])
    entries = json.loads(pavior("strategies", "--format", "json"))
    return [Strategy(e, *found[e["name"]]) for e in entries if e["name"] in found]


def explain(state: State, shape: str, names: list[str], svg: Path | None = None, more: str = "") -> Any:
    """Returns the strategies' answers to a request; `more` contains additional busy boxes as JSON lines."""
    busy = (ROOT / state.busy).read_text("utf-8") + more
    drawn = ["--svg", str(svg)] if svg else []
    asked = ["--machine", state.machine, "--shape", shape, "--strategy", ",".join(names)]
    return json.loads(
        pavior("explain", *asked, *drawn, "--busy", "-", "--format", "json", text=busy)
    )


def box(part: dict[str, list[int]]) -> str:
    sides, base = "x".join(map(str, part["sides"])), ",".join(map(str, part["base"]))
    return f"{sides} at {base}"


def cropped(svg: str) -> str:
    """Removes the legend from a drawing made by `explain`."""
    head, _, rest = svg.partition("<g transform=")
    panel = rest[: rest.rindex("</g>")]
    nodes = re.findall(r'class="node" x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', panel)
    wide = 48 + max(int(x) + int(width) for x, _, width, _ in nodes)
    high = 48 + max(int(y) + int(height) for _, y, _, height in nodes)
    size = f'viewBox="0 0 {wide} {high}" width="{wide}" height="{high}"'
    head = re.sub(r'viewBox="[^"]*" width="[^"]*" height="[^"]*"', size, head, count=1)
    return f"{head}<g transform={panel}</g></svg>"


def drawn(machine: str, picture: str) -> list[Any]:
    """Returns the busy nodes in a picture as jobs. The first line has the highest y; the first plane has z = 0."""
    sides = [int(side.rstrip("w")) for side in machine.partition(":")[2].split("x")]
    axes, high = len(sides), sides[1] if len(sides) > 1 else 1
    rows = enumerate(picture.split())
    at = [(n // high, high - 1 - n % high, x) for n, row in rows for x, c in enumerate(row) if c == "#"]
    return [[{"base": node[::-1][:axes], "sides": [1] * axes}] for node in sorted(at)]


def scenes(name: str) -> list[dict[str, Any]]:
    """Returns the common state, followed by a strategy's cases, those from papers first."""
    state, found = OTHERS.get(name, MESH), list[tuple[bool, dict[str, Any]]]()
    files = (tomllib.loads(file.read_text("utf-8")) for file in sorted(CASES.glob("*.toml")))
    for case in (case for file in files for case in file["case"]):
        selections = [one for one in case["strategies"] if one.split(":")[0] == name]
        asked = itertools.takewhile(lambda step: len(step.keys() & {"shape", "nodes"}) == 1, case["step"])
        steps = [
            {
                "request": "x".join(map(str, step.get("shape", [step.get("nodes")]))),
                "parts": step.get("parts"),
                "refused": case.get("missed", "refused" in step),
            }
            for step in asked
        ]
        if not (selections and steps):
            continue
        published = re.search(r"paper|\d{4}", case.get("source", ""))
        title = f"{case['name']} ({case['source']})" if published else case["name"]
        title = title.replace("`", "")
        jobs = drawn(case["machine"], case.get("busy", ""))
        jobs += [[{"base": one["base"], "sides": one["sides"]}] for one in case.get("grants", [])]
        scene = {"name": title[0].upper() + title[1:], "machine": case["machine"], "jobs": jobs, "steps": steps}
        found.append((not published, scene | {"strategy": selections[0]}))
    busy = (ROOT / state.busy).read_text("utf-8").splitlines()
    common = {
        "name": "The state above",
        "machine": state.machine,
        "strategy": name,
        "jobs": [json.loads(line)["parts"] for line in busy],
        "steps": [{"request": shape} for shape in state.requests[:1]],
    }
    return [common, *(scene for _, scene in sorted(found, key=lambda one: one[0]))]


def live(name: str) -> str:
    """Returns the element for a live figure. `figure.js` fills it and replaces the next element."""
    return f'<div class="live" data-scenes="{html.escape(json.dumps(scenes(name)))}"></div>\n'


def worked(strategy: Strategy, folder: Path) -> str:
    """Returns drawings and numbers that show which nodes a strategy chooses in its state."""
    name, state = strategy.name, strategy.state
    figures, rows = "", ""
    for index, shape in enumerate(state.requests):
        picture = folder / f"{name}-{shape}.svg" if index < 2 else None
        answer = explain(state, shape, [name], picture)["strategies"][0]
        if picture:
            picture.write_text(cropped(picture.read_text("utf-8")), "utf-8")
        if answer["granted"]:
            place = "; ".join(box(part) for part in answer["parts"])
            held = json.dumps({"job": "new", "parts": answer["parts"]}) + "\n"
            left = explain(state, "x".join("1" * len(shape.split("x"))), [name], None, held)
            free = box(left["largest_free"]) if left["largest_free"] else "none"
            cells = f"{place} | {answer['nodes']} | {answer['index']} | {free}"
        else:
            place = f"refused: `{answer['reason']}`"
            cells = f"{place} | | |"
        rows += f"| {shape} | {cells} |\n"
        if picture:
            alt = f"{name}, request {shape}: {place.replace('`', '')}"
            figures += f"<figure markdown>\n![{alt}]({picture.name})\n"
            figures += f"<figcaption markdown>{shape}: {place}</figcaption>\n</figure>\n"
    if strategy.entry["contiguous"]:
        reading = (
            "The chosen nodes are yellow. The number in a free node is the "
            "[index](../explain.md#a-placement-and-its-index) that the request would have if its base were "
            "there, that is, how many sides of its nodes would touch busy nodes or the border. If its base "
            "were at a hatched node, the request would overlap a busy node; at a dotted node, it would "
            "extend beyond the machine."
        )
    else:
        reading = (
            "The chosen nodes are yellow, and their parts are numbered in the order in which they are "
            "granted. The [index](../explain.md#a-placement-and-its-index) is how many sides of these "
            "nodes touch busy nodes or the border."
        )
    layout = "figures wide" if state.machine.count("x") > 1 else "figures"
    figure = f'{live(name)}<script src="../../try/figure.js" defer></script>\n' if LIVE.exists() else ""
    return (
        f"## Choices in one state\n\n{state.words} {reading}\n\n"
        f'{figure}<div class="{layout}" markdown>\n{figures}</div>\n\n'
        f"| request | placement | nodes | index | largest free box afterwards |\n|---|---|--:|--:|---|\n{rows}\n"
        f"```sh\npavior explain --machine {state.machine} --busy {state.busy} "
        f"--shape {state.requests[0]} --strategy {name} --svg {name}.svg\n```\n\n"
    )


def registry(strategy: Strategy) -> str:
    """Returns the strategy's registry entry as tables."""
    entry = strategy.entry
    kinds = " and ".join({"mesh": "meshes", "torus": "tori"}[kind] for kind in entry["topologies"])
    axes = ", ".join(map(str, entry["axes"]))
    grants = "exactly as many nodes as requested" if entry["grants"] == "exact" else "whole blocks"
    text = "## In the registry\n\n| property | value |\n|---|---|\n"
    text += f"| machines | {kinds} with {axes} axes |\n"
    text += f"| claim | [`{entry['recognition']}`](../strategies.md#claims-and-how-they-are-checked) |\n"
    text += f"| grants | {grants} |\n"
    text += f"| turns requests | {'yes' if entry['turns'] else 'no, unless enabled by an option'} |\n"
    text += f"| first described by | {entry['source']} |\n| code | `{strategy.path}` |\n"
    if entry["options"]:
        text += "\n| option | values | default | meaning |\n|---|---|---|---|\n"
    for option in entry["options"]:
        values = option["values"].replace("|", r"\|")
        text += f"| `{option['key']}` | {values} | `{option['default']}` | {option['meaning']} |\n"
    return text


def body(strategy: Strategy, everyone: list[Strategy]) -> str:
    """Returns the header as Markdown, with module names as links and paragraph labels in bold."""
    pages = {other.module: other.name for other in everyone}

    def linked(match: re.Match[str]) -> str:
        name, target = match[1], match[2] or "super"
        page = pages.get(name if target == "super" else target.rsplit("::", 1)[-1])
        return f"[`{name}`]({page}.md)" if page else f"`{name}`"

    lines, is_code = [], False
    for line in strategy.header:
        is_code ^= line.startswith("```")
        if not is_code:
            line = re.sub(r"^((?:Cost|Source|Requests)[^:]{0,34}):", r"**\1.**", line)
            line = re.sub(r"\[`([^`]+)`\](?:\(([\w:]+)\))?", linked, line)
        lines.append(line)
    return "\n".join(lines)


def page(strategy: Strategy, everyone: list[Strategy], folder: Path) -> str:
    """Returns a strategy's page, and writes its drawings to a directory."""
    title = f"# {strategy.entry['title']}: `{strategy.name}`\n\n"
    return f"{title}{body(strategy, everyone)}\n\n{worked(strategy, folder)}{registry(strategy)}"


if __name__ == "__main__":
    for name in sys.argv[2:]:
        print(live(name))
