"""Who gets to the server of `wadi view`: keys, connections that nobody uses, other versions of HTTP."""

import json
import os
import signal
import socket
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from view_harness import Closed, DesktopServer, Page, Server, WebSocket, free_port, is_closed, prove, run_tests  # noqa: E402

WADI = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ["WADI"])
FOLDER = tempfile.mkdtemp()
SCENE = """\
wadi: 1
name: box
solver: points
domain: {min: [0, 0, 0], max: [0.6, 0.3, 0.4]}
cell_size: 0.04
frames: 40
materials: {sand: {kind: sand}}
bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.2, 0.3, 0.2]}}}]
"""


def scene_file():
    path = os.path.join(FOLDER, "box.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(SCENE)
    return path


def server(*arguments, **options):
    return Server(WADI, scene_file(), "--threads", "1", *arguments, cwd=FOLDER, **options)


def open_files(view):
    return len(os.listdir(f"/proc/{view.process.pid}/fd"))


def raw(view, data=b""):
    link = socket.create_connection(("127.0.0.1", view.port), timeout=20)
    link.sendall(data)
    return link


def answer(link):
    """All bytes until the server closes the connection."""
    got = b""
    try:
        while piece := link.recv(65536):
            got += piece
    except ConnectionError:
        pass
    return got


def head_of(port, *lines):
    return "\r\n".join(("GET / HTTP/1.1", f"Host: 127.0.0.1:{port}", *lines, "", "")).encode()


def test_connections_that_nobody_uses_keep_nobody_out():
    with server() as view:
        before = open_files(view)
        half = head_of(view.port)[:-2]
        others = [raw(view, half if i % 2 else b"") for i in range(60)]
        others += [WebSocket(view.port) for _ in range(30)]  # and never greet
        others += [raw(view, head_of(view.port)) for _ in range(30)]  # the page, over and over
        page = Page(view)
        page.picture()
        held = [raw(view) for _ in range(100)]
        time.sleep(0.2)
        assert open_files(view) - before <= 50, open_files(view) - before
        again = Page(view, page.key)  # loaded again while all of them are there
        again.picture()
        assert b"<canvas" in answer(raw(view, head_of(view.port, "Connection: close")))
        del others, held
        for _ in range(5):
            again.picture()


def test_idle_connections_are_closed_within_seconds_and_slow_ones_are_not():
    with server() as view:
        idle = [raw(view), raw(view, b"GET / HT"), raw(view, head_of(view.port))]
        sockets = [WebSocket(view.port, timeout=20) for _ in range(2)]
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", view.port))
        slow.sendall(head_of(view.port, "Connection: close").replace(b"GET /", b"GET /app.js"))
        got, begin = b"", time.monotonic()
        while time.monotonic() - begin < 6:  # longer than a connection may be idle
            got += slow.recv(2048)
            time.sleep(0.02)
            if time.monotonic() - begin < 4:
                sockets[1].send(b"still here", opcode=9)
        for link in idle:
            answer(link)
        assert all(is_closed(link) for link in sockets)
        assert time.monotonic() - begin < 9, time.monotonic() - begin
        head, body = (got + answer(slow)).split(b"\r\n\r\n", 1)
        size = int(head.lower().split(b"content-length:")[1].split()[0])
        assert len(body) == size, (len(body), size)


def refuses(view, *lines):
    """Whether a connection that says these lines is closed; a function makes its line of the nonce of the challenge."""
    link, nonce = WebSocket(view.port, timeout=10), ""
    try:
        for line in lines:
            if callable(line):
                got = json.loads(link.receive())
                assert set(got) == {"type", "nonce", "proof"}, got
                nonce = got["nonce"]
            link.send(line(nonce) if callable(line) else line)
    except Closed:
        return True
    return is_closed(link)


def test_the_key_ends_with_the_server():
    state = tempfile.mkdtemp(dir=FOLDER)
    os.environ["XDG_STATE_HOME"] = state
    port = free_port()
    with server("--port", port) as view:
        page = Page(view)
        page.picture()
        Page(view, page.key).picture()  # loaded again
    with server("--port", port) as other:
        assert refuses(other, "hello " + page.key)
        assert refuses(other, "back abcdef", lambda nonce: "proof " + prove(page.key, "page", "abcdef", nonce))
        link = WebSocket(other.port, timeout=10)
        link.send("back abcdef")
        got = json.loads(link.receive())
        assert got["proof"] != prove(page.key, "server", "abcdef", got["nonce"]), "an old tab would take it for its server"
        second = Page(other)
        second.picture()
        assert second.key != page.key
    del os.environ["XDG_STATE_HOME"]
    assert not os.listdir(state), "a secret is kept on the disk"


def test_a_page_that_comes_back_proves_that_it_has_the_key():
    with server() as view:
        page = Page(view)
        page.picture()
        key, heard = page.key, []
        assert refuses(view, "hello " + key), "the key itself is never a greeting"
        assert refuses(view, "proof " + prove(key, "page", "", ""))
        assert refuses(view, "back q", lambda nonce: "proof " + prove(key, "server", "q", nonce))
        assert refuses(view, "back q", lambda nonce: "proof " + prove(key, "page", "q", "x" * 32))
        assert refuses(view, "back q", lambda nonce: heard.append(prove(key, "page", "q", nonce)) or "play")
        assert refuses(view, "back q", lambda nonce: "proof " + heard[0]), "a proof of another connection"
        assert refuses(view, "back q", "back q")
        assert refuses(view, "back " + 70 * "q")
        assert refuses(view, "back a b")
        page.picture()  # none of them took its place
        Page(view, key).picture()


def desktop(home):
    return DesktopServer(WADI, scene_file(), "--threads", "1", home=home)


def left(home):
    return [name for name in os.listdir(home) if name != "bin"]


def shown_to_all():
    """Arguments of all processes, and environments of those that may be read."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        for kind in ("cmdline", "environ"):
            try:
                with open(f"/proc/{process}/{kind}", encoding="utf-8", errors="replace") as file:
                    yield file.read()
            except OSError:
                pass


def test_the_token_is_shown_to_its_user_alone():
    home = tempfile.mkdtemp(dir=FOLDER)
    with desktop(home) as view:
        assert os.stat(view.path).st_mode & 0o777 == 0o600 and os.stat(os.path.dirname(view.path)).st_mode & 0o777 == 0o700
        assert "/." not in view.path[len(home):], "browsers in a sandbox do not read hidden folders"
        with open(view.path, encoding="ascii") as file:
            assert f"url={view.address}" in file.read()
        assert view.token not in view.said
        assert not any(view.token in text for text in shown_to_all())
        page = Page(view)
        page.picture()
        assert not os.path.exists(view.path), "its token is used"
        assert view.process.stdout.readline().startswith("from another machine: ssh -L")
        assert view.process.stdout.readline().startswith("for another window: http://127.0.0.1:")
        assert left(home) == [], left(home)


def test_no_secret_stays_behind():
    home = tempfile.mkdtemp(dir=FOLDER)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with desktop(home) as view:
            assert os.path.exists(view.path)
            view.process.send_signal(number)
            view.process.wait(20)
            assert left(home) == [], (number, left(home))
    with desktop(home) as view:
        view.process.kill()
        view.process.wait(20)
        assert os.path.exists(view.path)
        mine = os.path.join(home, "wadi-view-notes")
        os.mkdir(mine)
        with desktop(home) as other:  # the next one removes it, and not what is in use or another's
            assert not os.path.exists(view.path) and os.path.exists(other.path)
            with desktop(home) as third:
                assert os.path.exists(other.path) and os.path.exists(third.path)
        assert left(home) == ["wadi-view-notes"], left(home)


def test_there_is_no_http_2():
    upgrade = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA")
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
    with server() as view:
        page = Page(view)
        page.picture()
        before = open_files(view)
        for data in (head_of(view.port, *upgrade), head_of(view.port, *upgrade) + preface, preface,
                     head_of(view.port, "Connection: Upgrade", "Upgrade: H2C, websocket"), head_of(view.port, "Connection: Upgrade", "Upgrade: other")):
            got = answer(raw(view, data))
            assert b" 101 " not in got and b"<canvas" not in got, got
        held = [raw(view, head_of(view.port, *upgrade) + preface) for _ in range(100)]
        time.sleep(0.2)
        assert open_files(view) - before <= 50, open_files(view) - before
        page.picture()
        del held


if __name__ == "__main__":
    sys.exit(run_tests(WADI, FOLDER, globals()))
