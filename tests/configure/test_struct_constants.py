"""The configure check for compilers that pass wrong constants of structs: which flags it takes, and that it stops.

A project of a few lines includes cmake/StructConstants.cmake. First with gcc and the flags of several processors, then with
a stand-in for a compiler that is wrong or builds for another processor as its own flags say.
"""
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("WADI_SOURCE_DIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NARROW = "-mmove-max=128 -mstore-max=128"

PROJECT = """cmake_minimum_required(VERSION 3.23)
project(check C)
include({source}/cmake/StructConstants.cmake)
wadi_struct_constant_flags(flags -ffp-contract=off)
list(JOIN flags " " flags)
message(STATUS "FLAGS=[${{flags}}]")
"""

# Constants that differ from those of the check itself.
PROGRAM = """typedef struct { double x, y, z; } Vec3;
typedef struct { Vec3 a, b; } Pair;
typedef struct { float m[8]; } Eight;
__attribute__((noinline)) static int pair_differs(Pair p) {
    __asm__ volatile("");
    return p.a.x != 2 || p.a.y != 2 || p.a.z != 2 || p.b.x != 0 || p.b.y != 0 || p.b.z != 0;
}
__attribute__((noinline)) static int eight_differs(Eight e) {
    __asm__ volatile("");
    return e.m[0] != 3 || e.m[3] != 3 || e.m[4] != 0 || e.m[7] != 0;
}
static int (*volatile pair)(Pair) = pair_differs;
static int (*volatile eight)(Eight) = eight_differs;
__attribute__((noinline)) static int first(void) { return pair((Pair){ { 2, 2, 2 }, { 0, 0, 0 } }); }
__attribute__((noinline)) static int second(void) { return eight((Eight){ { 3, 3, 3, 3, 0, 0, 0, 0 } }); }
int main(void) { return first() || second(); }
"""

# A compiler whose program fails, or dies, unless a given flag is there: -DFAKE_UNLESS=FLAG,STATUS.
FAKE = """#!/bin/sh
for word; do case $word in *struct_constants.c) check=$word ;; -DFAKE_UNLESS=*) unless=${word#-DFAKE_UNLESS=} ;; esac; done
if [ -n "$check" ] && [ -n "$unless" ]; then
    case " $* " in *" ${unless%%,*} "*) end='return 0' ;; *) end=${unless#*,} ;; esac
    printf '#include <signal.h>\\nint main(void) { %s; }\\n' "$end" >"$0.c"
    for word; do shift; [ "$word" != "$check" ] || word=$0.c; set -- "$@" "$word"; done
fi
exec gcc "$@"
"""

# Tried with gcc; long tests try all pairs of the lists below.
PROCESSORS = ["native", "skylake-avx512", "icelake-server", "x86-64"]
PAIRS = [("icelake-server", "haswell"), ("x86-64-v3", "icelake-server")]
LONG_MARCH = ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "haswell", "broadwell", "skylake", "skylake-avx512",
              "cascadelake", "icelake-server", "tigerlake", "sapphirerapids", "znver1", "znver2", "znver3"]
LONG_TUNE = ["generic", "haswell", "skylake-avx512", "icelake-server", "sapphirerapids", "znver3"]


def configure(folder, flags, *more):
    result = subprocess.run(["cmake", "-S", folder, "-B", os.path.join(folder, "build"), "-DCMAKE_BUILD_TYPE=Release",
                             "-DCMAKE_C_FLAGS=" + flags, *more], capture_output=True, text=True)
    chosen = [line for line in result.stdout.splitlines() if "FLAGS=[" in line]
    return result, chosen[0].split("[")[1].rstrip("]") if chosen else None


def expect(ok, what):
    if not ok:
        sys.exit(f"FAILED: {what}")


def try_processor(folder, march, tune):
    flags = f"-march={march}" + (f" -mtune={tune}" if tune else "")
    result, chosen = configure(folder, flags)
    expect(chosen is not None, f"{flags}: {result.stdout}{result.stderr}")
    program = os.path.join(folder, "program")
    with open(program + ".c", "w", encoding="ascii") as file:
        file.write(PROGRAM)
    subprocess.run(["gcc", "-O3", *flags.split(), *chosen.split(), program + ".c", "-o", program], check=True)
    status = subprocess.run([program]).returncode
    expect(status <= 0, f"{flags} {chosen}: wrong constants")  # below 0: the processor lacks the instructions
    if status < 0:
        expect(chosen == NARROW, f"{flags}: '{chosen}', but nothing could be tested")


def try_fake(folder):
    fake = os.path.join(folder, "fake-gcc")
    with open(fake, "w", encoding="ascii") as file:
        file.write(FAKE)
    os.chmod(fake, 0o755)
    compiler = "-DCMAKE_C_COMPILER=" + fake
    # First a correct compiler, then one for each remedy; in the same build folder, since changed flags must be tested again.
    for unless, expected in (("", ""),
                             ("-mstore-max=128,return(1)", NARROW),
                             ("-mno-avx512f,return(1)", "-mno-avx512f " + NARROW),
                             ("-mtune=generic,return(1)", "-mtune=generic -mno-avx512f " + NARROW),
                             ("-never,raise(SIGILL)", NARROW)):
        flags = f"'-DFAKE_UNLESS={unless}' -Wall" if unless else ""
        result, chosen = configure(folder, flags, compiler)
        expect(chosen == expected, f"{unless}: '{chosen}' instead of '{expected}'\n{result.stdout}{result.stderr}")
    result, chosen = configure(folder, "'-DFAKE_UNLESS=-never,return(1)' -Wall", compiler)
    expect(result.returncode != 0 and chosen is None, "a compiler that is always wrong was taken")
    broken, _ = configure(folder, "-no-such-flag", compiler)
    expect("cannot compile a small program" in " ".join(broken.stderr.split()), broken.stderr)
    text = " ".join(result.stderr.split())
    for words in ("passes wrong constants", "-DCMAKE_C_COMPILER=clang", "-DWADI_NATIVE=OFF"):
        expect(words in text, f"the error does not say '{words}': {text}")


def main():
    if not shutil.which("gcc") or os.uname().machine != "x86_64":
        sys.exit(77)
    with tempfile.TemporaryDirectory() as top:
        for name in ("real", "fake"):
            folder = os.path.join(top, name)
            os.mkdir(folder)
            with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
                file.write(PROJECT.format(source=os.path.abspath(SOURCE)))
        try_fake(os.path.join(top, "fake"))
        pairs = [(march, None) for march in PROCESSORS] + PAIRS
        if os.environ.get("WADI_LONG"):
            pairs = [(march, tune) for march in LONG_MARCH for tune in LONG_TUNE]
        configure(os.path.join(top, "real"), "", "-DCMAKE_C_COMPILER=gcc")
        for march, tune in pairs:
            try_processor(os.path.join(top, "real"), march, tune)


if __name__ == "__main__":
    main()
