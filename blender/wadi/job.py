# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs commands of wadi one after the other beside Blender. Needs Python alone."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

WORDS = {"run": "Simulating", "secondary": "Making foam", "export": "Making meshes"}
SHARES = {"run": 0.6, "secondary": 0.1, "export": 0.3}  # of the time, for the progress


@dataclass
class Outcome:
    """How a job ended: `state` is DONE, STOPPED or FAILED."""

    state: str
    text: str


class Job:
    """Commands `[program, word, …, "--json"]` in a thread. All members may be read from another one."""

    def __init__(self, commands: List[List[str]], folder: str) -> None:
        self.commands, self.folder = commands, folder
        self.progress, self.status = 0.0, "Starting"
        self.outcome: Optional[Outcome] = None
        self.warnings: List[str] = []
        self.is_stopping = False
        self.process: Optional[subprocess.Popen] = None
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """As Ctrl-C: wadi ends with a checkpoint, from which the run goes on later."""
        with self.lock:
            self.is_stopping = True
            if self.process is not None and self.process.poll() is None:
                self.process.send_signal(signal.SIGINT)

    def join(self) -> Outcome:
        self.thread.join()
        assert self.outcome is not None
        return self.outcome

    def run(self) -> None:
        total = sum(SHARES[command[1]] for command in self.commands)
        done = 0.0
        for command in self.commands:
            outcome = self.run_command(command, done / total, SHARES[command[1]] / total)
            if outcome is not None:
                self.outcome = outcome
                return
            done += SHARES[command[1]]
        self.progress = 1.0
        self.outcome = Outcome("DONE", "Baked")

    def run_command(self, command: List[str], before: float, share: float) -> Optional[Outcome]:
        """None when it went well."""
        error: Dict[str, Any] = {}
        self.status = WORDS[command[1]]
        try:
            with self.lock:
                if self.is_stopping:
                    return Outcome("STOPPED", "Stopped; Resume goes on")
                self.process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                                stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace",
                                                preexec_fn=take_signals if os.name == "posix" else None)
        except OSError as problem:
            return Outcome("FAILED", f"{command[0]}: {problem.strerror}; set the path of the command wadi in the preferences of this add-on")
        other = []
        with self.process.stdout as lines:
            for line in lines:
                try:
                    event = json.loads(line)
                except ValueError:
                    other.append(line.rstrip())
                    continue
                if event.get("event") == "error":
                    error = event
                else:
                    self.take(event, command[1], before, share)
        code = self.process.wait()
        if code == 0:
            return None
        if error.get("status") == "stopped" or (self.is_stopping and code < 0):
            return Outcome("STOPPED", f"Stopped at {self.status.lower()}; Resume goes on")
        return Outcome("FAILED", error.get("text") or "\n".join(other[-5:]) or f"{command[0]} ended with {code}")

    def take(self, event: Dict[str, Any], word: str, before: float, share: float) -> None:
        if event.get("event") == "warning":
            self.warnings.append(str(event.get("text", "")))
        if not event.get("frames") or event.get("event") == "start":
            return
        done = event.get("frames_done", event.get("frame", 0))
        self.progress = before + share * min(1.0, done / event["frames"])
        left = event.get("seconds_left")
        self.status = f"{WORDS[word]} {done}/{event['frames']}" + (f", {left:.0f} s left" if left is not None else "")


def take_signals() -> None:
    """A Blender started in the background by a shell ignores SIGINT, and its children would."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
