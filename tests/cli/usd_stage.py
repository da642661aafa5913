"""A stage of USD as OpenUSD composes it, in a browser: the one build of OpenUSD that npm has runs nowhere else."""
import contextlib
import functools
import http.server
import json
import os
import shutil
import subprocess
import threading
import urllib.parse

WAIT = 120.0  # s, for the browser and the stage
# Threads of a page share memory only behind these.
HEADERS = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}


class Handler(http.server.SimpleHTTPRequestHandler):
    def end_headers(self):
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *_):
        pass

    def do_POST(self):
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.server.said.append(said)
        if "end" in said:
            self.server.has_ended.set()


@contextlib.contextmanager
def server(folder):
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    made.said, made.has_ended = [], threading.Event()
    threading.Thread(target=made.serve_forever, daemon=True).start()
    try:
        yield made
    finally:
        made.shutdown()
        made.server_close()


def show(page, modules, folder, stage, **asked):
    """What a page says of a stage, in ./served, which goes again. `modules` is the folder of the npm packages."""
    shutil.copytree(os.path.join(modules, "three-usdz-loader/external"), "served")
    shutil.copytree(os.path.join(modules, "three"), "served/three")
    shutil.copy(page, "served")
    shutil.copytree(folder, "served/stage")
    asked.update(stage=stage, files=[name for name in sorted(os.listdir(folder)) if ".usd" in name])
    with server("served") as made:
        address = f"http://127.0.0.1:{made.server_port}/{os.path.basename(page)}#{urllib.parse.quote(json.dumps(asked))}"
        browser = subprocess.Popen(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader",
                                    "--user-data-dir=browser", address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            assert made.has_ended.wait(WAIT), "the browser said nothing"
        finally:
            browser.terminate()
            browser.wait()
        said = list(made.said)
    shutil.rmtree("served")
    assert said[-1]["end"] == "", said[-1]["end"]
    return said[:-1]


def look(modules, folder, stage, times):
    """What is seen at each time: {time: {prim: facts}}, and all that OpenUSD said."""
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "usd/stage.html")
    said = show(page, modules, folder, stage, times=times)
    return {told["time"]: told["seen"] for told in said}, [text for told in said for text in told["said"]]
