"""wadi run against the real binary: results, events, stopping and continuing, the progress line."""
import fcntl
import os
import pty
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import termios
import time

from cli_harness import (ROOT, SCENE, TIMEOUT, WADI, clean_environment, contains, events_of, finish,
                         frame_files, good, hash_in, is_equal, last_event, main, read, restore_signals,
                         start, wadi, write)


def test_run_tells_what_it_made():
    write("scene.yaml", SCENE)
    result = good("run", "scene.yaml")
    first, second = result.out.splitlines()
    pattern = r"5 frames, [\d,]+ particles, 0 lost, .+ a frame\), peak .+iB.*: scene\.run"
    assert re.fullmatch(pattern, first), first
    contains(second, "scene.run/particles/scene.xdmf")
    is_equal(len(frame_files("scene.run")), 5)


def test_quiet_prints_nothing():
    write("scene.yaml", SCENE)
    result = good("run", "scene.yaml", "--quiet")
    is_equal((result.out, result.err), ("", ""))


def test_log_is_small_when_it_is_no_terminal():
    write("scene.yaml", SCENE)
    text = good("run", "scene.yaml", "--frames", "40").err
    lines = [line for line in text.splitlines() if line.startswith("frame")]
    contains(lines[0], "frame 1/40")
    contains(lines[-1], "frame 40/40")
    assert len(lines) < 20 and "\r" not in "".join(lines), lines


def documented_events():
    """{event: keys} of docs/cli.md."""
    section = read(os.path.join(ROOT, "docs", "cli.md")).split("## JSON events")[1]
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", section, re.M)
    return {name: set(re.findall(r"`(\w+)`", keys)) for name, keys in rows}


def test_json_events_have_the_documented_keys():
    write("scene.yaml", SCENE)
    documented = documented_events()
    result = good("run", "scene.yaml", "--json")
    events = events_of(result.out)
    is_equal(result.err, "")
    for event in events:
        is_equal(set(event) - {"event"}, documented[event["event"]], event)
    refused = events_of(wadi("run", "scene.yaml", "--json").out)
    is_equal(set(refused[-1]) - {"event"}, documented["error"], refused)

    is_equal(events[0]["event"], "start")
    frames = [event for event in events if event["event"] == "frame"]
    is_equal([event["frame"] for event in frames], [1, 2, 3, 4, 5])
    end = events[-1]
    is_equal((end["event"], end["ok"], end["run"], end["frames"], end["lost_particles"]),
             ("end", True, "scene.run", 5, 0))
    assert re.fullmatch(r"[0-9a-f]{16}", end["state_hash"]), end
    is_equal(frames[-1]["state_hash"], end["state_hash"])
    is_equal(hash_in("scene.run"), end["state_hash"])
    assert end["particles"] > 0 and end["peak_rss_bytes"] > 0, end


def test_result_does_not_depend_on_threads():
    write("scene.yaml", SCENE)
    ends = [last_event("scene.yaml", "-o", f"{n}.run", "--threads", str(n)) for n in (1, 2, 3)]
    hashes = {end["state_hash"] for end in ends}
    is_equal(len(hashes), 1)


def test_second_run_into_a_folder_is_refused():
    write("scene.yaml", SCENE)
    good("run", "scene.yaml", "-q")
    before = hash_in("scene.run")
    result = wadi("run", "scene.yaml")
    is_equal((result.code, result.out), (2, ""), result)
    contains(result.err, "scene.run")
    is_equal((hash_in("scene.run"), len(frame_files("scene.run"))), (before, 5))
    good("run", "scene.yaml", "--overwrite", "--frames", "3", "-q")
    is_equal(len(frame_files("scene.run")), 3)


def test_resume_of_a_finished_run_does_nothing():
    write("scene.yaml", SCENE)
    first = last_event("scene.yaml")
    again = last_event("scene.yaml", "--resume")
    is_equal((again["frames"], again["frames_done"], again["state_hash"]), (5, 0, first["state_hash"]))


