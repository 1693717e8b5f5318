"""Every link of the built pages leads somewhere, to the place that it names; and nothing is fetched from elsewhere."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError

FETCHED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("link", "href")}
SAID_ONLY = {"canonical", "next", "prev"}  # relations that a browser does not follow


class Page(HTMLParser):
    """The links, the places that can be linked to, and what is fetched to show a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what a tag leads to, fetches and is called."""
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        for name in ("href", "src"):
            if name in given and given.get("rel") not in SAID_ONLY:
                (self.fetched if (tag, name) in FETCHED else self.links).add(given[name])


def broken(folder: Path) -> list[str]:
    """One line for each link that leads nowhere, and for each thing that would be fetched from another place."""
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if path.name != "404.html"
    }
    found = []
    for path, page in pages.items():
        own = path.relative_to(folder)
        found += [f"{own}: fetched from elsewhere: {link}" for link in sorted(page.fetched) if urlsplit(link).netloc]
        for link in sorted(page.links | page.fetched):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                found.append(f"{own}: no file: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                found.append(f"{own}: no such place: {link}")
    return found


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a site with such links."""
    found = broken(Path(config.site_dir))
    if found:
        raise PluginError("\n".join(["links:", *found]))
