"""Adds files from elsewhere in the repository to the pages of the docs site.

Examples, the programs whose lines docs/integrations.md counts, CONTRIBUTING.md and CHANGELOG.md
become pages, and links to them lead to these pages.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
TEXTS = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages of the repository's root, and their places on the site."""
CODE = {"examples": "gallery.md", "docs/lines": "lines/index.md"}
"""Folders of code, and the page that a link to the folder leads to."""
LINK = re.compile(r"(?<=\]\()([^):#\s]+)(#[^)\s]*)?(?=\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each file of code, and the texts of the repository's root."""
    for source, page in TEXTS.items():
        text = _with_links_of_the_site((ROOT / source).read_text(), "", page)
        files.append(File.generated(config, page, content=text))
    for folder in CODE:
        for file in sorted((ROOT / folder).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            text = f"# {file.name}\n\n```python title={name!r}\n{file.read_text()}```\n"
            files.append(File.generated(config, _page_of_code(name), content=text))
    lines = sorted((ROOT / "docs" / "lines").glob("*.py"))
    rows = [f"- [{file.name}]({file.stem}.md)" for file in lines]
    text = "# Lines of code\n\nThe programs that are counted.\n\n" + "\n".join(rows) + "\n"
    files.append(File.generated(config, CODE["docs/lines"], content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make links to files outside of docs/ lead to their pages on the site."""
    source = page.file.src_uri
    if source in TEXTS.values():
        return markdown
    folder = posixpath.join("docs", posixpath.dirname(source))
    return _with_links_of_the_site(markdown, folder, source)


def _with_links_of_the_site(markdown: str, folder: str, page: str) -> str:
    return LINK.sub(lambda m: _moved(m[1], m[2] or "", folder, page), markdown)


def _moved(link: str, anchor: str, folder: str, page: str) -> str:
    """Return a link of a page in a folder of the repository as the site has it."""
    target = posixpath.normpath(posixpath.join(folder, link))
    if target in TEXTS:
        place = TEXTS[target]
    elif target.endswith(".py") and target.startswith(tuple(CODE)):
        place = _page_of_code(target)
    elif any(target == name or target.startswith(f"{name}/") for name in CODE):
        place = next(CODE[name] for name in CODE if target.startswith(name))
    elif target.startswith("docs/"):
        place = target.removeprefix("docs/")
    else:
        return link + anchor
    return posixpath.relpath(place, posixpath.dirname(page) or ".") + anchor


def _page_of_code(name: str) -> str:
    return posixpath.splitext(name.removeprefix("docs/"))[0] + ".md"