def test_resume_without_a_run_starts_one():
    write("scene.yaml", SCENE)
    is_equal(last_event("scene.yaml", "--resume")["frames_done"], 5)


def test_extended_run_equals_a_longer_one():
    write("scene.yaml", SCENE)
    last_event("scene.yaml", "-o", "a.run")
    extended = last_event("scene.yaml", "-o", "a.run", "--resume", "--frames", "9")
    whole = last_event("scene.yaml", "-o", "b.run", "--frames", "9")
    is_equal((extended["frames"], extended["state_hash"]), (9, whole["state_hash"]))
    is_equal(len(frame_files("a.run")), 9)


def test_from_frame_redoes_the_later_frames():
    write("scene.yaml", SCENE)
    whole = last_event("scene.yaml")
    again = last_event("scene.yaml", "--from-frame", "3")
    is_equal((again["frames"], again["state_hash"]), (5, whole["state_hash"]))
    assert 1 <= again["frames_done"] <= 4, again
    result = wadi("run", "scene.yaml", "--from-frame", "50")
    assert result.code in (1, 2), result
    is_equal(len(frame_files("scene.run")), 5)


def start_long_run(frames, *arguments):
    """Starts a run and returns once its first frame is written; most frames are still to come."""
    process = start("run", "scene.yaml", "--frames", str(frames), "--set", "resolution=24", *arguments)
    line = process.stderr.readline() if "--json" not in arguments else ""
    while "--json" in arguments and '"frame"' not in line:
        line = process.stdout.readline()
        assert line, finish(process)
    return process


def stop_run(signal_number, *arguments):
    """Stops a run in its middle; a fast machine gets more frames. Returns exit code, outputs, frames."""
    for frames in (40, 400, 4000):
        process = start_long_run(frames, *arguments)
        process.send_signal(signal_number)
        code, out, err = finish(process)
        if code != 0:
            return code, out, err, frames
        shutil.rmtree("stop me.run")
    raise AssertionError("the run ended before it could be stopped")


def test_stopped_run_continues_to_the_state_of_an_unbroken_one():
    write("scene.yaml", SCENE)
    code, out, err, frames = stop_run(signal.SIGINT, "-o", "stop me.run")
    is_equal((code, out), (130, ""), err)
    assert re.search(rf"stopped after frame \d+ of {frames}", err), err
    made = len(frame_files("stop me.run"))
    assert 1 <= made < frames, made

    command = re.search(r"^continue with: (.*)$", err, re.M).group(1)
    words = shlex.split(command)
    is_equal(words, [WADI, "run", "scene.yaml", "-o", "stop me.run", "--set", "resolution=24", "--frames",
                     str(frames), "--resume"])
    subprocess.run(command, shell=True, check=True, capture_output=True, timeout=TIMEOUT)
    is_equal(len(frame_files("stop me.run")), frames)
    whole = last_event("scene.yaml", "-o", "whole.run", "--frames", str(frames), "--set", "resolution=24")
    is_equal(hash_in("stop me.run"), whole["state_hash"])


def test_stop_is_an_event_and_other_signals_stop_too():
    write("scene.yaml", SCENE)
    for signal_number in (signal.SIGTERM, signal.SIGHUP):
        code, out, _, _ = stop_run(signal_number, "-o", "stop me.run", "--json", "--overwrite")
        event = events_of(out)[-1]
        is_equal((code, event["event"], event["status"]), (130, "error", "stopped"))
        contains(event["resume"], "--json --resume")
        is_equal(event["frames"], len(frame_files("stop me.run")))


def test_second_interrupt_ends_at_once():
    write("scene.yaml", SCENE)
    process = start_long_run(9000, "-o", "stop me.run")
    began = time.monotonic()
    while process.poll() is None and time.monotonic() - began < 20:
        process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    is_equal(code, 130, err)
    # All files are complete, and the lock file of the killed process does not block the folder.
    frames = len(frame_files("stop me.run")) + 3
    end = last_event("scene.yaml", "-o", "stop me.run", "--set", "resolution=24", "--frames", str(frames),
                     "--resume")
    is_equal(end["frames"], frames)


