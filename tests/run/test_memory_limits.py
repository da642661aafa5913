"""With too little memory every command ends with exit code 1 and a message about memory or threads, never with a signal."""
import math
import resource
import subprocess
import sys

import harness

SCENE = """
wadi: 1
name: s
solver: flip
resolution: 12
frames: 2
domain: {min: [0, 0, 0], max: [1, 0.6, 0.6]}
materials: {sand: {kind: sand}, water: {kind: water}}
bodies:
  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.3, 0.6, 0.2]}}}
  - {material: water, shape: {box: {min: [0.7, 0, 0], max: [1, 0.6, 0.2]}}}
colliders: [{shape: {mesh: {file: MESH}}}]
render: {width: 32, height: 18}
"""
SIGNS = ("out of memory", "thread", "Cannot allocate", "shared librar")


def limited(place, megabytes, *arguments):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return subprocess.run([place.wadi, *arguments], cwd=place.folder, capture_output=True, text=True, preexec_fn=limit)


def write_ball(path, steps):
    with open(path, "w") as file:
        for j in range(steps + 1):
            for i in range(2 * steps):
                a, b = math.pi * j / steps, math.pi * i / steps
                file.write(f"v {0.5 + 0.1 * math.sin(a) * math.cos(b)} {0.3 + 0.1 * math.sin(a) * math.sin(b)} "
                           f"{0.2 + 0.1 * math.cos(a)}\n")
        for j in range(steps):
            for i in range(2 * steps):
                k = (i + 1) % (2 * steps)
                file.write(f"f {2 * steps * j + i + 1} {2 * steps * (j + 1) + i + 1} {2 * steps * (j + 1) + k + 1} "
                           f"{2 * steps * j + k + 1}\n")


def little_memory_is_an_error_with_a_message(place):
    write_ball(place.path("ball.obj"), 24)
    place.write("s.yaml", SCENE.replace("MESH", place.path("ball.obj")))
    place.run("run", "s.yaml", "-o", "good.run", "--quiet", "--threads", "1")
    least = next(m for m in range(8, 4096, 8) if limited(place, m, "--version").returncode == 0)
    commands = {
        "run": (["s.yaml", "-o", "a.run", "--overwrite", "--quiet", "--threads", "2"], 5),
        "render": (["good.run", "--force", "--no-video", "--samples", "1", "--quiet", "--threads", "2"], 14),
        "surface": (["good.run", "--force", "--quiet", "--threads", "2"], 14),
    }
    for name, (arguments, step) in commands.items():
        failed = 0
        for megabytes in range(least, least + 210, step):
            done = limited(place, megabytes, name, *arguments)
            text = done.stdout + done.stderr
            assert done.returncode in (0, 1), f"{name} with {megabytes} MiB: exit {done.returncode}\n{text}"
            assert done.returncode == 0 or any(sign in text for sign in SIGNS), f"{name} with {megabytes} MiB:\n{text}"
            failed += done.returncode
        assert failed > 0, f"{name} never ran out of memory"


if __name__ == "__main__":
    # Sanitizers reserve terabytes of addresses.
    probe = subprocess.run([sys.argv[1], "--version"], capture_output=True,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)))
    if probe.returncode != 0:
        sys.exit(77)
    harness.main([little_memory_is_an_error_with_a_message])
