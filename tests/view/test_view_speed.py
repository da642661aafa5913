"""How live `wadi view` is: seconds to the first picture, pictures a second, milliseconds from a drag to its picture, bytes a second.

Prints a table; with WADI_BENCH (make bench) its limits are checked, without it the test is skipped. The rates are those of the
server with a plain client: a Chromium without a graphics card would draw on the same cores. `test_view_speed.py WADI NAME...`
measures only what is named."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from view_harness import Browser, Page, Picture, Server, find_browser  # noqa: E402

WADI = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ["WADI"])
GALLERY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scenes", "gallery")
IS_BENCH = "WADI_BENCH" in os.environ
FOLDER = tempfile.mkdtemp()
THREADS = ("--threads", "2")
SECONDS = 6  # of each rate
failures = []


def gallery(name):
    return os.path.join(GALLERY, name, name + ".yaml")


def figure(what, value, unit, limit, is_least=False):
    is_good = value >= limit if is_least else value <= limit
    print(f"| {what} | {value:.3g} {unit} | {'≥' if is_least else '≤'} {limit:g} |{'' if is_good else ' MISSED'}", flush=True)
    if not is_good:
        failures.append(what)


def rates(page, seconds):
    """Pictures, surfaces and bytes a second, and simulated seconds a second."""
    page.picture()
    start, pictures, surfaces, received, last = time.monotonic(), 0, 0, page.received, None
    first = None
    while time.monotonic() - start < seconds:
        got = page.message()
        if isinstance(got, Picture):
            pictures, last, first = pictures + 1, got, first or got
        elif not isinstance(got, dict) and got[0] == 2:
            surfaces += 1
    elapsed = time.monotonic() - start
    return (pictures / elapsed, surfaces / elapsed, (page.received - received) / elapsed, (last.time - first.time) / elapsed, last)


def measure_first_picture():
    def once(scene):
        start = time.monotonic()
        with Server(WADI, scene, *THREADS) as server:
            Page(server).picture()
            return time.monotonic() - start
    for name in ("inf585-collapse", "sand-column"):
        figure(f"first picture after the command, {name}", statistics.median(once(gallery(name)) for _ in range(3)), "s", 1)


def measure_collapse():
    with Server(WADI, gallery("inf585-collapse"), *THREADS) as server:
        page = Page(server)
        page.link.send("surface 1")
        pictures, surfaces, _, pace, last = rates(page, SECONDS)
        figure(f"block collapse, 32³ cells, {last.particles} particles, with its surface: pictures", pictures, "1/s", 15, True)
        figure("  its surfaces", surfaces, "1/s", 15, True)
        print(f"|   its pace | {pace:.2f} × real time | |")


def measure_column():
    with Server(WADI, gallery("sand-column"), "--set", "resolution=50", *THREADS) as server:
        page = Page(server)
        pictures, _, data, pace, last = rates(page, SECONDS)
        figure(f"sand column, {last.particles} particles: pictures", pictures, "1/s", 15, True)
        print(f"|   its pace | {pace:.2f} × real time, {data / 1e6:.1f} MB/s | |")


def measure_run():
    run = os.path.join(FOLDER, "water.run")
    subprocess.run([WADI, "run", gallery("water-column"), "--set", "resolution=84", "--frames", "24", "-o", run, "--quiet", *THREADS],
                   check=True)
    with Server(WADI, run) as server:
        page = Page(server)
        page.picture()
        pictures, _, data, _, last = rates(page, SECONDS)
        figure(f"finished run, {last.particles} moving particles, 24 frames a second: pictures", pictures, "1/s", 23, True)
        figure("  its stream", data / 1e6, "MB/s", 35)
        assert last.shown == last.particles


def measure_drag():
    with Server(WADI, gallery("sand-column"), "--set", "resolution=50", *THREADS) as server:
        page = Page(server)
        page.picture(lambda p: p.frame >= 2)
        times = []
        for i in range(20):
            before = page.picture().particles
            start = time.monotonic()
            page.link.send(f"pour view_water {0.5 + 0.01 * i} 0.3 {0.5 - 0.3 * (i % 2)} 0.03 0 0 -1 0")
            page.picture(lambda p, before=before: p.particles > before)
            times.append(time.monotonic() - start)
        figure(f"pour to picture, {before} particles, plain client", 1e3 * statistics.median(times), "ms", 100)


# Presses at a place; milliseconds until the page has sent it, until the picture with more particles is there, until the graphics card
# has drawn it. null: there is no room to pour.
DRAG = """new Promise((done) => { const c = document.getElementById("picture"), s = wadi.state, before = s.particles;
  const at = { clientX: AT_X, clientY: AT_Y, pointerId: 1, button: 0, buttons: 1, bubbles: true }, start = performance.now();
  const since = () => performance.now() - start;
  const end = (what) => { clearInterval(poll); c.dispatchEvent(new PointerEvent("pointerup", at)); done(what); };
  c.setPointerCapture = () => {};
  c.dispatchEvent(new PointerEvent("pointerdown", at));
  const sent = since();
  let arrived = 0, drawing = 0;
  const poll = setInterval(() => { if (!arrived && s.particles > before) arrived = since(); }, 1);
  const look = () => {
    if (!drawing && s.particles > before && s.acknowledged === s.picture.sequence) drawing = s.drawn;
    if (drawing && (s.drawn > drawing || !wadi.stage.isDrawing())) end([sent, arrived || since(), since()]);
    else if (since() > 5000) end(null);
    else requestAnimationFrame(look); };
  requestAnimationFrame(look); })"""


def drags(browser, *arguments):
    """Particles, and the three times of each drag, milliseconds."""
    times = []
    with Server(WADI, *arguments, "--threads", "1") as server:
        browser.open("about:blank")
        browser.open(server.address)
        browser.until("window.wadi && window.wadi.state.drawn > 0 && window.wadi.state.frame >= 2")
        particles = browser.value("wadi.state.particles")
        browser.value("document.querySelector('[data-tool=water]').click()")
        for i in range(12):
            times.append(browser.value(DRAG.replace("AT_X", str(430 + 15 * i)).replace("AT_Y", str(340 + 10 * (i % 3)))))
            time.sleep(0.2)
    return particles, [one for one in times if one is not None]


def measure_drag_in_a_browser():
    if find_browser() is None:
        print("| drag to picture in a browser | chromium is not installed | |")
        return
    browser = Browser()
    for resolution in (16, 50):
        particles, times = drags(browser, gallery("sand-column"), "--set", f"resolution={resolution}")
        sent, arrived, drawn = (statistics.median(column) for column in zip(*times))
        what = f"{particles} particles, Chromium that draws on the processor"
        print(f"| drag, {what}: sent after {sent:.0f} ms, its picture is there after {arrived:.0f} ms | | |")
        figure(f"drag to drawn picture, {what}", drawn, "ms", 100)
    browser.close()


def main():
    wanted = sys.argv[2:]
    probe = subprocess.run([WADI, "view", os.path.join(FOLDER, "none.yaml"), "--json"], capture_output=True, text=True, check=False)
    if not (IS_BENCH or wanted) or "unsupported" in probe.stdout:
        print("skipped: measures only with WADI_BENCH, and needs a wadi with its page")
        return 77
    print("| measured | figure | limit |\n|---|---|---|")
    for name, measure in list(globals().items()):
        if name.startswith("measure_") and (not wanted or any(w in name for w in wanted)):
            measure()
    shutil.rmtree(FOLDER, ignore_errors=True)
    print("missed: " + "; ".join(failures) if failures else "all limits are kept")
    return 1 if failures and IS_BENCH else 0


if __name__ == "__main__":
    sys.exit(main())
