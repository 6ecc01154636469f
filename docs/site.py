"""What the site of the documentation adds to docs: the first page and Python's pages, and links that leave docs."""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent

# Pages that stand elsewhere in the repository: their place there, and in the site.
ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "python/README.md": "python/index.md",
    "python/TUTORIAL.md": "python/TUTORIAL.md",
    "python/API.md": "python/API.md",
}
LINK = re.compile(r"(\]\()([^)#\s]+)")


def on_files(files, config):
    """Adds the pages that stand elsewhere."""
    for source, place in ELSEWHERE.items():
        files.append(File.generated(config, place, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown, page, config, files):
    """Sends links to where their targets stand: in the site, or else in the repository."""
    places = {place: source for source, place in ELSEWHERE.items()}
    here = page.file.src_uri
    source = places.get(here, "docs/" + here)

    def moved(found):
        target = found[2]
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        place = ELSEWHERE.get(wanted, wanted.removeprefix("docs/") if wanted.startswith("docs/") else None)
        if place is not None and files.get_file_from_path(place) is not None:
            return found[1] + posixpath.relpath(place, posixpath.dirname(here) or ".")
        if not (ROOT / wanted).exists():
            raise ValueError(f"{source}: {target} is not there")
        return f"{found[1]}{config.repo_url}/blob/main/{wanted}"

    return LINK.sub(moved, markdown)
