"""Functions shared by the tests of whole runs: run the command, read run.json, count passes."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback


class Workplace:
    """A temporary folder and the wadi command."""

    def __init__(self, wadi):
        self.wadi = os.path.abspath(wadi)
        self.folder = tempfile.mkdtemp(prefix="wadi-test-")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def run(self, *arguments, code=0, **options):
        done = subprocess.run([self.wadi, *arguments], cwd=self.folder, capture_output=True, text=True, **options)
        assert done.returncode == code, f"wadi {' '.join(arguments)}: exit {done.returncode}, expected {code}\n" \
                                        f"{done.stdout}{done.stderr}"
        return done

    def start(self, *arguments):
        return subprocess.Popen([self.wadi, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def summary(self, run):
        with open(os.path.join(self.path(run), "run.json")) as file:
            return json.load(file)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def main(tests):
    """Run the functions of `tests` on the wadi of argv[1]; the last line counts them."""
    passed = failed = 0
    for test in tests:
        place = Workplace(sys.argv[1])
        try:
            test(place)
            passed += 1
            print(f"ok      {test.__name__}", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED  {test.__name__}\n{traceback.format_exc()}", flush=True)
        finally:
            place.close()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
