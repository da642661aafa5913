"""The page of `wadi view` in a headless Chromium, as a person would use it. Needs chromium and a page (npm at build); else skipped.

Pictures are kept in $WADI_SHOTS when that is set. WADI_LONG: every tool, surfaces, runs, recordings, a phone, speed."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from view_harness import Browser, DesktopServer, Impostor, Page, Server, find_browser, free_port  # noqa: E402

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
    browser.open("about:blank")  # an address with another token would not load the page again
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


def test_slow_drawing_thins_out_while_something_moves(browser):
    thinned = "document.getElementById('thinned')"
    with Server(WADI, scene_file(), "--threads", "1") as server:
        begin(browser, server)
        radius = browser.value("wadi.stage.grains.uniforms.radius.value")
        browser.value("wadi.stage.thinning.budget = wadi.stage.thinning.share = 0")
        browser.until("wadi.stage.grains.stride === 8")
        assert abs(browser.value("wadi.stage.grains.uniforms.radius.value") / radius - 2) < 1e-6
        assert "1 of 8" in browser.until(f"!{thinned}.hidden && {thinned}.textContent")
        shot(browser, "thinned")
        browser.value("document.getElementById('play').click()")
        browser.until(f"wadi.stage.grains.stride === 1 && {thinned}.hidden")


LOST = "document.getElementById('lost')"


def test_the_page_comes_back_to_its_own_server_alone(browser):
    port = free_port()
    server = Server(WADI, scene_file(), "--threads", "1", "--port", port)
    begin(browser, server)
    browser.call("Page.reload")  # without the token: with its key
    browser.until(f"window.wadi && window.wadi.state.picture != null && {LOST}.hidden")
    browser.value("wadi.link.socket.close()")
    drawn = browser.value(STATE + ".drawn")
    browser.until(f"{LOST}.hidden && {STATE}.drawn > {drawn} + 2")
    server.stop()
    browser.until(f"!{LOST}.hidden")
    shot(browser, "lost")
    # Another server on the port is told nothing and shows nothing; the address that it prints does.
    with Server(WADI, scene_file(), "--threads", "1", "--port", port) as other:
        browser.until(f"{LOST}.textContent.startsWith('Another wadi')")
        browser.open(other.address)
        browser.until(f"{LOST}.hidden && wadi.link.token === ''")


def test_a_tab_offers_its_key_to_nobody_who_has_it_not(browser):
    server = Server(WADI, scene_file(), "--threads", "1", "--port", free_port())
    begin(browser, server)
    key = browser.value("sessionStorage.getItem('wadi-session')")
    server.stop()
    with Impostor(server.port) as impostor:
        browser.until(f"{LOST}.textContent.startsWith('Another wadi')")
        assert impostor.heard and all(line.startswith("back ") and key not in line for line in impostor.heard), impostor.heard


def test_a_window_that_another_one_replaced_stays_so(browser):
    with Server(WADI, scene_file(), "--threads", "1") as server:
        begin(browser, server)
        other = Page(server, browser.value("sessionStorage.getItem('wadi-session')"))
        other.picture()
        browser.until(f"{LOST}.textContent.startsWith('Another window')")
        time.sleep(0.5)
        for _ in range(3):
            other.picture()


def test_a_browser_follows_the_file_that_it_is_given(browser):
    with DesktopServer(WADI, scene_file(), "--threads", "1", home=tempfile.mkdtemp(dir=FOLDER)) as server:
        browser.open("file://" + server.path)
        browser.until("window.wadi && window.wadi.state.picture != null")
        assert browser.value("location.href") == f"http://127.0.0.1:{server.port}/"
        assert not os.path.exists(server.path)


def test_problems_stay_until_they_are_closed(browser):
    note = "document.getElementById('note')"
    path = scene_file()
    with Server(WADI, path, "--threads", "1", "--paused", cwd=FOLDER) as server:
        begin(browser, server)
        with open(path, "w", encoding="ascii") as file:
            file.write(SCENE.replace("solver: flip", "solver: flop"))
        browser.value("document.getElementById('restart').click()")
        browser.until(f"!{note}.hidden && {note}.textContent.includes('heap.yaml:3:9')")
        assert browser.value(f"{note}.classList.contains('problem')")
        shot(browser, "problem")
        browser.value(f"{note}.click()")
        assert browser.value(f"{note}.hidden")
        scene_file()
        browser.value("document.getElementById('step').click()")
        browser.until(STATE + ".picture.steps == 1")
        # A recording tells its frames while it goes on, and where it is when it is whole.
        browser.value("document.getElementById('record').click()")
        browser.until(f"{note}.textContent.includes('wadi render heap.play')")
        assert not browser.value(f"{note}.classList.contains('problem')")
        shot(browser, "recorded")
        # As during a restart of a large scene.
        browser.value("wadi.receive({ type: 'busy', what: 'starting again', seconds: 12 })")
        assert browser.value("document.getElementById('busy').textContent") == "starting again: 12 s so far"
        shot(browser, "busy")
        browser.until("document.getElementById('busy').hidden")


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
        begin(browser, server)
        for solver in ("sph", "dem", "flip"):
            browser.value(f"(() => {{ const s = document.getElementById('solver'); s.value = '{solver}'; s.onchange(); }})()")
            browser.until(f"{STATE}.facts.solver == '{solver}'")
            start = browser.value(STATE + ".picture.steps")
            browser.until(f"{STATE}.frame >= 2 && {STATE}.picture.steps > {start}")
            shot(browser, "solver_" + solver)
            # Sliders of values that the solver has.
            browser.value("""(() => { document.getElementById("note").textContent = "";
                for (const s of document.querySelectorAll("#materials input")) { s.stepUp(); s.dispatchEvent(new Event("input")); } })()""")
            after = browser.value(STATE + ".picture.steps")
            browser.until(f"{STATE}.picture.steps > {after} + 2")
            assert browser.value("document.getElementById('note').textContent") == "", "a slider is refused"
            has = browser.value("document.querySelector('input[aria-label=\"FLIP share\"]') !== null")
            assert has == (solver == "flip"), solver


def test_long_wet_sand_is_darker(browser):
    brightness = []
    for saturation in (0, 1):
        path = os.path.join(FOLDER, "wet.yaml")
        with open(path, "w", encoding="ascii") as file:
            file.write(SCENE.replace("flip", "sph")
                       .replace("{material: sand,", f"{{material: sand, saturation: {saturation},"))
        with Server(WADI, path, "--threads", "1", "--paused") as server:
            begin(browser, server)
            assert browser.value("wadi.stage.grains.uniforms.wetness.value") == saturation
            # Of the middle of the picture, which the body covers: seen along its diagonal from nearby.
            brightness.append(browser.value("""(() => { const s = wadi.stage, gl = s.renderer.getContext(), px = new Uint8Array(4 * 400);
                s.controls.target.set(-0.35, 0, -0.1); s.camera.position.set(-0.1, -0.6, 0.3); s.controls.update(); s.draw();
                gl.readPixels(gl.drawingBufferWidth / 2 - 10, gl.drawingBufferHeight / 2 - 10, 20, 20, gl.RGBA, gl.UNSIGNED_BYTE, px);
                return px.reduce((a, b) => a + b, 0) / 400 - 255; })()"""))
            shot(browser, f"wet_{saturation}")
    assert brightness[1] < 0.85 * brightness[0], brightness


def key(browser, text, code=None):
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key=text, code=code or text)


def touch(browser, points):
    for i, (x, y) in enumerate(points):
        browser.call("Input.dispatchTouchEvent", type="touchMove" if i else "touchStart", touchPoints=[{"x": x, "y": y}])
        time.sleep(0.06)
    browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


def test_long_keys_and_touch(browser):
    with Server(WADI, scene_file(), "--threads", "1", "--paused") as server:
        begin(browser, server)
        key(browser, ".")
        browser.until(STATE + ".picture.steps == 1")
        key(browser, " ", "Space")
        browser.until(STATE + ".frame >= 3")
        key(browser, " ", "Space")
        key(browser, "Home")
        browser.until(STATE + ".frame == 1")
        key(browser, "ArrowRight")
        browser.until(STATE + ".frame == 2")
        key(browser, "c")
        assert browser.value("document.getElementById('cut').value") == "1"
        key(browser, "c")
        # A saved picture is a PNG with the name of the scene and the frame.
        browser.value("""URL.createObjectURL = (blob) => { window.blob = blob; return "#"; };
            HTMLAnchorElement.prototype.click = function () { window.saved = `${this.download} ${blob.type} ${blob.size > 5000}`; }""")
        key(browser, "s")
        browser.until("window.saved")
        assert browser.value("window.saved") == "heap.0002.png image/png true", browser.value("window.saved")
        # One finger turns the view; with a tool it pours.
        before = browser.value("wadi.stage.camera.position.x")
        touch(browser, [(400, 200), (430, 205), (460, 210)])
        browser.until(f"Math.abs(wadi.stage.camera.position.x - {before}) > 0.01")
        count = particles(browser)
        key(browser, "3")
        touch(browser, [(420, 300), (430, 302), (440, 304)])
        browser.until(f"{STATE}.particles > {count}")


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
