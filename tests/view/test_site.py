"""The site (make site) in a headless Chromium, from a plain web host: pages, links, search, a phone, and the solver inside. Needs
build/site and chromium; with WADI_LONG and npm build/site is made first. Else skipped.

Pictures are kept in $WADI_SHOTS when that is set."""

import functools
import html.parser
import http.server
import os
import posixpath
import shutil
import subprocess
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from view_harness import Browser, find_browser  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "build", "site")


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Page(html.parser.HTMLParser):
    """Ids and addresses of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.addresses = set(), []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src"):
                self.addresses.append(value)


def pages():
    found = {}
    for folder, _, names in os.walk(FOLDER):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), FOLDER)
            if name.endswith(".html") and not path.startswith("play"):
                found[path] = Page(os.path.join(FOLDER, path))
    return found


def test_every_link_leads_somewhere(_browser, _host):
    all_pages, count = pages(), 0
    for path, page in all_pages.items():
        for address in page.addresses:
            if address.startswith(("http:", "https:", "data:", "mailto:")):
                continue
            target, _, anchor = address.partition("#")
            target = target.partition("?")[0]
            file = posixpath.normpath(posixpath.join(posixpath.dirname(path), urllib.parse.unquote(target))) if target else path
            assert os.path.isfile(os.path.join(FOLDER, file)), f"{path}: {address}"
            assert not anchor or anchor in all_pages[file].ids, f"{path}: {address}"
            count += 1
    assert len(all_pages) > 30 and count > 1000, (len(all_pages), count)


def open_page(browser, host, path):
    browser.open("about:blank")
    browser.until("document.readyState == 'complete' && location.href == 'about:blank'")
    browser.open(host + path)
    browser.until(f"document.readyState == 'complete' && location.href == '{host + path}'")


def shot(browser, name):
    folder = os.environ.get("WADI_SHOTS")
    return browser.screenshot(os.path.join(folder, name + ".png") if folder else None)


def search(browser, words):
    browser.value(f"(() => {{ const f = document.getElementById('search'); f.focus(); f.value = '{words}';"
                  " f.dispatchEvent(new Event('input')); })()")
    return browser.until("[...document.querySelectorAll('#found a')].map((a) => a.getAttribute('href')).join(' ')").split()


def test_the_first_page_and_the_tutorial_have_their_pictures(browser, host):
    open_page(browser, host, "index.html")
    assert browser.value("document.title") == "wadi"
    assert browser.value("document.querySelectorAll('nav a').length") > 25
    assert browser.value("[...document.querySelectorAll('nav a')].every((a) => a.textContent.trim() != '')")
    shot(browser, "site_first")
    open_page(browser, host, "docs/tutorial.html")
    browser.value("document.querySelectorAll('img').forEach((i) => { i.loading = 'eager'; })")
    browser.until("[...document.images].length >= 6 && [...document.images].every((i) => i.naturalWidth > 0)")
    assert browser.value("document.querySelector('nav a[aria-current]').textContent").startswith("Tutorial")
    shot(browser, "site_tutorial")


def test_the_search_finds_a_section_and_leads_there(browser, host):
    open_page(browser, host, "docs/flip.html")
    hits = search(browser, "stop continue")
    assert any("howto" in hit for hit in hits[:3]), hits
    shot(browser, "site_search")
    hits = search(browser, "friction_angle")
    assert any("scene-reference" in hit for hit in hits), hits
    assert search(browser, "cohesoin"), "a slip of the fingers is forgiven"
    browser.value("document.querySelector('#found a').click()")
    browser.until("location.hash.length > 1 && document.readyState == 'complete'")
    assert browser.value("document.getElementById(decodeURIComponent(location.hash.slice(1))) != null")


def test_a_phone_shows_pages_without_scrolling_sideways(browser, host):
    browser.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
    for path in ("index.html", "docs/tutorial.html", "docs/scene-reference.html", "docs/theory.html"):
        open_page(browser, host, path)
        wide = browser.value("document.documentElement.scrollWidth")
        assert wide <= 391, f"{path}: {wide} pixels wide"
    browser.value("document.getElementById('menu').click()")
    assert browser.value("getComputedStyle(document.querySelector('nav')).display") == "block"
    shot(browser, "site_phone")
    browser.call("Emulation.setDeviceMetricsOverride", width=1000, height=640, deviceScaleFactor=1, mobile=False)


def test_scenes_of_the_tutorial_run_in_the_page(browser, host):
    if not os.path.exists(os.path.join(FOLDER, "play", "wadi.wasm")):
        print("not tested: the site is without the solver (make web)")
        return
    for name in ("tutorial-1-heap", "tutorial-4-soak"):
        open_page(browser, host, f"play/index.html?scene={name}")
        browser.until(f"document.getElementById('scene').value == '{name}' && window.wadi.state.name == 'tower'", 120)
        browser.until("window.wadi.state.frame >= 3", 120)
        shot(browser, "site_" + name)


def main():
    if find_browser() is None:
        print("skipped: chromium is not installed")
        return 77
    if "WADI_LONG" in os.environ and shutil.which("npm"):
        subprocess.run([os.path.join(ROOT, "tools", "site.sh")], check=True, stdout=subprocess.DEVNULL)
    if not os.path.exists(os.path.join(FOLDER, "index.html")):
        print("skipped: build/site is not there (make site makes it)")
        return 77
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=FOLDER))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"http://127.0.0.1:{server.server_address[1]}/"
    browser = Browser()
    failed = 0
    for name, test in [(n, f) for n, f in globals().items() if n.startswith("test_")]:
        try:
            test(browser, host)
            assert not browser.errors, browser.errors
        except Exception as problem:  # pylint: disable=broad-except
            print(f"FAILED {name}: {type(problem).__name__}: {problem}")
            shot(browser, "failed_" + name)
            failed += 1
        browser.errors.clear()
    browser.close()
    server.shutdown()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
