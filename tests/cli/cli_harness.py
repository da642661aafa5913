"""Functions shared by the tests of the wadi command: python3 test_NAME.py PATH/TO/wadi [NAME...]

Without a path the command is that of $WADI. With NAMEs only the tests whose name contains one of them run."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WADI = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("WADI", "wadi"))
SCENE = """\
wadi: 1
solver: points
domain: {min: [0, 0, 0], max: [1, 1, 1]}
resolution: 16
frames: 5
materials: {sand: {kind: sand}}
bodies: [{material: sand, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}}}]
"""
COMMANDS = ["run", "check", "surface", "secondary", "render", "view", "export", "farm", "wedge", "info", "schema", "gallery", "bench", "help"]
PLANNED = []
TIMEOUT = 120


class Skipped(Exception):
    """Raised by a test that needs a program or right which this machine does not have."""


class Result:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout or ""
        self.err = process.stderr or ""

    def __repr__(self):
        return f"exit {self.code}\nstdout: {self.out}\nstderr: {self.err}"


def is_equal(found, expected, about=""):
    assert found == expected, f"expected {expected!r}, found {found!r}\n{about}"


def contains(text, part):
    assert part in text, f"expected {part!r} in {text!r}"


def is_quick(seconds, limit):
    """Limits times in `make bench` only, where no other program slows the machine; TIMEOUT ends tests that hang."""
    assert "WADI_BENCH" not in os.environ or seconds < limit, f"{seconds:.1f} s, {limit} were allowed"


def clean_environment(**changes):
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    environment.update(changes)
    return environment


def restore_signals():
    # Children inherit ignored signals, and a test runner in the background or under nohup ignores these.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def wadi(*arguments, environment=None, **options):
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    options.setdefault("timeout", TIMEOUT)
    return Result(subprocess.run([WADI, *arguments], text=True, stdin=subprocess.DEVNULL,
                                 env=clean_environment(**(environment or {})), check=False, **options))


def start(*arguments):
    return subprocess.Popen([WADI, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=clean_environment(), preexec_fn=restore_signals)


def finish(process):
    out, err = process.communicate(timeout=TIMEOUT)
    return process.returncode, out, err


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def good(*arguments, **options):
    result = wadi(*arguments, **options)
    is_equal(result.code, 0, result)
    return result


def events_of(text):
    return [json.loads(line) for line in text.splitlines()]


def last_event(*arguments):
    return events_of(good("run", *arguments, "--json").out)[-1]


def frame_files(folder):
    names = os.listdir(os.path.join(folder, "particles"))
    return sorted(name for name in names if name.endswith(".h5"))


def shown(folder):
    """Names in the folder that do not begin with a dot."""
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


def hash_in(folder):
    return json.loads(read(os.path.join(folder, "run.json")))["state_hash"]


def is_usage_error(*arguments):
    """Exit code 2, nothing on standard output; returns standard error."""
    result = wadi(*arguments)
    is_equal(result.code, 2, result)
    is_equal(result.out, "", result)
    assert "wadi" in result.err and "--help" in result.err, result
    return result.err


def needs(program):
    if shutil.which(program) is None:
        raise Skipped(f"{program} is not installed")


def main(names):
    """Run the functions test_… of a module's names, each in its own folder; the last line counts them.
    The exit status is 77, skipped, when all of them were."""
    wanted = sys.argv[2:]
    tests = [(name, function) for name, function in names.items()
             if name.startswith("test_") and (not wanted or any(part in name for part in wanted))]
    passed = failed = skipped = 0
    for name, function in tests:
        with tempfile.TemporaryDirectory(prefix="wadi-cli-") as folder:
            os.chdir(folder)
            try:
                function()
                passed += 1
            except Skipped as reason:
                skipped += 1
                print(f"skipped {name}: {reason}")
            except Exception as error:  # pylint: disable=broad-except
                failed += 1
                print(f"FAILED {name}: {type(error).__name__}: {error}", flush=True)
            finally:
                os.chdir("/")
    print(f"{passed} passed, {failed} failed")
    if passed == 0 and failed == 0 and skipped > 0:
        sys.exit(77)
    sys.exit(1 if failed > 0 or passed == 0 else 0)
