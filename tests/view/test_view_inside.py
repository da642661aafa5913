"""The page with the solver inside it (make web) in a headless Chromium, from a plain web host. Needs build/web and chromium; with
WADI_LONG and emscripten build/web is made first. Else skipped.

test_view_inside.py WADI FOLDER"""

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from view_harness import Browser, find_browser  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "build", "web")
STATE = "window.wadi.state"


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of the folder, with the two headers for pages that share memory where `isolates` says so."""

    isolates = False

    def end_headers(self):
        if self.isolates:
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def log_message(self, *_):
        pass


class Host:
    def __init__(self, isolates):
        handler = type("TheHandler", (Handler,), {"isolates": isolates})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=FOLDER))
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()


def begin(browser, host):
    browser.open(host.address)
    browser.until("window.wadi && window.wadi.state.drawn > 0 && window.wadi.state.picture != null", 60)


def choose(browser, name):
    browser.value(f"(() => {{ const s = document.getElementById('scene'); s.value = '{name}'; s.onchange(); }})()")
    browser.until(f"{STATE}.name == '{name}'", 60)


def shot(browser, name):
    folder = os.environ.get("WADI_SHOTS")
    return browser.screenshot(os.path.join(folder, name + ".png") if folder else None)


def print_rate(browser, what, frame):
    """Pictures drawn and steps taken a second until the frame."""
    facts = f"[{STATE}.drawn, {STATE}.picture.steps, {STATE}.time, performance.now() / 1000]"
    start = browser.value(facts)
    browser.until(f"{STATE}.frame >= {frame}", 120)
    drawn, steps, simulated, seconds = (b - a for a, b in zip(start, browser.value(facts)))
    print(f"inside the page, {what}: {browser.value(STATE + '.particles')} particles, {drawn / seconds:.1f} pictures and "
          f"{steps / seconds:.1f} steps a second, {simulated / seconds:.2f} times real time, each "
          f"{browser.value('wadi.stage.grains.stride')}. particle drawn")


def test_the_grid_solver_runs_live_in_the_page(browser):
    with Host(False) as host:
        begin(browser, host)
        assert browser.value("crossOriginIsolated") is False
        choose(browser, "inf585-collapse")
        assert browser.value(STATE + ".facts.cell_size") <= 1.0 / 24
        browser.until(STATE + ".frame >= 3", 60)
        first = shot(browser, "inside_start")
        print_rate(browser, "one thread", 12)
        assert shot(browser, "inside_later") != first, "the picture does not move"


def test_it_plays_as_with_a_server(browser):
    with Host(True) as host:
        browser.open("about:blank")
        begin(browser, host)
        assert browser.value("crossOriginIsolated") is True
        count = browser.value(STATE + ".particles")
        browser.value("document.querySelector('[data-tool=water]').click()")
        browser.drag([(420, 300), (430, 302), (440, 304)])
        browser.until(f"{STATE}.particles > {count}", 60)
        print_rate(browser, "threads", 8)
        shot(browser, "inside_threads")
        browser.value("document.getElementById('restart').click()")
        browser.until(STATE + f".frame == 1 && {STATE}.particles == {count}", 60)
        assert browser.value("getComputedStyle(document.getElementById('record')).display") == "none"


def main():
    if find_browser() is None:
        print("skipped: chromium is not installed")
        return 77
    if "WADI_LONG" in os.environ and shutil.which("emcc") and shutil.which("npm"):
        subprocess.run([os.path.join(ROOT, "tools", "web.sh")], check=True, stdout=subprocess.DEVNULL)
    if not os.path.exists(os.path.join(FOLDER, "wadi.wasm")):
        print("skipped: build/web is not there (make web makes it)")
        return 77
    browser = Browser()
    failed = 0
    for name, test in [(n, f) for n, f in globals().items() if n.startswith("test_")]:
        try:
            test(browser)
            assert not browser.errors, browser.errors
        except Exception as problem:  # pylint: disable=broad-except
            print(f"FAILED {name}: {type(problem).__name__}: {problem}")
            shot(browser, "failed_" + name)
            failed += 1
        browser.errors.clear()
    browser.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
