"""The job of wadi farm --to slurm in a real Slurm on loopback, with WADI_LONG=1: munged, slurmctld and slurmd with files and ports of
their own, stopped by their own ids. Needs root, since slurmd starts tasks as their users."""
import os
import re
import shutil
import socket
import subprocess
import time

from cli_harness import SCENE, WADI, clean_environment, contains, events_of, good, is_equal, main, Skipped, write
from test_cli_render import SMALL, pictures

DAEMONS = ("munged", "slurmctld", "slurmd")
WAIT = 120  # s


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def configuration(folder):
    host = socket.gethostname().split(".")[0]
    return f"""\
ClusterName=wadi
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={min(2, os.cpu_count() or 1)} RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """The three daemons while a test runs."""

    def __init__(self):
        if not os.environ.get("WADI_LONG"):
            raise Skipped("WADI_LONG is not set")
        missing = [name for name in DAEMONS if shutil.which(name, path="/usr/sbin:/usr/bin") is None]
        if missing or shutil.which("sbatch") is None:
            raise Skipped(f"{' and '.join(missing) or 'sbatch'} is not installed: tools/setup.sh long")
        if os.getuid() != 0:
            raise Skipped("not root")
        self.folder = os.path.abspath("slurm")
        self.environment = clean_environment(SLURM_CONF=f"{self.folder}/slurm.conf")
        self.daemons = []

    def start(self, *command):
        with open(f"{self.folder}/{os.path.basename(command[0])}.out", "w", encoding="utf-8") as log:
            self.daemons.append(subprocess.Popen(command, env=self.environment, stdout=log, stderr=log))

    def ask(self, *command):
        return subprocess.run(command, env=self.environment, text=True, capture_output=True, timeout=WAIT, check=False).stdout

    def until(self, is_reached, what):
        end = time.time() + WAIT
        while not is_reached():
            dead = [daemon.args[0] for daemon in self.daemons if daemon.poll() is not None]
            assert not dead and time.time() < end, (what, dead, self.ask("squeue"), self.ask("sinfo"))
            time.sleep(0.2)

    def __enter__(self):
        os.makedirs(f"{self.folder}/state")
        os.makedirs(f"{self.folder}/spool")
        write(f"{self.folder}/slurm.conf", configuration(self.folder))
        write(f"{self.folder}/cgroup.conf", "CgroupPlugin=cgroup/v1\n")  # slurmd looks for it, though no plug-in uses it
        with open(f"{self.folder}/munge.key", "wb") as key:
            key.write(os.urandom(128))
        os.chmod(f"{self.folder}/munge.key", 0o600)
        names = {"key": "munge.key", "socket": "munge.socket", "pid": "munged.pid", "log": "munged.log", "seed": "munge.seed"}
        files = [f"--{'socket' if name == 'socket' else name + '-file'}={self.folder}/{file}" for name, file in names.items()]
        try:
            self.start("/usr/sbin/munged", "--foreground", "--force", *files)
            self.until(lambda: os.path.exists(f"{self.folder}/munge.socket"), "munged")
            self.start("/usr/sbin/slurmctld", "-D", "-c")
            self.start("/usr/sbin/slurmd", "-D")
            self.until(lambda: "idle" in self.ask("sinfo", "--noheader"), "a node that is idle")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def test_job_runs_to_the_video():
    with Slurm() as slurm:
        write("scene.yaml", SCENE)
        good("run", "scene.yaml", "-o", "a.run", "--quiet", "--frames", "10", "--threads", "1")
        event = events_of(good("farm", "a.run", "--to", "slurm", "--chunk", "4", "--cpus", "1", "--memory", "300", "--minutes", "10",
                               "--wadi", WADI, "--json", "--", *SMALL, "--sheet", "4").out)[0]
        submitted = subprocess.run(["bash", "-c", event["submit"]], env=slurm.environment, text=True, capture_output=True,
                                   check=False, timeout=WAIT)
        is_equal(submitted.returncode, 0, submitted.stderr)
        contains(submitted.stdout, "Submitted batch job")
        slurm.until(lambda: slurm.ask("squeue", "--noheader").strip() == "", "the end of the jobs")
        logs = [name for name in os.listdir("a.run/farm") if name.endswith(".log")]
        text = "".join(open(f"a.run/farm/{name}", encoding="utf-8").read() for name in logs)
        is_equal(len(logs), 4, text)
        is_equal(sum(int(count) for count in re.findall(r"(\d+) pictures? drawn", text)), 10, text)
        is_equal(len(pictures("a.run/images")), 10)
        if shutil.which("ffmpeg"):
            assert os.path.getsize("a.run/scene.mp4") > 0, text
        assert os.path.getsize("a.run/scene.sheet.png") > 0, text


if __name__ == "__main__":
    main(globals())
