"""The command on a processor of 2008, emulated by QEMU: it runs, or reports the missing instructions; it never ends by a signal."""
import os
import shutil
import subprocess

from cli_harness import ROOT, Skipped, contains, good, hash_in, is_equal, main

QEMU = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")


def on(processor, *arguments):
    if QEMU is None:
        raise Skipped("needs qemu-user")
    return subprocess.run([QEMU, "-cpu", processor, os.environ["WADI"], *arguments], capture_output=True, text=True)


def test_an_old_processor_gets_the_same_result_or_a_message():
    arguments = ["run", os.path.join(ROOT, "scenes", "demo", "demo.yaml"), "--frames", "2", "--set", "resolution=12",
                 "--threads", "1", "--quiet"]
    result = on("Nehalem", *arguments, "-o", "old.run")
    if result.returncode == 0:  # the portable build
        good(*arguments, "-o", "new.run")
        is_equal(hash_in("old.run"), hash_in("new.run"))
        return
    is_equal(result.returncode, 1, result)
    contains(result.stderr, "this one lacks ")
    contains(result.stderr, "AVX2")
    contains(result.stderr, "cmake --preset portable")
    is_equal(result.stdout, "")


if __name__ == "__main__":
    main(globals())
