"""Builds the documentation site into target/site; any warning is an error.

    python docs/site/build.py [PROGRAM]

The site contains every file in the repository that README.md and docs/ link to, directly or not, and
keeps their paths. A link to a directory or source file becomes a link to a page that shows it, and a link
to a strategy's source file becomes a link to the strategy's page. The navigation follows docs/README.md.
Notebooks are shown with their stored outputs. PROGRAM (default: target/debug/pavior) draws the pictures.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.commands.build import build
from mkdocs.config import load_config
from nbconvert import MarkdownExporter

import strategies

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = ROOT / "target/site-source"
SITE = ROOT / "target/site"

TRY = ROOT / "target/try"
"""The simulation that runs in the browser. The home page shows it if it has been built."""

FIRST = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/README.md"]
"""The pages at which the search for all other pages begins."""
HOME = "docs/site/home.md"
MOVED = {HOME: "index.md", "README.md": "overview.md", "docs/site/rust.md": "rust.md"}
"""Pages whose path on the site differs from their path in the repository."""
REFERENCE = ["machine", "simulate", "experiment", "own", "gym", "client", "errors"]
"""The pages in the Python reference, in order."""
PICTURES = {".svg", ".png", ".jpg", ".webp"}
LANGUAGES = {".rs": "rust", ".py": "python", ".toml": "toml", ".sh": "sh", ".json": "json"}
LARGEST = 200_000
"""The maximum size of a file shown on a page, in bytes. Larger files are only linked."""

FENCE = re.compile(r"^( {0,3}```.*?^ {0,3}```[^\n]*\n)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+[^`]+`+)")
LINK = re.compile(r"(\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^()\s]+)\)")
ITEM = re.compile(r" {0,3}([-*+]|\d+\.) ")
SHOWS = re.compile(r"^<!-- shows (\S+?)(?:: (.*))? -->$", re.MULTILINE)
"""A place where a tutorial shows a file written by its code blocks or by an additional command."""
BREAK = re.compile(r" (?=--?[a-z])|(?<=[|]) |(?<=&&) ")
"""A point at which a command may be broken across two lines."""
COLUMNS = 72
"""The maximum width of a command in columns."""


class Pages:
    """The pages on the site, collected by following links."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.staged: set[str] = set()
        self.strategies = strategies.strategies()
        self.sources = {strategy.path: strategy for strategy in self.strategies}

    def stage(self, path: str) -> str:
        """Copies a path from the repository, and everything that it links to. Returns its path on the site."""
        file = ROOT / path
        if file.is_dir():
            if (file / "README.md").exists():
                return self.stage(f"{path}/README.md")
            return self.once(f"{path}/index.md", lambda: self.listing(path))
        if path in self.sources:
            return self.strategy(self.sources[path])
        if file.suffix == ".md":
            to = MOVED.get(path, path)
            return self.once(to, lambda: self.linked(path, self.text(path), to))
        if file.suffix == ".ipynb":
            return self.once(f"{path.removesuffix('.ipynb')}.md", lambda: self.notebook(path))
        if file.suffix in PICTURES or file.stat().st_size > LARGEST:
            return self.once(path, file.read_bytes)
        return self.once(f"{path}.md", lambda: self.source(path))

    def once(self, to: str, content: Any) -> str:
        if to not in self.staged:
            self.staged.add(to)
            made = content()
            write(SOURCE / to, made if isinstance(made, bytes) else made.encode())
        return to

    def strategy(self, strategy: strategies.Strategy) -> str:
        """Writes a strategy's page and returns its path."""
        path = f"docs/strategies/{strategy.name}.md"
        folder = SOURCE / "docs/strategies"
        folder.mkdir(parents=True, exist_ok=True)
        page = strategies.page
        return self.once(path, lambda: prepared(page(strategy, self.strategies, folder)))

    def text(self, path: str) -> str:
        """Returns the text of a page. If it is a tutorial, runs its code blocks and shows the files they write."""
        text = (ROOT / path).read_text("utf-8")
        if path == HOME:
            text = text.replace("MACHINE", machine())
        if not SHOWS.search(text):
            return text
        made = Path(tempfile.mkdtemp())
        (made / "pavior").symlink_to(strategies.PROGRAM)
        files = SHOWS.findall(text)
        blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        script = [f"cd {made}", *([] if all(command for _, command in files) else blocks)]
        script += [command for _, command in files if command]
        script += [f"cp -r {name.split('/')[0]} {made}/shown" for name, _ in files]
        (made / "shown").mkdir()
        changed = {"PATH": f"{made}:{os.environ['PATH']}", "TMPDIR": str(made)}
        ran = subprocess.run(
            ["sh", "-e", "-c", "\n".join(script)],
            env=os.environ | changed,
            capture_output=True,
            text=True,
        )
        if ran.returncode:
            self.problems.append(f"{path}: its code blocks fail: {ran.stderr[-400:]}")

        def figure(match: re.Match[str]) -> str:
            name = match[1]
            there = f"{Path(path).stem}/{name}"
            file = made / "shown" / name
            write(SOURCE / Path(path).parent / there, file.read_bytes() if file.exists() else b"")
            if name.endswith(".html"):
                link = f'<a href="{there}">{name}</a>'
                return f'<iframe src="{there}" title="{name}"></iframe>\n<p>{link} on a separate page</p>'
            return f'<img src="{there}" alt="{name}, written by the commands above">'

        text = SHOWS.sub(figure, text)
        shutil.rmtree(made)
        return text

    def linked(self, path: str, text: str, to: str | None = None) -> str:
        """Returns a page whose links point to the staged pages, even if its own path changes."""
        here = os.path.dirname(to or path) or "."

        def turned(match: re.Match[str]) -> str:
            target, mark, anchor = match[2].partition("#")
            if not target or "://" in target or target.startswith("mailto:"):
                return match[0]
            found = os.path.normpath(os.path.join(os.path.dirname(path), target))
            if found.startswith("..") or not (ROOT / found).exists():
                self.problems.append(f"{path}: {target} does not exist")
                return match[0]
            there = os.path.relpath(self.stage(found), here)
            return f"{match[1]}({there}{mark}{anchor})"

        def outside(part: str) -> str:
            pieces = CODE.split(part)
            # The text of a link may be code, so rejoin the pieces before searching for links.
            hidden = pieces[1::2]
            bare = "".join(p if i % 2 == 0 else f"\0{i // 2}\0" for i, p in enumerate(pieces))
            return re.sub(r"\0(\d+)\0", lambda m: hidden[int(m[1])], LINK.sub(turned, bare))

        parts = FENCE.split(prepared(text))
        return "".join(part if i % 2 else outside(part) for i, part in enumerate(parts))

    def source(self, path: str) -> str:
        """Returns a page that shows a file."""
        file = ROOT / path
        fence = "`" * 5
        return f"# {path}\n\n{fence}{LANGUAGES.get(file.suffix, 'text')}\n{file.read_text('utf-8')}\n{fence}\n"

    def listing(self, path: str) -> str:
        """Returns a page that lists a directory."""
        names = sorted(entry.name for entry in (ROOT / path).iterdir() if entry.is_file())
        lines = [f"- [{name}]({os.path.relpath(self.stage(f'{path}/{name}'), path)})" for name in names]
        return f"# {path}\n\n" + "\n".join(lines) + "\n"

    def notebook(self, path: str) -> str:
        """Returns a page with a notebook's cells and their outputs."""
        file = ROOT / path
        stem = file.stem
        # These two libraries have no types.
        exporter: Any = MarkdownExporter()  # type: ignore[no-untyped-call]
        cells: Any = nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]
        where = {"output_files_dir": f"{stem}_files", "unique_key": stem}
        text, found = exporter.from_notebook_node(cells, where)
        for name, picture in found["outputs"].items():
            write(SOURCE / Path(path).parent / name, picture)
        # The pictures are already next to the page.
        self_made = re.compile(rf"!\[[^\]]*\]\(({re.escape(stem)}_files/[^)]*)\)")
        text = self_made.sub(r'<img src="\1" alt="">', text)
        return self.linked(path, text)


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def spaced(text: str) -> str:
    """Adds an empty line before each list, which MkDocs requires but GitHub does not."""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        before = lines[-1] if lines else "\n"
        listed = ITEM.match(before) or before.startswith("  ")
        if ITEM.match(line) and before.strip() and not listed:
            lines.append("\n")
        lines.append(line)
    return "".join(lines)


