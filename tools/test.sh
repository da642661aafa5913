#!/usr/bin/env bash
# Every check and test, in the order in which a mistake is cheapest to find; stops at the first step that fails.
# The last line is `N passed, N failed`: the ctest tests of all builds (a step that fails otherwise counts as one).
# WADI_LONG=1 runs the larger cases too.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

# The first build is gcc's whatever the environment says; the sanitizers' is clang's, so that two builds serve both compilers.
export CC=gcc
unset CFLAGS LDFLAGS
jobs=$(nproc)
limit=300
# Whole runs do not depend on the compiler, and a sanitizer makes heavy loops ten times as long: every test runs in the
# first build, and in all of them when there is time.
not_with_asan=(-LE '^(run|cli|view|physics|twin|configure)$')
# Some physics runs with every check on all the same, since the asan preset validates structures between stages: sand, water, both,
# and a dam break.
checked_physics=(test_flip_scenes test_flip_dam)
# What has threads: the team of loops, the writer of runs, the workers of surfaces, and several simulations at once.
threaded='^(example_embed|test_(core|core_asserts|api_threads|api_tasks|api_checkpoint|api_surface|view_server|view_session|io_run_folder|io_trouble|surface_run|resume))$'
# The analyzer of clang-tidy takes as long as all tests of the first build and more: make tidy and make test-long run it.
tidy=(--fast)
if [ -n "${WADI_LONG:-}" ]; then
    limit=3600
    not_with_asan=()
    tidy=()
fi
passed=0
failed=0
mkdir -p build

# begin NAME: the step that follows; `... || stop` ends everything when it fails.
begin() {
    name=$1
    start=$SECONDS
    echo "== $name"
}

end() {
    echo "== $name: ok, $((SECONDS - start)) s"
}

stop() {
    echo "== $name: FAILED"
    [ "$failed" -gt 0 ] || failed=1 # the step itself, when no test of its own did
    echo "$passed passed, $failed failed"
    exit 1
}

c_files() {
    git ls-files -z -co --exclude-standard '*.c' '*.h' | while IFS= read -r -d '' file; do
        [ ! -f "$file" ] || printf '%s\0' "$file"
    done
}

check_format() {
    c_files | xargs -0 clang-format --dry-run -Werror
}

check_tree() {
    tools/check_layers.py --self-test && tools/check_layers.py &&
        tools/measure.py pages --check && tools/validate/summary.py --check && tools/validate/sph_constants.py --check
}

check_scripts() {
    git ls-files -z -co --exclude-standard '*.sh' '.ci/run' | xargs -0 shellcheck
}

check_manual() {
    [ ! -d docs/man ] || find docs/man -name "*.1" -print0 | xargs -0 -r mandoc -T lint -W warning
}

# build PRESET [TARGET...]: builds everything of a preset, or the targets. A warning is an error of the compiler's; this looks for the
# linker's and CMake's too, and that no file was compiled without -Werror.
build() {
    local preset=$1 folder=build
    shift
    [ "$preset" = release ] || folder=build/$preset
    mkdir -p "$folder"
    tools/build.sh "$preset" "$@" >"$folder/build.log" 2>&1
    local status=$?
    if [ "$status" -ne 0 ]; then
        tail -n 60 "$folder/build.log"
        return "$status"
    fi
    if grep -E 'warning:|CMake( [A-Za-z]+)? Warning' "$folder/build.log" "$folder/configure.log"; then
        return 1
    fi
    tools/check_flags.py "$folder/compile_commands.json"
}

# run_ctest FOLDER [ARGUMENT...]: runs the tests and adds them to the totals.
run_ctest() {
    local folder=$1
    shift
    local log=$folder/ctest.log
    ctest --test-dir "$folder" --no-tests=error --output-on-failure --timeout "$limit" -j "$jobs" "$@" | tee "$log"
    local status=${PIPESTATUS[0]}
    passed=$((passed + $(grep -cE '^ *[0-9]+/[0-9]+ Test .* Passed ' "$log")))
    failed=$((failed + $(grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*(Failed|Timeout|Exception|Not Run)' "$log")))
    return "$status"
}

# ParaView's own readers see in a run what wadi wrote. 77: they are not installed.
check_paraview() {
    build/wadi run scenes/demo/demo.yaml -o build/demo.run --overwrite --quiet || return
    /usr/bin/python3 tools/check_vtk.py build/demo.run
    local status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 77 ]
}

begin "format"
check_format || stop
end
begin "layers and tree"
check_tree || stop
end
begin "shell scripts"
check_scripts || stop
end
begin "manual"
check_manual || stop
end
begin "build, gcc"
build release || stop
end
begin "tests, gcc"
run_ctest build || stop
end
begin "build, clang with sanitizers"
build asan || stop
end
begin "tests, clang with sanitizers"
run_ctest build/asan "${not_with_asan[@]}" || stop
end
begin "physics, all checks"
run_ctest build/asan -R "^($(IFS='|' && echo "${checked_physics[*]}"))\$" || stop
end
begin "clang-tidy"
tools/tidy.py build/asan "${tidy[@]}" || stop
end
begin "install, examples"
tools/test_install.sh || stop
end
if [ -n "${WADI_LONG:-}" ]; then
    begin "build, clang"
    build clang || stop
    end
    begin "tests, clang"
    run_ctest build/clang || stop
    end
    begin "build, thread sanitizer"
    build tsan || stop
    end
    begin "tests, thread sanitizer"
    run_ctest build/tsan -R "$threaded" || stop
    end
    begin "ParaView"
    check_paraview || stop
    end
    begin "fuzz"
    tools/fuzz.sh "${FUZZ_SECONDS:-60}" || stop
    end
fi

echo "$passed passed, $failed failed"
