"""Builds the documentation site into target/site; any warning is an error.

    python docs/site/build.py

The pages are those of the repository: what README.md and docs/ link to, and what that links to, as it
lies there. Links to folders and to source files become links to pages that show them. The navigation
is that of docs/README.md; notebooks are shown with the outputs that are stored in them.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.commands.build import build
from mkdocs.config import load_config
from nbconvert import MarkdownExporter

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = ROOT / "target/site-source"
SITE = ROOT / "target/site"

FIRST = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/README.md"]
"""The pages from which all others are reached."""
REFERENCE = ["machine", "simulate", "experiment", "own", "gym", "client", "errors"]
"""The pages of the Python reference, in order."""
PICTURES = {".svg", ".png", ".jpg", ".webp"}
LANGUAGES = {".rs": "rust", ".py": "python", ".toml": "toml", ".sh": "sh", ".json": "json"}
LARGEST = 200_000
"""Longer files are not shown, but linked as they are."""

FENCE = re.compile(r"^( {0,3}```.*?^ {0,3}```[^\n]*\n)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+[^`]+`+)")
LINK = re.compile(r"(\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^()\s]+)\)")
ITEM = re.compile(r" {0,3}([-*+]|\d+\.) ")


class Pages:
    """The pages of the site, gathered by following links."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.staged: set[str] = set()

    def stage(self, path: str) -> str:
        """Copies what lies at a path of the repository, with all it links to; where it then lies."""
        file = ROOT / path
        if file.is_dir():
            if (file / "README.md").exists():
                return self.stage(f"{path}/README.md")
            return self.once(f"{path}/index.md", lambda: self.listing(path))
        if file.suffix == ".md":
            return self.once(path, lambda: self.linked(path, file.read_text("utf-8")))
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

    def linked(self, path: str, text: str) -> str:
        """A page whose links lead to the staged pages."""

        def turned(match: re.Match[str]) -> str:
            target, mark, anchor = match[2].partition("#")
            if not target or "://" in target or target.startswith("mailto:"):
                return match[0]
            found = os.path.normpath(os.path.join(os.path.dirname(path), target))
            if found.startswith("..") or not (ROOT / found).exists():
                self.problems.append(f"{path}: there is no {target}")
                return match[0]
            there = os.path.relpath(self.stage(found), os.path.dirname(path) or ".")
            return f"{match[1]}({there}{mark}{anchor})"

        def outside(part: str) -> str:
            pieces = CODE.split(spaced(part))
            # A link may have code for its text: pieces are joined again before links are sought.
            hidden = pieces[1::2]
            bare = "".join(p if i % 2 == 0 else f"\0{i // 2}\0" for i, p in enumerate(pieces))
            return re.sub(r"\0(\d+)\0", lambda m: hidden[int(m[1])], LINK.sub(turned, bare))

        parts = FENCE.split(text)
        return "".join(part if i % 2 else outside(part) for i, part in enumerate(parts))

    def source(self, path: str) -> str:
        """A page that shows a file."""
        file = ROOT / path
        fence = "`" * 5
        return f"# {path}\n\n{fence}{LANGUAGES.get(file.suffix, 'text')}\n{file.read_text('utf-8')}\n{fence}\n"

    def listing(self, path: str) -> str:
        """A page that lists a folder."""
        names = sorted(entry.name for entry in (ROOT / path).iterdir() if entry.is_file())
        lines = [f"- [{name}]({os.path.relpath(self.stage(f'{path}/{name}'), path)})" for name in names]
        return f"# {path}\n\n" + "\n".join(lines) + "\n"

    def notebook(self, path: str) -> str:
        """A page with the cells of a notebook and what they gave."""
        file = ROOT / path
        stem = file.stem
        # These two libraries have no types.
        exporter: Any = MarkdownExporter()  # type: ignore[no-untyped-call]
        cells: Any = nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]
        where = {"output_files_dir": f"{stem}_files", "unique_key": stem}
        text, found = exporter.from_notebook_node(cells, where)
        for name, picture in found["outputs"].items():
            write(SOURCE / Path(path).parent / name, picture)
        # The pictures lie beside the page already.
        self_made = re.compile(rf"!\[[^\]]*\]\(({re.escape(stem)}_files/[^)]*)\)")
        text = self_made.sub(r'<img src="\1" alt="">', text)
        return self.linked(path, text)


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def spaced(text: str) -> str:
    """Markdown with an empty line before lists, which this Markdown needs and GitHub's does not."""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        before = lines[-1] if lines else "\n"
        listed = ITEM.match(before) or before.startswith("  ")
        if ITEM.match(line) and before.strip() and not listed:
            lines.append("\n")
        lines.append(line)
    return "".join(lines)


def sections() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The sections of docs/README.md with the names and paths of their pages."""
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
    """The reference of the Python package, and what leads to that of the Rust library."""
    python = []
    for name in REFERENCE:
        page = (HERE / f"reference/{name}.md").read_text("utf-8")
        python.append(pages.once(f"python/{name}.md", lambda page=page: page))
    rust = (HERE / "rust.md").read_text("utf-8").replace("RUSTDOC", "rust/pavior/index.html")
    rust = pages.linked("docs/site/rust.md", rust).replace("](../../", "](")
    return [{"Python": python}, {"Rust": pages.once("rust.md", lambda: rust)}]


def navigation(pages: Pages) -> list[Any]:
    """What stands where in the navigation: the doors and the kinds of docs/README.md, in its order."""
    nav: list[Any] = [{"Pavior": ["README.md", {"All pages": "docs/README.md"}]}]
    for title, paths in sections():
        entries: list[Any] = []
        for name, path in paths:
            entries.append({name: pages.stage(path)})
            if path == "docs/strategies/README.md":
                folder = sorted((ROOT / "docs/strategies").glob("*.md"))
                each = [pages.stage(str(page.relative_to(ROOT))) for page in folder]
                entries[-1] = {name: [{"All": path}, *(p for p in each if p != path)]}
        if title == "Reference":
            entries += reference(pages)
        nav.append({title: entries})
    nav.append({"Project": ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]})
    return nav


def main() -> int:
    shutil.rmtree(SOURCE, ignore_errors=True)
    pages = Pages()
    for path in FIRST:
        pages.stage(path)
    nav = navigation(pages)
    write(SOURCE / "site.css", (HERE / "site.css").read_bytes())
    for problem in pages.problems:
        print(problem, file=sys.stderr)
    if pages.problems:
        return 1
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    rust = SITE / "rust"
    rust.unlink(missing_ok=True)
    build(load_config(str(HERE / "mkdocs.yml"), nav=nav, strict=True))
    if (ROOT / "target/doc/pavior/index.html").exists():
        rust.symlink_to("../doc")
    else:
        print("no rustdoc: its link leads nowhere (cargo doc --workspace --no-deps)", file=sys.stderr)
    print(f"{SITE}/index.html: {len(pages.staged)} pages and files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
