"""Pages that mkdocs.yml does not find in docs: those made of other files of the project."""

import re
import sys
from pathlib import Path

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).resolve().parent))
import c_api  # noqa: E402
import man_page  # noqa: E402
import notebook  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

# Top-level files that are pages of the site.
_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md",
          "SECURITY.md": "security.md"}


def _moved(text):
    """A page of the project's folder with the links that it has as a page of the site."""
    def link(match):
        words, target = match[1], match[2]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, hash_sign, anchor = target.partition("#")
        if path == "docs/man/cuszi.1":
            return f"[{words}](reference/command-line.md)"
        if path.startswith("docs/"):
            return f"[{words}]({path.removeprefix('docs/')}{hash_sign}{anchor})"
        if path in _PAGES:
            return f"[{words}]({_PAGES[path]}{hash_sign}{anchor})"
        return words if "`" in words else f"{words} (`{path}`)"
    return re.sub(r"\[([^\]]*)\]\(([^)\s]*)\)", link, text)


def on_files(files, config):
    """Adds the pages that are made of other files."""
    pages = {page: _moved((ROOT / name).read_text(encoding="utf-8"))
             for name, page in _PAGES.items() if (ROOT / name).exists()}
    manual = (ROOT / "docs/man/cuszi.1").read_text(encoding="utf-8")
    pages["reference/command-line.md"] = "# Command line\n" + man_page.to_markdown(manual)
    pages["reference/c-api.md"] = "# C API\n\n" + c_api.to_markdown(ROOT / "include/cuszi/cuszi.h")
    made = ROOT / "build/notebook/choose_a_bound.ipynb"
    text, pictures = notebook.to_markdown(made if made.exists() else ROOT / "examples/choose_a_bound.ipynb")
    pages["guide/choose-a-bound.md"] = text
    for name, content in [*pages.items(), *((f"guide/{name}", picture) for name, picture in pictures.items())]:
        files.append(File.generated(config, name, content=content))
    return files
