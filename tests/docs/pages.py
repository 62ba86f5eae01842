"""The documents as text: their pages, their blocks of code, and the paths that they name."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["app", "bench", "bindings", "codec", "core", "cpu_ref", "docs", "examples", "gpu", "include", "packaging",
           "scripts", "test_data", "tests"]


@dataclass(frozen=True)
class Block:
    """One block of code of a page."""

    page: Path
    line: int
    language: str
    text: str
    reason: str  # why it is not run; "" if it is


def written_pages():
    """All pages that people write, and those that bench/report.py does."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def guide_pages():
    """README.md and the pages of the guide that people write, in the order of the site."""
    named = re.findall(r"guide/[\w-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    pages = [page for page in (ROOT / "docs" / name for name in dict.fromkeys(named)) if page.exists()]
    assert sorted(pages) == sorted((ROOT / "docs/guide").glob("*.md")), "mkdocs.yml has not all pages of the guide"
    return [ROOT / "README.md", *pages]


def blocks(page):
    """The blocks of code of a page, each with the comment "not run: REASON" that stands above it."""
    found = []
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"(?ms)^(?:<!-- not run: ([^>]*?) -->\n)?^```(\w*)[^\n]*\n(.*?)^```$", text):
        found.append(Block(page, text[:match.start(3)].count("\n") + 1, match[2], match[3], (match[1] or "").strip()))
    return found


def named_paths(page):
    """Paths of the project that stand between backticks, without what follows a colon or a space."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))
    words = re.findall(r"`([\w./-]+/[\w./-]+)`", text)
    return sorted({word.rstrip("/") for word in words if word.split("/")[0] in FOLDERS and not word.startswith("docs/site")})


def links(page):
    """Targets of links to files, from the page's folder, with their anchors cut off."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))
    targets = re.findall(r"!?\[[^\]]*\]\(([^)\s]+)\)", text)
    return [target.partition("#")[0] for target in targets if not re.match(r"[a-z]+:|#", target)]