def prepared(text: str) -> str:
    """Formats lists and commands in the way that the site requires."""
    parts = FENCE.split(text)
    return "".join(wrapped(part) if i % 2 else spaced(part) for i, part in enumerate(parts))


def wrapped(block: str) -> str:
    """Breaks overlong commands in a code block."""
    # If a block has prompts, it also contains output.
    block = re.sub(r"^( *```)sh(?=\n\$ )", r"\1console", block)
    kind = block.lstrip().removeprefix("```").split("\n", 1)[0]
    if kind == "text" and any(len(line) > 100 and "  " not in line for line in block.splitlines()):
        return block.replace("text", "{.text .data}", 1)
    if kind not in {"sh", "console"}:
        return block
    lines, more = [], "> " if kind == "console" else ""
    for line in block.splitlines():
        while len(line) > COLUMNS and (kind == "sh" or line.startswith(("$ ", "> "))):
            # Do not break within quotes or directly after the program's name.
            ends = [match.start() for match in BREAK.finditer(line, 20, COLUMNS)]
            ends = [end for end in ends if not line[:end].count("'") % 2 | line[:end].count('"') % 2]
            if not ends:
                break
            lines.append(line[: ends[-1]] + " \\")
            line = f"{more}  {line[ends[-1] + 1 :]}"
        # Keep output that begins with another shell's prompt from being taken for a command.
        lines.append(re.sub("^(?=[%#])", "\u2060", line) if more else line)
    return "\n".join(lines) + "\n"


