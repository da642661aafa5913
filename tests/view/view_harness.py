"""What the tests of `wadi view` share: the server as a process, a plain WebSocket client, and a browser driven by its DevTools."""

import base64
import hashlib
import hmac
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

TIMEOUT = 60  # seconds; only what never ends is stopped by it


class Closed(Exception):
    """The other side closed the connection."""


class WebSocket:
    """A client that says exactly what it is told, also what no browser would."""

    def __init__(self, port, path="/", host=None, origin="same", protocol="wadi-view", timeout=TIMEOUT):
        host = host or f"127.0.0.1:{port}"
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.buffer = b""
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode(), "Sec-WebSocket-Version: 13"]
        if protocol:
            lines.append(f"Sec-WebSocket-Protocol: {protocol}")
        if origin:
            lines.append("Origin: " + (f"http://{host}" if origin == "same" else origin))
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        head = self.until(b"\r\n\r\n")
        self.status = int(head.split(b" ")[1]) if head else 0

    def until(self, mark):
        while mark not in self.buffer:
            if not self.fill():
                return b""
        head, self.buffer = self.buffer.split(mark, 1)
        return head

    def fill(self):
        try:
            piece = self.socket.recv(1 << 20)
        except ConnectionError:
            piece = b""
        self.buffer += piece
        return len(piece) > 0

    def take(self, count):
        piece = bytearray(count)
        have = min(count, len(self.buffer))
        piece[:have], self.buffer = self.buffer[:have], self.buffer[have:]
        view = memoryview(piece)
        while have < count:
            try:
                got = self.socket.recv_into(view[have:])
            except ConnectionError:
                got = 0
            if got == 0:
                raise Closed
            have += got
        return piece

    def send(self, data, opcode=1, is_final=True):
        data = data.encode() if isinstance(data, str) else data
        head = bytes([opcode | (0x80 if is_final else 0)])
        if len(data) < 126:
            head += bytes([0x80 | len(data)])
        elif len(data) < 65536:
            head += bytes([0x80 | 126]) + struct.pack(">H", len(data))
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", len(data))
        mask = os.urandom(4)
        masked = bytes(b ^ mask[i % 4] for i, b in enumerate(data)) if len(data) < 1 << 20 else data
        try:
            self.socket.sendall(head + mask + masked)
        except ConnectionError as problem:
            raise Closed from problem

    def receive(self, is_masked=False):
        """The next whole message: str or bytes."""
        whole, kind = bytearray(), 0
        while True:
            first, second = self.take(2)
            length = second & 127
            if length == 126:
                length = struct.unpack(">H", self.take(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self.take(8))[0]
            mask = self.take(4) if is_masked else b""
            payload = self.take(length)
            if is_masked:
                payload = bytes(b ^ mask[i % 4] for i, b in enumerate(payload))
            opcode = first & 15
            if opcode == 8:
                raise Closed
            if opcode in (9, 10):
                continue
            kind = opcode or kind
            whole += payload
            if first & 0x80:
                return whole.decode() if kind == 1 else bytes(whole)

    def close(self):
        self.socket.close()


class Picture:
    """A picture as the page gets it; `places` are kept over pictures by Page."""

    def __init__(self, data):
        head = struct.unpack("<12I", data[:48])
        self.kind = head[0] & 255
        self.is_reset = head[0] & 256 != 0
        self.sequence, self.records, self.words, self.chunks, self.frame, self.steps, self.particles, self.shown = head[1:9]
        self.low, self.high = struct.unpack("<2f", data[36:44])
        self.time, self.tile = struct.unpack("<2d", data[48:64])
        self.values = data[len(data) - self.words:]
        self.size = len(data)


def prove(key, side, question, nonce):
    return hmac.new(key.encode(), f"wadi {side} {question} {nonce}".encode(), "sha256").hexdigest()


def come_back(link, key):
    """Shows that one has the key of a page that was let in, after the server did."""
    question = os.urandom(16).hex()
    link.send("back " + question)
    got = json.loads(link.receive())
    assert got["type"] == "challenge" and got["proof"] == prove(key, "server", question, got["nonce"]), got
    link.send("proof " + prove(key, "page", question, got["nonce"]))


class Page:
    """A page without a browser: lets itself in and acknowledges pictures."""

    def __init__(self, server, key=None):
        self.link = WebSocket(server.port)
        assert self.link.status == 101, self.link.status
        self.scene, self.stats, self.key, self.problems, self.meshes = None, None, key, [], []
        self.notes, self.busy = [], []
        if key:
            come_back(self.link, key)
        else:
            self.link.send("hello " + server.token)
        self.received = 0

    def message(self):
        data = self.link.receive()
        self.received += len(data)
        if isinstance(data, str):
            text = json.loads(data)
            if text["type"] == "session":
                self.key = text.get("key", self.key)
            elif text["type"] == "scene":
                assert self.key, "the greeting is the first message"
                self.scene = text
            elif text["type"] == "stats":
                self.stats = text
            elif text["type"] == "problem":
                self.problems.append(text)
            elif text["type"] == "note":
                self.notes.append(text)
            elif text["type"] == "busy":
                self.busy.append(text)
            return text
        if data[0] == 1:
            picture = Picture(data)
            self.link.send(f"ack {picture.sequence}")
            return picture
        self.meshes.append(data)
        return data

    def picture(self, when=lambda picture: True):
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            got = self.message()
            if isinstance(got, Picture) and when(got):
                return got
        raise AssertionError("no such picture came")

    def until(self, condition):
        end = time.monotonic() + TIMEOUT
        while not condition():
            assert time.monotonic() < end, "it never came"
            self.message()


def free_port():
    """One that no server takes by itself, for those that follow each other on a port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


class Server:
    """`wadi view …` as a process; a context manager."""

    def __init__(self, wadi, *arguments, cwd=None):
        # Memory that is freed counts as free with a sanitizer too.
        environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}
        self.process = subprocess.Popen([wadi, "view", *arguments, "--json"], stdout=subprocess.PIPE, text=True, cwd=cwd,
                                        env=environment, stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.stderr.read())
        first = json.loads(line)
        self.port, self.address = first["port"], first["address"]
        self.token = self.address.split("#")[1]

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) * 1024

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(TIMEOUT)
        self.process.stdout.close()
        self.process.stderr.close()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def run_tests(wadi, folder, tests):
    """Runs the functions test_… of a module, those that sys.argv names where it does; the exit status."""
    probe = subprocess.run([wadi, "view", os.path.join(folder, "none.yaml"), "--json"], capture_output=True, text=True, check=False)
    if "unsupported" in probe.stdout:
        print("skipped: this wadi has no view or no page (tools/setup.sh view installs what it needs)")
        return 77
    wanted, failed, passed = sys.argv[2:], 0, 0
    for name, test in list(tests.items()):
        if not name.startswith("test_") or (wanted and not any(w in name for w in wanted)):
            continue
        try:
            test()
            passed += 1
        except Exception as problem:  # pylint: disable=broad-except
            print(f"FAILED {name}: {type(problem).__name__}: {problem}")
            failed += 1
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def is_closed(link):
    """Whether the other side closes the connection before the timeout, whatever it sends."""
    end = time.monotonic() + 20
    try:
        while time.monotonic() < end:
            link.receive()
        return False
    except Closed:
        return True
    except socket.timeout:
        return False


class DesktopServer(Server):
    """The same on a desktop whose xdg-open notes what it is given, in `home`, and stays while the file is there."""

    def __init__(self, wadi, *arguments, home):  # pylint: disable=super-init-not-called
        program = os.path.join(home, "bin", "xdg-open")
        if not os.path.exists(program):
            os.mkdir(os.path.dirname(program))
            with open(program, "w", encoding="ascii") as file:
                file.write('#!/bin/sh\n{ printf "%s\\n" "$@"; env; } >"$HOME/said.part"; mv "$HOME/said.part" "$HOME/said"\n'
                           'while [ -e "$1" ]; do sleep 0.1; done\n')
            os.chmod(program, 0o755)
        environment = {**os.environ, "HOME": home, "DISPLAY": ":9", "PATH": os.path.dirname(program) + ":" + os.environ["PATH"]}
        environment.pop("SSH_CONNECTION", None)
        self.process = subprocess.Popen([wadi, "view", *arguments], stdout=subprocess.PIPE, text=True, env=environment, cwd=home,
                                        stderr=subprocess.PIPE)
        self.address = self.process.stdout.readline().split()[1]
        self.port, self.token = int(self.address.split(":")[2].split("/")[0]), self.address.split("#")[1]
        said, end = os.path.join(home, "said"), time.monotonic() + TIMEOUT
        while not os.path.exists(said):
            assert time.monotonic() < end, "no browser was opened"
            time.sleep(0.01)
        with open(said, encoding="utf-8") as file:
            self.said = file.read()
        os.remove(said)
        self.path = self.said.splitlines()[0]


class Impostor:
    """Another program on the port of a server that ended: takes connections of its pages and notes what they say."""

    def __init__(self, port):
        self.heard = []
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", port))
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        try:
            while True:
                link = WebSocket.__new__(WebSocket)
                link.socket, link.buffer = self.listener.accept()[0], b""
                self.talk(link)
        except OSError:  # closed
            pass

    def talk(self, link):
        key = re.search(rb"(?i)sec-websocket-key: (\S+)", link.until(b"\r\n\r\n")).group(1)
        accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()
        link.socket.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: wadi-view\r\n\r\n").encode())
        try:
            while True:
                self.heard.append(link.receive(is_masked=True))
                answer = json.dumps({"type": "challenge", "nonce": 32 * "a", "proof": 64 * "0"}).encode()
                link.socket.sendall(bytes((0x81, 126)) + struct.pack(">H", len(answer)) + answer)
        except Closed:
            link.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def find_browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    """A headless Chromium with one page. Errors of its console are collected."""

    def __init__(self, width=1000, height=640):
        self.folder = tempfile.mkdtemp()
        self.process = subprocess.Popen(
            [find_browser(), "--headless=new", "--no-sandbox", "--remote-debugging-port=0", f"--user-data-dir={self.folder}",
             "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--mute-audio",
             f"--window-size={width},{height}", "--no-first-run", "--disable-background-networking", "about:blank"],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        port = 0
        for line in self.process.stderr:
            found = re.search(r"ws://127\.0\.0\.1:(\d+)/", line)
            if found:
                port = int(found.group(1))
                break
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=TIMEOUT) as answer:
            target = next(t for t in json.load(answer) if t["type"] == "page")
        path = "/" + target["webSocketDebuggerUrl"].split("/", 3)[3]
        self.link = WebSocket(port, path, origin=None, protocol=None)
        self.number = 0
        self.errors = []
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def note(self, event):
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(parameters["exceptionDetails"])[:600])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.errors.append(json.dumps(parameters["args"])[:600])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.errors.append(parameters["entry"]["text"] + " " + parameters["entry"].get("url", ""))

    def call(self, method, **parameters):
        self.number += 1
        self.link.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.link.receive())
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.note(answer)

    def open(self, address):
        self.call("Page.navigate", url=address)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def until(self, expression, seconds=TIMEOUT):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.value(expression)
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"never true: {expression}; state {self.value('JSON.stringify(window.wadi?.state?.frame)')}")

    def screenshot(self, path=None):
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path:
            with open(path, "wb") as file:
                file.write(data)
        return data

    def drag(self, points, before_release=None, pause=0.06):
        for i, (x, y) in enumerate(points):
            kind = "mousePressed" if i == 0 else "mouseMoved"
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
            time.sleep(pause)
        if before_release:
            before_release()
        x, y = points[-1]
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)

    def close(self):
        self.link.close()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)
