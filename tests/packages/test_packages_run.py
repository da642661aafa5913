"""The packages of tools/package.py, each unpacked into a fresh folder, where it simulates a scene: the same hash as the command of
this build. With WADI_LONG=1 and Debian's tools; the page for npm when emscripten is there. Else skipped."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "build/packages"
SCENE = """\
wadi: 1
name: small
solver: flip
domain: {min: [0, 0, 0], max: [1, 1, 1]}
resolution: 12
frames: 3
materials: {water: {kind: water}}
bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.5, 1, 0.5]}}}]
"""


def expect(ok, what):
    if not ok:
        sys.exit(f"FAILED: {what}")


def output(*words, **options):
    result = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, **options)
    expect(result.returncode == 0, f"{words}: {result.stdout}{result.stderr}")
    return result.stdout


def simulate(program, folder, **options):
    """The hash of the run's state, by a program in `folder`, with nothing of this machine's environment."""
    (folder / "small.yaml").write_text(SCENE)
    words = [*program, "run", "small.yaml", "--overwrite", "--quiet", "--threads", "1"]
    output(*words, cwd=folder, env={"PATH": "/nonexistent", "HOME": str(folder)}, **options)
    return json.loads((folder / "small.run/run.json").read_text())["state_hash"]


def make(kind):
    output("/usr/bin/python3", ROOT / "tools/package.py", kind)
    (path,) = [path for path in PACKAGES.iterdir() if re.search({"deb": r"\.deb$", "tar": r"linux.*\.tar\.gz$",
                                                                  "image": r"\.oci\.tar$", "npm": r"\.tgz$"}[kind], path.name)]
    return path


def try_deb(fresh, expected):
    path = make("deb")
    fields = output("dpkg-deb", "--field", path)
    for needed in ("Package: wadi", "Section: graphics", "libc6", "libfyaml0", "libhdf5", "libembree", "Recommends: ffmpeg"):
        expect(needed in fields, f"{needed} in {fields}")
    output("dpkg-deb", "-x", path, fresh / "root")
    expect(simulate([fresh / "root/usr/bin/wadi"], fresh) == expected, "the deb's command simulates the same")
    for name in ("usr/share/man/man1/wadi.1.gz", "usr/share/wadi/gallery", "usr/include/wadi/sim.h"):
        expect((fresh / "root" / name).exists() or (fresh / "root" / name.removesuffix(".gz")).exists(), name)


def try_tar(fresh, expected):
    path = make("tar")
    with tarfile.open(path) as archive:
        archive.extractall(fresh)
        expect(all(m.uid == 0 and m.mtime == 0 for m in archive.getmembers()), "an archive without owner and time")
    (folder,) = [entry for entry in fresh.iterdir() if entry.is_dir()]
    moved = folder.rename(fresh / "else where")
    program = moved / "bin/wadi"
    expect(simulate([program], fresh) == expected, "the folder's command simulates the same")
    loaded = subprocess.run([program, "--version"], env={"LD_DEBUG": "libs"}, capture_output=True, text=True, check=False).stderr
    own = re.compile(r"(ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libgcc_s|libstdc\+\+)\.so.*")
    for library in re.findall(r"calling init: (\S.*)", loaded):
        expect(library.startswith(str(moved)) or own.fullmatch(os.path.basename(library)), f"{library} is of this machine")
    expect(any((moved / "share/doc/wadi/licenses").iterdir()), "licences of the libraries")


def try_image(fresh, expected):
    path = make("image")
    with tarfile.open(path) as archive:
        archive.extractall(fresh / "oci")
    for blob in (fresh / "oci/blobs/sha256").iterdir():
        expect(hashlib.sha256(blob.read_bytes()).hexdigest() == blob.name, f"blob {blob.name}")

    def blob_of(part):
        return fresh / "oci/blobs/sha256" / part["digest"].split(":")[1]

    manifest = json.loads(blob_of(json.loads((fresh / "oci/index.json").read_text())["manifests"][0]).read_text())
    config = json.loads(blob_of(manifest["config"]).read_text())
    with tarfile.open(blob_of(manifest["layers"][0])) as layer:
        layer.extractall(fresh / "root")
    if shutil.which("skopeo"):
        output("skopeo", "inspect", f"oci-archive:{path}")
    if os.geteuid() != 0:
        print("not root: the image was not run")
        return
    # As a container's runtime would: programs find their libraries by /proc.
    enter = [shutil.which("unshare"), "--mount", "--pid", "--fork", f"--mount-proc={fresh}/root/proc", shutil.which("chroot"),
             str(fresh / "root"), *config["config"]["Entrypoint"]]
    os.mknod(fresh / "root/dev/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    work = fresh / "root/data"
    (work / "small.yaml").write_text(SCENE)
    output(*enter, "run", "/data/small.yaml", "-o", "/data/small.run", "--quiet", "--threads", "1", env={})
    expect(json.loads((work / "small.run/run.json").read_text())["state_hash"] == expected, "the image simulates the same")
    output(*enter, "render", "/data/small.run", "--quality", "draft", "--size", "64x36", "--quiet", env={"PATH": "/opt/wadi/bin"})
    expect((work / "small.run/small.mp4").exists(), "the image makes a video")


def try_npm(fresh, _expected):
    if not shutil.which("emcc") or not shutil.which("npm"):
        print("no emscripten: no page for npm")
        return
    path = make("npm")
    (fresh / "package.json").write_text('{"private": true}')
    output("npm", "install", "--no-audit", "--no-fund", path, cwd=fresh)
    folder = fresh / "node_modules/wadi-page"
    for name in ("index.html", "app.js", "wadi.wasm", "wadi-threads.wasm"):
        expect((folder / name).stat().st_size > 0, name)
    text = ("const p = process.argv[1], wasmBinary = require('fs').readFileSync(p.replace('.js', '.wasm'));"
            "require(p)({ wasmBinary }).then(m => console.log(typeof m.ccall))")
    expect(output("node", "-e", text, folder / "wadi.js", cwd=folder).strip() == "function", "the solver loads in node")


def main():
    if not os.environ.get("WADI_LONG"):
        print("skipped: WADI_LONG is not set")
        return 77
    for program in ("dpkg-shlibdeps", "patchelf", "cpack"):
        if not shutil.which(program):
            print(f"skipped: {program} is not installed (tools/setup.sh package)")
            return 77
    with tempfile.TemporaryDirectory(prefix="wadi-packages-") as folder:
        expected = simulate([os.path.abspath(sys.argv[1])], pathlib.Path(folder))
        for trial in (try_deb, try_tar, try_image, try_npm):
            fresh = pathlib.Path(folder) / trial.__name__
            fresh.mkdir()
            trial(fresh, expected)
            print(trial.__name__, "good")
    return 0


if __name__ == "__main__":
    sys.exit(main())