def sections() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yields the sections in docs/README.md with the names and paths of their pages."""
    name, pages = "", list[tuple[str, str]]()
    for line in (ROOT / "docs/README.md").read_text("utf-8").splitlines():
        if heading := re.fullmatch(r"## (.*)", line):
            if pages:
                yield name, pages
            name, pages = heading[1], []
        elif row := re.match(r"\| \[([^\]]*)\]\(([^)]*)\)", line):
            pages.append((row[1], os.path.normpath(os.path.join("docs", row[2]))))
    yield name, pages


def reference(pages: Pages) -> list[Any]:
    """Returns the pages of the Python reference, and the page that links to the Rust reference."""
    files = {name: HERE / f"reference/{name}.md" for name in REFERENCE}
    python = [pages.once(f"python/{name}.md", page.read_bytes) for name, page in files.items()]
    rust = (HERE / "rust.md").read_text("utf-8").replace("RUSTDOC", "rust/pavior/index.html")
    rust = pages.linked("docs/site/rust.md", rust, "rust.md")
    return [{"Python": python}, {"Rust": pages.once("rust.md", lambda: rust)}]


def listed(pages: Pages) -> list[Any]:
    """Returns the strategies' pages by family. Reports any strategy missing from the list in docs."""
    text = (ROOT / strategies.CLAIMS).read_text("utf-8")
    missing = [s.row for s in pages.strategies if s.row not in text]
    pages.problems += [f"{strategies.CLAIMS}: this row is missing: {row}" for row in missing]
    entries: list[Any] = [{"All strategies": strategies.CLAIMS}]
    for family, name in strategies.FAMILIES.items():
        own = (s for s in pages.strategies if s.family == family)
        title = "<code>{0[name]}</code> {0[title]}"
        entries.append({name: [{title.format(s.entry): pages.strategy(s)} for s in own]})
    return entries


def navigation(pages: Pages) -> list[Any]:
    """Returns the navigation, which follows the sections in docs/README.md."""
    first = [pages.stage(HOME), {"Overview": "overview.md"}, {"All pages": "docs/README.md"}]
    nav: list[Any] = [{"Pavior": first}]
    for title, paths in sections():
        entries: list[Any] = [{name: pages.stage(path)} for name, path in paths]
        if title == "Reference":
            entries = [e for e in entries if strategies.CLAIMS not in e.values()]
            entries += [{"Strategies": listed(pages)}, *reference(pages)]
        nav.append({title: entries})
    nav.append({"Project": ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]})
    return nav


def machine() -> str:
    """Returns the large picture for the home page: the browser simulation or, without it, an animation."""
    if (TRY / "pavior.html").exists():
        title = "Two machines running the same jobs in this page"
        return f'<iframe src="try/pavior.html" loading="lazy" title="{title}"></iframe>'
    placements, torus = str(ROOT / "target/machine.jsonl"), ["--machine", "torus:32x16"]
    jobs = "--sides uniform-decreasing --load 40 --jobs 250 --replications 1 --scheduler easy"
    mfa = ["--strategy", "mfa", "--placements", placements]
    strategies.pavior("simulate", *torus, *jobs.split(), *mfa)
    title = "A 32x16 torus and its jobs"
    for name, how in (("machine", ["--animate", "--seconds", "60"]), ("still", ["--at", "3"])):
        svg = strategies.pavior("plot", placements, *torus, *how, "--title", title)
        # Show only the machine, without the heading and clock.
        nodes = re.search(r'<rect class="gridf" x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', svg)
        size = 'viewBox="{0} {1} {2} {3}" width="{2}" height="{3}"'.format(*nodes.groups()) if nodes else ""
        svg = re.sub(r'viewBox="[^"]*" width="[^"]*" height="[^"]*"', size, svg, count=1)
        write(SOURCE / f"{name}.svg", svg.encode())
    return (
        '<picture><source media="(prefers-reduced-motion: reduce)" srcset="still.svg">'
        f'<img src="machine.svg" alt="{title}: jobs arrive, get their boxes of nodes, and end"></picture>'
    )


def main() -> int:
    shutil.rmtree(SOURCE, ignore_errors=True)
    pages = Pages()
    for path in FIRST:
        pages.stage(path)
    nav = navigation(pages)
    for asset in ("site.css", "site.js"):
        write(SOURCE / asset, (HERE / asset).read_bytes())
    for problem in pages.problems:
        print(problem, file=sys.stderr)
    if pages.problems:
        return 1
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    rust = SITE / "rust"
    rust.unlink(missing_ok=True)
    build(load_config(str(HERE / "mkdocs.yml"), nav=nav, strict=True))
    if TRY.exists():
        shutil.copytree(TRY, SITE / "try")
    if (ROOT / "target/doc/pavior/index.html").exists():
        rust.symlink_to("../doc")
    else:
        print("no rustdoc, so its link is broken (cargo doc --workspace --no-deps)", file=sys.stderr)
    print(f"{SITE}/index.html: {len(pages.staged)} pages and files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
