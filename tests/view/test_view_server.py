"""The server of `wadi view` without a browser: what pages get, and what others do not get."""

import ctypes
import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from view_harness import Closed, Page, Server, WebSocket, is_closed, run_tests  # noqa: E402

WADI = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ["WADI"])
IS_BENCH = "WADI_BENCH" in os.environ
FOLDER = tempfile.mkdtemp()
SCENE = """\
wadi: 1
name: box
solver: flip
domain: {min: [0, 0, 0], max: [0.6, 0.3, 0.4]}
cell_size: 0.04
frames: 40
fps: 24
materials: {sand: {kind: sand}}
bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.2, 0.3, 0.2]}}}]
colliders: [{name: post, shape: {box: {min: [0.4, 0.1, 0], max: [0.45, 0.2, 0.2]}}}]
"""


def scene_file():
    path = os.path.join(FOLDER, "box.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(SCENE)
    return path


def server(*arguments):
    return Server(WADI, scene_file(), "--threads", "1", *arguments, cwd=FOLDER)


def request(port, path="/", method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    try:
        answer = connection.getresponse()
        return answer, answer.read()
    except (http.client.HTTPException, ConnectionError):  # closed without an answer
        return None, b""
    finally:
        connection.close()


def status(port, path="/", method="GET", **headers):
    answer = request(port, path, method, **headers)[0]
    return answer.status if answer else 0


def test_a_page_gets_the_scene_and_moving_particles():
    with server() as view:
        page = Page(view)
        first = page.picture()
        assert page.scene["facts"]["name"] == "box" and page.scene["mode"] == "live"
        assert first.is_reset and first.words == first.particles == first.shown
        assert len(page.meshes) == 1, "the collider"
        later = page.picture(lambda p: p.steps >= 5)
        assert later.time > first.time
        # A scene without water gets some to pour, which is not there before.
        assert [m["kind"] for m in page.scene["facts"]["materials"]] == ["sand", "water"]


def test_playing_changes_the_simulation_and_is_repeated_by_a_run():
    with server("--paused") as view:
        page = Page(view)
        start = page.picture().particles
        page.link.send("pour view_water 0.3 0.15 0.3 0.06 0 0 -1 0")
        poured = page.picture(lambda p: p.particles > start).particles
        page.link.send("set materials.sand.friction_angle=10")
        page.link.send("push 0.3 0.1 0.1 0.05")
        for _ in range(3):
            page.link.send("step")
        page.picture(lambda p: p.steps == 3)
        page.link.send("dig 0.1 0.1 0.1 0.09")
        page.picture(lambda p: p.particles < poured)
        page.link.send("play")
        page.picture(lambda p: p.frame >= 4)
        page.link.send("pause")
        page.link.send("record")
        page.until(lambda: page.problems or any(n["what"] == "recorded" for n in page.notes))
        assert not page.problems, page.problems
    run = os.path.join(FOLDER, "box.play.run")
    with open(os.path.join(run, "changes.yaml"), encoding="ascii") as file:
        changes = file.read()
    for part in ("step: 0, add:", "friction_angle=10", "collider: {name: view_ball", "step: 3, remove:"):
        assert part in changes, changes
    again = subprocess.run([WADI, "run", os.path.join(run, "scene.yaml"), "--changes", os.path.join(run, "changes.yaml"),
                            "-o", os.path.join(FOLDER, "again.run"), "--frames", "4", "--threads", "2", "--quiet"], check=False)
    assert again.returncode == 0
    infos = [subprocess.run([WADI, "info", f"{folder}/particles/box.0004.h5"], capture_output=True, text=True, check=True).stdout
             .split(":", 1)[1] for folder in (run, os.path.join(FOLDER, "again.run"))]
    assert infos[0] == infos[1]
    compare_frames(run)


def compare_frames(run):
    files = [os.path.join(f, "particles", "box.0004.h5") for f in (run, os.path.join(FOLDER, "again.run"))]
    with open(files[0], "rb") as one, open(files[1], "rb") as two:
        assert one.read() == two.read(), "the run is not the one that was played"
    with Server(WADI, run) as view:
        page = Page(view)
        assert page.picture().frame >= 1 and page.scene["mode"] == "run"
        page.link.send("seek 3")
        assert page.picture(lambda p: p.frame == 3).particles > 0


def test_grains_begin_to_cohere_while_they_move():
    with server("--solver", "dem") as view:
        page = Page(view)
        page.picture(lambda p: p.frame >= 2)
        page.link.send("set materials.sand.cohesion=5")  # the solver starts anew, with other columns
        page.picture(lambda p: p.frame >= 5)
        assert not page.problems, page.problems


def test_dry_sand_is_wetted_where_it_lies():
    with server("--set", "solver=sph", "--paused") as view:
        page = Page(view)
        page.picture()
        assert page.scene["plain"] == "velocity"
        page.link.send("wet sand 0.6")
        got = page.picture(lambda picture: picture.high == 1)
        assert page.scene["plain"] == "wetness" and page.scene["facts"]["materials"][0]["saturation"] == 0.6
        assert set(got.values) == {153}, set(got.values)  # 0.6 of 255, every particle
        page.link.send("wet sand 0")
        page.link.send("wet view_water 0.5")
        page.until(lambda: page.problems)
        assert "sand" in page.problems[0]["why"], page.problems


def test_a_past_frame_can_be_seen_again():
    with server() as view:
        page = Page(view)
        page.picture(lambda p: p.frame >= 5)
        page.link.send("seek 1")
        assert page.picture(lambda p: p.frame == 1).time == 0.0
        page.link.send("play")
        page.picture(lambda p: p.frame >= 5)


def test_only_the_page_is_served():
    with server() as view:
        answer, body = request(view.port)
        assert answer.status == 200 and b"<canvas" in body
        assert "default-src 'self'" in answer.getheader("content-security-policy")
        assert request(view.port, "/app.js")[0].status == 200
        for path in ("/../../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/index.html/../x", "/app.js%00", "/none", "/.git/config",
                     "/" + 1500 * "a"):
            assert status(view.port, path) in (0, 400, 403, 404, 414), path
        for host in ("evil.example", "127.0.0.1.evil.example", f"10.1.2.3:{view.port}", ""):
            assert status(view.port, Host=host) in (0, 400, 403), host
        for method in ("POST", "PUT", "DELETE"):
            assert status(view.port, "/", method) != 200, method
        Page(view).picture()


def test_wrong_origins_hosts_and_tokens_are_refused():
    with server() as view:
        for origin in (None, "null", "http://evil.example", f"http://127.0.0.1:{view.port + 1}", f"https://127.0.0.1:{view.port}"):
            link = WebSocket(view.port, origin=origin, timeout=10)
            assert link.status != 101, origin
        for host in ("evil.example", f"evil.example:{view.port}"):
            assert WebSocket(view.port, host=host, timeout=10).status != 101
        for word in ("", "x", "none", 32 * "a", view.token[:-1], view.token + "a", view.token.upper()):
            link = WebSocket(view.port, timeout=10)
            assert link.status == 101
            link.send("hello " + word)
            assert is_closed(link), word
        link = WebSocket(view.port, timeout=10)
        link.send("play")  # before a greeting
        assert is_closed(link)
        page = Page(view)
        page.picture()
        second = WebSocket(view.port, timeout=10)
        second.send("hello " + view.token)  # used up
        assert is_closed(second)
        page.picture()
        third = Page(view, page.key)  # the session comes back, and takes the place of the first
        third.picture()
        assert is_closed(page.link)


def test_bad_messages_end_the_connection_and_nothing_else():
    bad = ["nonsense", "pour", "pour sand 1 2", "seek x", "x" * 600, "set " + "y" * 5000, "play\nplay", "\x00", "push nan 0 0 1", "wet sand", "wet sand 0.5 1"]
    with server() as view:
        key = None
        for text in bad:
            page = Page(view, key)
            page.picture()
            key = page.key
            page.link.send(text)
            assert is_closed(page.link), text[:40]
        for data, opcode in ((b"play", 2), (os.urandom(100), 1), (b"x" * 200000, 1), (b"", 1), (b"x", 3), (b"y" * 126, 9)):
            page = Page(view, key)
            page.picture()
            try:
                page.link.send(data, opcode)
            except Closed:
                pass
            assert is_closed(page.link), (opcode, len(data))
        # What the page may not change is refused in words; the simulation goes on.
        page = Page(view, key)
        for text in ("set bodies[0].shape={mesh: {file: /etc/passwd}}", "set solver=sph", "set materials.sand.look.texture=/etc/passwd",
                     "set materials.sand.kind=water", "scene nothing", "pour gold 0 0 0 1 0 0 0 0", "set gravity=up"):
            page.link.send(text)
        page.until(lambda: len(page.problems) >= 7)
        page.picture()
        assert view.process.poll() is None


def test_a_flood_of_messages_is_bounded():
    with server() as view:
        page = Page(view)
        page.picture()
        before = view.memory()
        try:
            for _ in range(20000):
                page.link.send("set materials.sand.friction_angle=20")
        except Closed:
            pass
        again = Page(view, page.key)
        again.picture()
        assert view.memory() - before < 40 << 20


def test_a_hundred_connections_do_no_harm():
    with server() as view:
        page = Page(view)
        page.picture()
        before = view.memory()
        others = []
        for i in range(100):
            try:
                link = socket.create_connection(("127.0.0.1", view.port), timeout=5)
                if i % 2 == 0:
                    link.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")  # never ends
                others.append(link)
            except OSError:
                pass
        for _ in range(5):
            page.picture()
        assert view.memory() - before < 20 << 20
        for link in others:
            link.close()
        page.picture()


def test_a_page_that_stops_reading_costs_no_memory():
    with server() as view:
        page = Page(view)
        page.picture()
        page.until(lambda: page.stats is not None)
        before = view.memory()
        time.sleep(3)  # nothing is read
        assert view.memory() - before < 16 << 20
        other = Page(view, page.key)
        other.picture()


def test_acknowledgements_without_reading_cost_no_memory():
    with server("--set", "cell_size=0.01", "--paused") as view:  # 96,000 particles, half a megabyte a picture
        page = Page(view)
        first = page.picture()
        assert first.size > 400000, first.size
        before = view.memory()
        for i in range(150):
            page.link.send("colour " + ("id", "velocity")[i % 2])
            page.link.send(f"ack {first.sequence + 1 + i}")
            time.sleep(0.02)
        assert view.memory() - before < 16 << 20, view.memory() - before
        Page(view, page.key).picture()


def test_a_second_server_takes_the_next_port_and_a_taken_port_is_named():
    with server() as one, server() as two:
        assert one.port != two.port
        failed = subprocess.run([WADI, "view", scene_file(), "--port", str(one.port)], capture_output=True, text=True, check=False)
        assert failed.returncode == 1 and f"port {one.port} cannot be used" in failed.stderr, failed
    bad = subprocess.run([WADI, "view", os.path.join(FOLDER, "none.yaml")], capture_output=True, text=True, check=False)
    assert bad.returncode in (1, 2) and "none.yaml" in bad.stderr


def test_it_ends_at_once_when_asked():
    view = server()
    page = Page(view)
    page.picture()
    start = time.monotonic()
    view.process.send_signal(signal.SIGINT)
    view.process.wait(20)
    assert not IS_BENCH or time.monotonic() - start < 2
    view.stop()


def test_it_ends_whichever_thread_gets_the_signal():
    with server("--paused") as view:
        main = view.process.pid
        others = [int(name) for name in os.listdir(f"/proc/{main}/task") if int(name) != main]
        assert others and ctypes.CDLL(None).tgkill(main, others[0], signal.SIGTERM) == 0
        view.process.wait(10)


def test_the_first_picture_comes_within_a_second():
    start = time.monotonic()
    with server() as view:
        Page(view).picture()
        seconds = time.monotonic() - start
    assert not IS_BENCH or seconds < 1, seconds


if __name__ == "__main__":
    sys.exit(run_tests(WADI, FOLDER, globals()))