def test_file_size_limit_is_an_error_not_a_signal():
    write("scene.yaml", SCENE)
    limited = subprocess.run(["bash", "-c", f"ulimit -f 1; exec {shlex.quote(WADI)} run scene.yaml"],
                             capture_output=True, text=True, timeout=TIMEOUT, check=False)
    is_equal(limited.returncode, 1, limited.stderr)
    contains(limited.stderr, "File too large")


def test_ctrl_c_on_a_terminal_says_that_it_stops():
    write("scene.yaml", SCENE)
    for frames in (40, 400, 4000):
        text, code = run_on_terminal(100, frames=frames, interrupts=True)
        if code != 0:
            break
    is_equal(code, 130, text)
    contains(text, "wadi: stopping after this step")
    contains(text, "continue with: ")


def test_two_runs_at_once_into_a_folder_are_refused():
    write("scene.yaml", SCENE)
    process = start_long_run(9000, "-o", "stop me.run", "--json")
    result = wadi("run", "scene.yaml", "-o", "stop me.run", "--resume", "--json", "--set", "resolution=24")
    process.send_signal(signal.SIGINT)
    is_equal(finish(process)[0], 130)
    event = events_of(result.out)[-1]
    is_equal((result.code, event["event"], event["status"]), (75, "error", "busy"), result)


# The progress line


def run_on_terminal(width, frames=30, interrupts=False, **environment):
    """What `wadi run` writes to a terminal of that width, and its exit code. `interrupts`: at once."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    arguments = [WADI, "run", "scene.yaml", "--overwrite", "--frames", str(frames)]
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=slave, preexec_fn=restore_signals,
                          env=clean_environment(**{"TERM": "xterm", **environment})) as process:
        os.close(slave)
        text = b""
        while True:
            ready, _, _ = select.select([master], [], [], TIMEOUT)
            assert ready, "the command hangs"
            try:
                piece = os.read(master, 65536)
            except OSError:  # Linux reports the closed end of a terminal as an error.
                break
            if not piece:
                break
            if interrupts and not text:
                process.send_signal(signal.SIGINT)
            text += piece
        os.close(master)
        code = process.wait(timeout=TIMEOUT)
    return text.decode(), code


def progress_on_terminal(width, **environment):
    text, code = run_on_terminal(width, **environment)
    is_equal(code, 0, text)
    return text


def test_progress_line_fits_the_terminal():
    write("scene.yaml", SCENE)
    for width in (20, 60, 200):
        text = progress_on_terminal(width)
        plain = re.sub(r"\033\[[0-9;]*[A-Za-z]", "", text)
        # Messages above the progress line are not shortened.
        lines = [line for line in re.split(r"[\r\n]+", plain) if not line.startswith("wadi: ")]
        assert max(map(len, lines)) < width, max(lines, key=len)
        assert any("/30" in line for line in lines), text
        assert text.endswith("\r\033[K"), repr(text[-80:])
        if width == 200:
            assert any("particles" in line and "[" in line for line in lines), text


def test_progress_line_is_plain_when_asked():
    write("scene.yaml", SCENE)
    assert "\033[36m" in progress_on_terminal(100)
    assert "\033[36m" in progress_on_terminal(100, NO_COLOR="")
    text = progress_on_terminal(100, NO_COLOR="1")
    assert "/30" in text and not re.search(r"\033\[[0-9;]*m", text), text
    text = progress_on_terminal(100, TERM="dumb")
    assert "/30" in text and "\033" not in text, text
    lines = re.split(r"[\r\n]+", text)
    assert max(map(len, lines)) < 100 and text.endswith("\r"), text


if __name__ == "__main__":
    main(globals())
