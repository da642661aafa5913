"""What the page of `wadi view` has for teaching, in a headless Chromium. Needs chromium and a page (npm at build); else skipped.

Pictures are kept in $WADI_SHOTS when that is set.

test_view_teaching.py WADI [NAME…]"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from view_harness import Browser, Server, find_browser  # noqa: E402

WADI = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ["WADI"])
SCENE = """\
wadi: 1
name: lesson
solver: flip
domain: {min: [0, 0, 0], max: [1, 0.4, 0.5], walls: {friction: 0.4}}
resolution: 25
frames: 200
fps: 24
materials: {sand: {kind: sand, friction_angle: 35}, water: {kind: water}}
bodies:
  - {material: water, shape: {box: {min: [0, 0, 0], max: [0.3, 0.4, 0.3]}}}
  - {material: sand, shape: {box: {min: [0.7, 0, 0], max: [1, 0.4, 0.1]}}}
colliders:
  - name: tray
    shape:
      difference:
        - box: {min: [0.4, 0.1, 0], max: [0.6, 0.3, 0.15]}
        - box: {min: [0.405, 0.105, 0.005], max: [0.595, 0.295, 0.2]}
"""
STATE = "window.wadi.state"
FOLDER = tempfile.mkdtemp()


def scene_file():
    path = os.path.join(FOLDER, "lesson.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(SCENE)
    return path


def shot(browser, name):
    folder = os.environ.get("WADI_SHOTS")
    return browser.screenshot(os.path.join(folder, name + ".png") if folder else None)


def begin(browser, server):
    browser.open("about:blank")
    browser.open(server.address)
    browser.until("window.wadi && window.wadi.state.drawn > 0 && window.wadi.state.picture != null")


def click(browser, name):
    browser.value(f"document.getElementById('{name}').click()")


def choose(browser, name, value):
    browser.value(f"""(() => {{ const c = document.getElementById("{name}"); c.value = "{value}";
        c.dispatchEvent(new Event("input")); c.dispatchEvent(new Event("change")); }})()""")


def tool(browser, name):
    browser.value(f"document.querySelector('[data-tool={name}]').click()")


def hover(browser, x, y):
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="none")


def text(browser, name):
    return browser.value(f"document.getElementById('{name}').textContent")


def play_to(browser, frame):
    click(browser, "play")
    browser.until(f"{STATE}.frame >= {frame}")
    click(browser, "play")
    browser.until(f"!{STATE}.isPlaying")
    steps, before = -1, None
    while steps != before:  # pictures that were under way arrive
        before = steps
        time.sleep(1)
        steps = browser.value(f"{STATE}.picture.steps")


def words(browser):
    """A sum over all that the page shows: equal for equal pictures."""
    return browser.value("""(() => { const g = wadi.stage.grains, p = g.places.image.data; let s = 0;
        for (let c = 0; c < g.chunkCount; ++c) for (let i = 0; i < p[4 * c + 3]; ++i) s += g.words.array[256 * c + i] % 65521;
        return s; })()""")


def test_water_is_a_surface_and_all_walls_are_there(browser):
    with Server(WADI, scene_file(), "--threads", "1", "--paused") as server:
        begin(browser, server)
        assert browser.value("document.getElementById('surface').checked")
        browser.until(f"({STATE}.surfaces ?? 0) > 0 && wadi.stage.surface.visible")
        # Each wall of the tray has an outer face; its mesh is relative to the middle of the domain.
        for axis, place in ((0, 0.0), (0, 0.2), (1, 0.0), (1, 0.2)):
            count = browser.value(f"""(() => {{ const p = wadi.stage.colliders.get(0).geometry.attributes.position; let n = 0;
                for (let i = 0; i < p.count; ++i) n += Math.abs(p.array[3 * i + {axis}] - {place}) < 1e-5; return n; }})()""")
            assert count > 50, (axis, place, count)
        shot(browser, "lesson_surface")
        # A colour is of particles, which the surface would hide.
        choose(browser, "colour", "velocity")
        browser.until("!wadi.stage.surface.visible && wadi.stage.grains.uniforms.hidden.value === 0")


def test_a_stroke_shows_its_ring_pours_from_above_and_is_taken_back(browser):
    with Server(WADI, scene_file(), "--threads", "1", "--paused") as server:
        begin(browser, server)
        before, count = words(browser), browser.value(STATE + ".particles")
        tool(browser, "water")
        hover(browser, 430, 330)
        browser.until("wadi.stage.ring.target.visible && wadi.stage.ring.source.visible")
        assert browser.value("wadi.stage.ring.source.position.z - wadi.stage.ring.target.position.z") > 0.15
        shot(browser, "lesson_ring")
        browser.drag([(430, 330), (440, 332)])
        browser.until(f"{STATE}.particles > {count}")
        shot(browser, "lesson_poured")
        browser.until("!document.getElementById('undo').disabled")
        browser.call("Input.dispatchKeyEvent", type="keyDown", key="z", code="KeyZ", modifiers=2)
        browser.until(f"{STATE}.particles === {count}")
        assert words(browser) == before
        tool(browser, "look")
        browser.until("!wadi.stage.ring.target.visible")


def test_cells_arrows_values_and_plots(browser):
    with Server(WADI, scene_file(), "--threads", "1", "--paused") as server:
        begin(browser, server)
        browser.until("wadi.lesson.totals.rows.length > 0")
        play_to(browser, 5)
        choose(browser, "slice", "both")
        browser.until("wadi.stage.slice.latest && wadi.stage.slice.group.children.length === 3")
        # Water at the left, sand at the right, air above, as many cells as the domain has.
        assert browser.value("[wadi.stage.slice.latest.width, wadi.stage.slice.latest.height].join()") == "25,13"
        kinds = browser.value("""(() => { const s = wadi.stage.slice.latest, at = (x, z) => s.types[z * s.width + x];
            return [at(1, 1), at(23, 0), at(12, 12)].join(); })()""")
        assert kinds == "1,2,0", kinds
        choose(browser, "cut", "1")
        time.sleep(0.5)
        shot(browser, "lesson_cells")
        choose(browser, "slice", "")
        browser.until("wadi.stage.slice.group.children.length === 0")
        choose(browser, "cut", "")
        choose(browser, "colour", "velocity")
        hover(browser, 150, 350)
        found = browser.until("!document.getElementById('probe').hidden && document.getElementById('probe').textContent")
        assert found.startswith("water · speed ") and "m/s" in found, found
        tool(browser, "sand")  # the ring shows what it touches; nothing covers it
        hover(browser, 152, 352)
        browser.until("document.getElementById('probe').hidden && wadi.stage.ring.target.visible")
        tool(browser, "look")
        # Energies: the water falls, and nothing is gained. The volume stays.
        browser.until("wadi.lesson.totals.rows.length > 1")
        rows = browser.value("wadi.lesson.totals.rows")
        assert rows[-1]["kinetic"] > 0.1 and rows[-1]["total"] < rows[0]["total"] * 1.001, rows
        assert abs(rows[-1]["volume"] / 0.048 - 1) < 0.1, rows[-1]
        browser.value("document.getElementById('energy').scrollIntoView()")
        shot(browser, "lesson_plots")
        # A range that a person fixed stays.
        choose(browser, "legend-high", "4")
        browser.until(STATE + ".picture.high === 4")
        shot(browser, "lesson_range")
        click(browser, "legend-auto")
        browser.until(STATE + ".picture.high !== 4")


def test_stages_one_at_a_time(browser):
    with Server(WADI, scene_file(), "--threads", "1", "--paused") as server:
        begin(browser, server)
        play_to(browser, 5)
        steps, before, seen = browser.value(STATE + ".picture.steps"), words(browser), []
        click(browser, "stage-begin")
        browser.until("wadi.lesson.walk.stages.length > 5 && !document.getElementById('stage-card').hidden")
        count = browser.value("wadi.lesson.walk.stages.length")
        for n in range(count):
            seen.append(text(browser, "stage-name").split(": ")[-1])
            assert browser.value("wadi.stage.slice.group.children.length") == 3, "cells and arrows of each stage"
            if seen[-1] == "pressure":
                assert "∇" in text(browser, "stage-equation")
                shot(browser, "lesson_stage")
            if n + 1 < count:  # the particles wait for the last stage
                assert words(browser) == before and browser.value(STATE + ".picture.steps") == steps
                click(browser, "stage-next")
        assert seen.index("particles to grid") < seen.index("pressure") < seen.index("grid to particles"), seen
        browser.until(f"{STATE}.picture.steps === {steps} + 1")
        assert words(browser) != before
        click(browser, "stage-next")
        browser.until(f"wadi.lesson.walk.at === 0 && !wadi.lesson.walk.isWaiting")
        click(browser, "stage-stop")  # in the middle of a step: the particles are those behind it
        browser.until(f"{STATE}.picture.steps === {steps} + 2")
        assert browser.value("document.getElementById('stage-card').hidden && wadi.stage.slice.group.children.length === 0")


def test_two_sessions_side_by_side(browser):
    with Server(WADI, scene_file(), "--threads", "1", "--paused") as server:
        begin(browser, server)
        play_to(browser, 14)
        click(browser, "keep")
        browser.until("wadi.stage.beside !== null && !document.getElementById('sides').hidden")
        kept = browser.value("wadi.lesson.kept.frames.length")
        assert kept >= 2, kept
        click(browser, "restart")
        browser.until(STATE + ".frame === 1")
        browser.value("wadi.send('set materials.water.viscosity=50')")
        play_to(browser, 14)
        browser.until("document.getElementById('side-kept').textContent.startsWith('lesson · frame')")
        shot(browser, "lesson_beside")
        # Both halves hold particles, and they differ: honey stands where water ran.
        assert browser.value("wadi.stage.beside.chunkCount > 0 && wadi.lesson.energy.kept !== null")
        halves = browser.value("""(() => { const mean = (g) => { const p = g.places.image.data, t = g.uniforms.tile.value; let s = 0, n = 0;
            for (let c = 0; c < g.chunkCount; ++c) for (let i = 0; i < p[4 * c + 3]; ++i) {
              const w = g.words.array[256 * c + i]; if (w >>> 30 !== 1) continue;
              s += p[4 * c] + t * (w & 1023) / 1024; n += 1; }
            return s / n; }; return [mean(wadi.stage.beside), mean(wadi.stage.grains)]; })()""")
        assert halves[0] > halves[1] + 0.01, halves
        click(browser, "drop")
        assert browser.value("wadi.stage.beside === null && document.getElementById('sides').hidden")


def test_two_finished_runs_side_by_side(browser):
    runs = []
    for name, angle in (("rough", 45), ("smooth", 1)):
        runs.append(os.path.join(FOLDER, name + ".run"))
        subprocess.run([WADI, "run", scene_file(), "-o", runs[-1], "--overwrite", "--frames", "12", "--threads", "1", "--quiet",
                        "--set", "materials.sand.friction_angle=" + str(angle), "--set", "bodies[0].material=sand"], check=True)
    with Server(WADI, runs[0], "--beside", runs[1], "--paused") as server:
        begin(browser, server)
        assert not browser.value("document.getElementById('other').hidden")
        for frame in range(1, 13):
            browser.value(f"wadi.send('seek {frame}')")
            browser.until(f"{STATE}.frame === {frame}")
        rough = words(browser)
        click(browser, "other")
        browser.until(f"wadi.stage.beside !== null && {STATE}.frame === 1")
        browser.value("wadi.send('seek 12')")
        browser.until(f"{STATE}.frame === 12 && document.getElementById('side-kept').textContent.endsWith('frame 12')")
        assert words(browser) != rough, "the same run"
        shot(browser, "lesson_two_runs")


def test_a_link_shows_the_same_state(browser):
    with Server(WADI, scene_file(), "--threads", "1", "--paused") as server:
        begin(browser, server)
        play_to(browser, 3)
        tool(browser, "sand")
        browser.drag([(430, 330), (440, 332)])
        play_to(browser, 6)
        tool(browser, "look")
        choose(browser, "colour", "velocity")
        browser.drag([(300, 200), (330, 210)])
        time.sleep(0.3)
        click(browser, "copy-link")
        link = browser.until("wadi.lesson.link")
        wanted = (words(browser), browser.value(STATE + ".picture.steps"))
        camera = browser.value("wadi.stage.camera.position.toArray()")
        click(browser, "restart")
        browser.until(STATE + ".frame === 1")
        choose(browser, "colour", "")
        click(browser, "fit")
        browser.value(f"location.hash = {link.split('#')[1]!r}")
        browser.until(f"{STATE}.picture.steps === {wanted[1]} && !{STATE}.isPlaying", 60)
        time.sleep(0.3)
        assert words(browser) == wanted[0], "another state"
        assert browser.value("document.getElementById('colour').value") == "velocity"
        moved = browser.value("wadi.stage.camera.position.toArray()")
        assert max(abs(a - b) for a, b in zip(camera, moved)) < 1e-4, (camera, moved)
        assert browser.value("location.hash") == "", "the link stays in the address bar"
        shot(browser, "lesson_link")


def test_a_recording_shows_its_progress(browser):
    with Server(WADI, scene_file(), "--threads", "1", "--paused", cwd=FOLDER) as server:
        begin(browser, server)
        play_to(browser, 8)
        click(browser, "record")
        # As while a larger one goes on.
        browser.value("""wadi.receive({ type: "stats", pictures: 5, pace: 0, playing: false, frame: 8, frames: 8, kept: 1, recording: true, recorded: 3,
            to_record: 8 })""")
        bar = browser.value("(() => { const b = document.getElementById('record-bar'); return [b.hidden, b.value, b.max]; })()")
        assert bar == [False, 3, 8], bar
        shot(browser, "lesson_recording")
        note = browser.until("document.getElementById('note').textContent.includes('has the session') && document.getElementById('note').textContent", 60)
        assert "lesson.play.run" in note, note
        browser.until("document.getElementById('record-bar').hidden")


def main():
    if find_browser() is None or "unsupported" in os.popen(f"{WADI} view none.yaml --json 2>/dev/null").read():
        print("skipped: chromium is not installed, or wadi has no page (tools/setup.sh view installs both)")
        return 77
    browser, failed, passed = Browser(), 0, 0
    for name, test in list(globals().items()):
        if not name.startswith("test_") or (sys.argv[2:] and not any(w in name for w in sys.argv[2:])):
            continue
        try:
            test(browser)
            # The browser itself reports attempts to reach a server that has ended.
            errors = [e for e in browser.errors if "ERR_CONNECTION_REFUSED" not in e]
            assert not errors, errors
            passed += 1
        except Exception as problem:  # pylint: disable=broad-except
            print(f"FAILED {name}: {type(problem).__name__}: {problem}")
            shot(browser, "failed_" + name)
            failed += 1
        browser.errors.clear()
    browser.close()
    shutil.rmtree(FOLDER, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
