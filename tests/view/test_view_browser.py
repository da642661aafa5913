"""The page of `wadi view` in a headless Chromium, as a person would use it. Needs chromium and a page (npm at build); else skipped.

Pictures are kept in $WADI_SHOTS when that is set. WADI_LONG: every tool, surfaces, runs, recordings, a phone, speed."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from view_harness import Browser, Server, find_browser  # noqa: E402

WADI = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ["WADI"])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IS_LONG = "WADI_LONG" in os.environ
SCENE = """\
wadi: 1
name: heap
solver: flip
domain: {min: [0, 0, 0], max: [1, 0.4, 0.5], walls: {friction: 0.4}}
resolution: 25
frames: 200
fps: 24
materials: {sand: {kind: sand, friction_angle: 35}, water: {kind: water}}
bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.3, 0.4, 0.3]}}}]
"""
STATE = "window.wadi.state"
FOLDER = tempfile.mkdtemp()


def scene_file():
    path = os.path.join(FOLDER, "heap.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(SCENE)
    return path


def shot(browser, name):
    folder = os.environ.get("WADI_SHOTS")
    return browser.screenshot(os.path.join(folder, name + ".png") if folder else None)


def begin(browser, server):
    browser.open(server.address)
    browser.until("window.wadi && window.wadi.state.drawn > 0 && window.wadi.state.picture != null")


def move_slider(browser, label, value):
    browser.value(f"""(() => {{ const s = document.querySelector('input[aria-label="{label}"]'); s.value = {value};
        s.dispatchEvent(new Event("input")); return true; }})()""")


def front(browser):
    """How far the sand reached: the mean of x over the grains of the picture, from the words on the page."""
    return browser.value("""(() => { const g = wadi.stage.grains, p = g.places.image.data, w = g.words.array; let s = 0, n = 0;
        for (let c = 0; c < g.capacity; ++c) for (let i = 0; i < p[4 * c + 3]; ++i) {
          s += p[4 * c] + g.uniforms.tile.value * (w[256 * c + i] & 1023) / 1024; n += 1; }
        return s / n; })()""")


def particles(browser):
    return browser.value(STATE + ".particles")


def test_a_person_watches_and_plays(browser):
    with Server(WADI, scene_file(), "--threads", "1", "--paused") as server:
        begin(browser, server)
        first = shot(browser, "start")
        assert browser.value("location.hash") == "", "the token stays in the address bar"
        assert abs(front(browser) - (0.15 - 0.5)) < 0.01, front(browser)  # the body's middle, from the domain's
        # Without friction the heap flows away.
        move_slider(browser, "friction angle", 2)
        slippery = play_to(browser, 14)
        assert shot(browser, "slippery") != first, "the picture does not move"
        browser.value("document.getElementById('restart').click()")
        browser.until(STATE + ".frame == 1")
        assert browser.value("document.querySelector('input[aria-label=\"friction angle\"]').value") == "35"
        rough = play_to(browser, 14)
        assert slippery > rough + 0.02, (slippery, rough)
        pour_and_scrub(browser)


def play_to(browser, frame):
    browser.value("document.getElementById('play').click()")
    browser.until(f"{STATE}.frame >= {frame}")
    browser.value("document.getElementById('play').click()")
    browser.value(f"wadi.send('seek {frame}')")
    browser.until(f"{STATE}.frame == {frame}")
    return front(browser)


def pour_and_scrub(browser):
    before = particles(browser)
    browser.value("document.querySelector('[data-tool=water]').click()")
    browser.drag([(420, 300), (430, 302), (440, 304)])
    browser.until(f"{STATE}.particles > {before}")
    shot(browser, "poured")
    browser.value("""(() => { const s = document.getElementById("scrub"); s.value = 2; s.dispatchEvent(new Event("input"));
        s.dispatchEvent(new Event("change")); })()""")
    browser.until(STATE + ".frame == 2")
    assert particles(browser) == before
    shot(browser, "scrubbed")


def test_the_page_comes_back_after_a_restart_of_the_server(browser):
    server = Server(WADI, scene_file(), "--threads", "1")
    browser.open("about:blank")
    begin(browser, server)
    server.stop()
    browser.until("!document.getElementById('lost').hidden")
    shot(browser, "lost")
    again = Server(WADI, scene_file(), "--threads", "1", "--port", str(server.port), state=server.state)
    try:
        browser.until("document.getElementById('lost').hidden && window.wadi.state.picture != null")
        drawn = browser.value(STATE + ".drawn")
        browser.until(f"{STATE}.drawn > {drawn} + 2")
    finally:
        again.stop()


def test_long_every_tool_works(browser):
    with Server(WADI, scene_file(), "--threads", "1", cwd=FOLDER) as server:
        begin(browser, server)
        browser.until(STATE + ".frame >= 3")
        count = particles(browser)
        browser.value("document.querySelector('[data-tool=dig]').click()")
        browser.drag([(200, 400), (215, 402), (230, 404)])
        browser.until(f"{STATE}.particles < {count}")
        shot(browser, "dug")
        count = particles(browser)
        browser.value("document.querySelector('[data-tool=sand]').click()")
        browser.drag([(420, 300), (430, 302), (440, 304)])
        browser.until(f"{STATE}.particles > {count}")
        browser.value("document.querySelector('[data-tool=push]').click()")
        browser.drag([(560, 420)] + [(560 - 12 * i, 420) for i in range(20)], lambda: shot(browser, "pushed"))
        browser.until("wadi.stage.colliders.size === 1")
        browser.value("document.querySelector('[data-tool=look]').click()")
        browser.value("(() => { const c = document.getElementById('colour'); c.value = 'velocity'; c.onchange(); })()")
        browser.until("!document.getElementById('legend').hidden")
        shot(browser, "speed")
        browser.value("(() => { const c = document.getElementById('cut'); c.value = '1'; c.onchange(); })()")
        time.sleep(0.5)
        shot(browser, "cut")
        browser.value("(() => { const c = document.getElementById('colour'); c.value = ''; c.onchange(); })()")
        browser.value("document.getElementById('record').click()")
        browser.until("document.getElementById('note').textContent.includes('has the session')", 120)
        run = os.path.join(FOLDER, "heap.play.run")
        assert os.path.exists(os.path.join(run, "changes.yaml"))
    with Server(WADI, run) as server:
        begin(browser, server)
        browser.until(STATE + ".frame >= 4")
        assert browser.value("getComputedStyle(document.getElementById('materials').parentElement).display") == "none"
        shot(browser, "run")


def test_long_gallery_solver_and_surface(browser):
    with Server(WADI, scene_file(), "--threads", "2") as server:
        begin(browser, server)
        browser.value("(() => { const s = document.getElementById('scene'); s.value = 'inf585-collapse'; s.onchange(); })()")
        browser.until(STATE + ".name == 'inf585-collapse'")
        browser.value("(() => { const s = document.getElementById('surface'); s.checked = true; s.onchange(); })()")
        browser.until(f"({STATE}.surfaces ?? 0) > 3")
        shot(browser, "surface")


def test_long_the_solver_can_be_changed(browser):
    with Server(WADI, scene_file(), "--threads", "2") as server:
        browser.open("about:blank")
        begin(browser, server)
        browser.value("(() => { const s = document.getElementById('solver'); s.value = 'sph'; s.onchange(); })()")
        browser.until(STATE + ".facts.solver == 'sph'")
        browser.until(STATE + ".frame >= 2")
        shot(browser, "solver")


def test_long_it_fits_on_a_phone_and_on_a_projector(browser):
    with Server(WADI, scene_file(), "--threads", "1") as server:
        for name, width, height in (("phone", 390, 800), ("projector", 1920, 1080)):
            browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
            browser.open("about:blank")
            begin(browser, server) if name == "phone" else browser.open(f"http://127.0.0.1:{server.port}/")
            browser.until("window.wadi && window.wadi.state.picture != null")
            time.sleep(1)
            shot(browser, name)
            assert browser.value("document.documentElement.scrollWidth <= innerWidth")
        browser.call("Emulation.setDeviceMetricsOverride", width=1000, height=640, deviceScaleFactor=1, mobile=False)


def has_page():
    answer = subprocess.run([WADI, "view", os.path.join(FOLDER, "none.yaml"), "--json"], capture_output=True, text=True, check=False)
    return "unsupported" not in answer.stdout


def main():
    if find_browser() is None or not has_page():
        print("skipped: chromium is not installed, or wadi has no page (tools/setup.sh view installs both)")
        return 77
    wanted = sys.argv[2:]
    tests = [(n, f) for n, f in globals().items() if n.startswith("test_") and (IS_LONG or not n.startswith("test_long"))]
    browser = Browser()
    failed = 0
    for name, test in tests:
        if wanted and not any(w in name for w in wanted):
            continue
        try:
            test(browser)
            # The browser itself reports attempts to reach a server that has ended.
            errors = [e for e in browser.errors if "ERR_CONNECTION_REFUSED" not in e]
            assert not errors, errors
        except Exception as problem:  # pylint: disable=broad-except
            print(f"FAILED {name}: {type(problem).__name__}: {problem}")
            shot(browser, "failed_" + name)
            failed += 1
        browser.errors.clear()
    browser.close()
    shutil.rmtree(FOLDER, ignore_errors=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
