"""What configuring makes of the packages of a machine: Embree 4, else 3, written into what is installed; and a C++ compiler
that was missing at first is found later. Embree is a stand-in: a package file and no library.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("WADI_SOURCE_DIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

VERSION = """set(PACKAGE_VERSION {major}.1.0)
if(PACKAGE_FIND_VERSION_MAJOR EQUAL {major})
  set(PACKAGE_VERSION_COMPATIBLE 1)
endif()
"""
CONFIG = """add_library(embree SHARED IMPORTED)
set_target_properties(embree PROPERTIES IMPORTED_LOCATION "{prefix}/lib/libembree{major}.so")
"""


def expect(ok, what):
    if not ok:
        sys.exit(f"FAILED: {what}")


def add_embree(prefix, major):
    folder = os.path.join(prefix, "lib", "cmake", f"embree-{major}.1.0")
    os.makedirs(folder)
    for name, text in (("embree-config-version.cmake", VERSION), ("embree-config.cmake", CONFIG)):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text.format(major=major, prefix=prefix))


def configure(build, prefix, *more):
    """The machine's own Embree is not seen."""
    own = [folder for top in ("/lib", "/usr/lib", "/lib/*", "/usr/lib/*") for folder in glob.glob(top + "/cmake/embree*")]
    result = subprocess.run(["cmake", "-S", SOURCE, "-B", build, "-DCMAKE_PREFIX_PATH=" + prefix, "-DWADI_TESTS=OFF",
                             "-DWADI_HWCAPS=OFF", "-DCMAKE_IGNORE_PATH=" + ";".join(own), *more],
                            capture_output=True, text=True)
    expect(result.returncode == 0, result.stdout + result.stderr)
    return result.stdout


def read(build, name):
    with open(os.path.join(build, name), encoding="utf-8") as file:
        return file.read()


def check_embree(build, prefix, major):
    expect(f"-DWADI_EMBREE_MAJOR={major} " in read(build, "compile_commands.json"), f"not compiled for Embree {major}")
    expect(f"Libs.private: -L{prefix}/lib -lembree{major} " in read(build, "wadi.pc"), read(build, "wadi.pc"))
    expect(f"find_dependency(embree {major})" in read(build, "wadi-config.cmake"), "wadi-config.cmake names another Embree")


def main():
    with tempfile.TemporaryDirectory() as top:
        prefix, build = os.path.join(top, "prefix"), os.path.join(top, "build")
        add_embree(prefix, 3)
        configure(build, prefix, "-DCMAKE_CXX_COMPILER=NOTFOUND")
        check_embree(build, prefix, 3)
        expect(not shutil.which("c++") or "CMAKE_CXX_COMPILER:STRING=/" in read(build, "CMakeCache.txt"),
               "a C++ compiler is not looked for again")
        # In the same build folder: a machine that got Embree 4.
        add_embree(prefix, 4)
        configure(build, prefix)
        check_embree(build, prefix, 4)


if __name__ == "__main__":
    main()
