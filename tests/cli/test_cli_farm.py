"""wadi farm against the real binary. What reads a job file tests it: sh runs, node runs Flamenco's JavaScript with a stand-in for
`author`, Open Job Description and OpenCue have published rules. Slurm: test_cli_slurm.py."""
import copy
import json
import os
import re
import shlex
import subprocess
import xml.etree.ElementTree as xml

from cli_harness import (SCENE, WADI, clean_environment, contains, events_of, good, is_equal, is_usage_error, main, needs, read,
                         Skipped, wadi, write)
from test_cli_render import FFMPEG, SMALL, pictures, with_ffmpeg
from test_cli_run import documented_events

OPTIONS = (*SMALL, "--sheet", "4", "--set", "render.light={sun_height: 30}")
AFTER = (*SMALL, "--set", "render.light={sun_height: 30}", "--share", "--no-video", "--threads", "2", "--frames")
VIDEO = (*OPTIONS, "--share", "--video", "--frames", "1-10")
NEEDS = ("--chunk", "4", "--cpus", "2", "--memory", "900", "--minutes", "30")


def simulate(run="a b.run", name="scene"):
    write(f"{name}.yaml", SCENE)
    good("run", f"{name}.yaml", "-o", run, "--quiet", "--frames", "10", "--threads", "1")
    return run


def farm(run, system, *more, options=OPTIONS):
    result = good("farm", run, "--to", system, *NEEDS, *more, "--json", "--", *options)
    event = events_of(result.out)[0]
    is_equal(set(event) - {"event"}, documented_events()["farm"])
    is_equal((event["frames"], event["tasks"]), (10, 3))
    return event


def test_sh_job_runs_to_the_video():
    run = simulate()
    event = farm(run, "sh", "--wadi", WADI)
    is_equal(event["file"], os.path.abspath("a b.run/farm/scene.sh"))
    subprocess.run(["sh", "-n", event["file"]], check=True)
    done = subprocess.run(["sh", event["file"], "3"], env=clean_environment(**with_ffmpeg(FFMPEG)), cwd="/", text=True,
                          capture_output=True, timeout=120, check=False)
    is_equal(done.returncode, 0, done.stderr)
    is_equal(len(pictures("a b.run/images")), 10)
    is_equal(sum(int(count) for count in re.findall(r"(\d+) pictures? drawn", done.stdout)), 10, done.stdout)
    assert os.path.getsize("a b.run/scene.mp4") > 0 and os.path.getsize("a b.run/scene.sheet.png") > 0


def test_slurm_scripts():
    event = farm(simulate(), "slurm")
    for path in (event["file"], event["video_file"]):
        subprocess.run(["bash", "-n", path], check=True)
        assert os.path.isabs(path)
    text = read(event["file"])
    for line in ("#SBATCH --array=0-2", "#SBATCH --cpus-per-task=2", "#SBATCH --mem=900M", "#SBATCH --time=30", "#SBATCH --requeue"):
        contains(text, line + "\n")
    # The tasks, by a stand-in for wadi that is not now ready, and one for scontrol.
    bin_folder = with_ffmpeg("#!/bin/sh\n")["PATH"].split(":")[0]
    write("bin/wadi", '#!/bin/sh\nfor word; do printf "%s\\n" "$word"; done >>words\nexit 75\n')
    write("bin/scontrol", '#!/bin/sh\necho "$@" >requeued\n')
    for name in ("wadi", "scontrol"):
        os.chmod(f"bin/{name}", 0o755)
    frames = []
    for task in range(3):
        write("words", "")
        done = subprocess.run(["bash", event["file"]], check=False,
                              env={"PATH": f"{bin_folder}:/usr/bin:/bin", "SLURM_ARRAY_TASK_ID": str(task), "SLURM_JOB_ID": "17"})
        is_equal(done.returncode, 75)
        is_equal(read("requeued"), "requeue 17\n")
        words = read("words").splitlines()
        is_equal(tuple(words[:-1]), ("render", os.path.abspath("a b.run"), *AFTER))
        frames.append(words[-1])
    is_equal(frames, ["1-4", "5-8", "9-10"])
    surface = events_of(good("farm", "a b.run", "--to", "slurm", "--work", "surface", "--json", "--", "--method", "blobby").out)[0]
    is_equal((surface["video_file"], surface["submit"]), ("", "sbatch " + shlex.quote(surface["file"])))


def test_openjd_template_follows_the_specification():
    try:
        from openjd_rules import problems
    except ImportError as reason:
        raise Skipped("python3-jsonschema is not installed") from reason
    event = farm(simulate(), "openjd")
    template = json.loads(read(event["file"]))
    is_equal(problems(template), [])
    frames, video = template["steps"]
    is_equal(frames["parameterSpace"]["taskParameterDefinitions"][0]["range"], ["1-4", "5-8", "9-10"])
    is_equal(tuple(frames["script"]["actions"]["onRun"]["args"]), ("render", "{{Param.Run}}", *AFTER, "{{Task.Param.Frames}}"))
    is_equal(tuple(video["script"]["actions"]["onRun"]["args"]), ("render", "{{Param.Run}}", *VIDEO))
    is_equal(video["dependencies"], [{"dependsOn": frames["name"]}])
    # The rules find what is wrong.
    for change in (lambda t: t.pop("name"), lambda t: t.update(specificationVersion="jobtemplate-2024-01"),
                   lambda t: t["steps"][1]["dependencies"].append({"dependsOn": "nothing"}),
                   lambda t: t["steps"][0]["script"]["actions"]["onRun"].update(timeout=0),
                   lambda t: t["steps"][0]["parameterSpace"]["taskParameterDefinitions"][0].update(range=["1"] * 1025),
                   lambda t: t["steps"][0]["script"]["actions"]["onRun"]["args"].append("{{Task.Param.Other}}"),
                   lambda t: t["parameterDefinitions"][0].update(name="1st"),
                   lambda t: t["steps"][0]["hostRequirements"]["amounts"][0].pop("min"),
                   lambda t: t["steps"][0].update(colour="red")):
        broken = copy.deepcopy(template)
        change(broken)
        assert problems(broken), change
    result = wadi("farm", "a b.run", "--to", "openjd", "--", "--set", "render={light: {{}}")
    is_equal(result.code, 2, result)
    contains(result.err, "put a blank between the braces")


AUTHOR = """
const tasks = [];
class Task {
    constructor(name, type) { this.name = name; this.type = type; this.commands = []; this.dependencies = []; }
    addCommand(command) { this.commands.push(command); }
    addDependency(task) { if (!(task instanceof Task)) throw "not a task"; this.dependencies.push(task.name); }
}
const author = {
    Task: (name, type) => new Task(name, type),
    Command: (name, parameters) => ({ name: name, parameters: parameters }),
};
"""
SUBMIT = """
const job = { settings: {}, addTask: (task) => tasks.push(task) };
for (const setting of JOB_TYPE.settings) job.settings[setting.key] = setting.default;
compileJob(job);
console.log(JSON.stringify({ type: JOB_TYPE, tasks: tasks }));
"""


def test_flamenco_job_type_runs_with_a_stand_in_for_author():
    needs("node")
    event = farm(simulate(), "flamenco")
    write("job.js", AUTHOR + read(event["file"]) + SUBMIT)
    done = subprocess.run(["node", "job.js"], text=True, capture_output=True, check=False, timeout=60)
    is_equal(done.returncode, 0, done.stderr)
    made = json.loads(done.stdout)
    for setting in made["type"]["settings"]:
        assert re.fullmatch(r"[a-z_]+", setting["key"]) and setting["type"] == "string" and setting["default"], setting
    *frames, video = made["tasks"]
    is_equal([task["name"] for task in frames], ["frames-1-4", "frames-5-8", "frames-9-10"])
    for task, last in zip(frames, ("1-4", "5-8", "9-10")):
        run = os.path.abspath("a b.run")
        is_equal(task["commands"], [{"name": "exec", "parameters": {"exe": "wadi", "args": ["render", run, *AFTER, last]}}])
    is_equal(video["dependencies"], [task["name"] for task in frames])
    is_equal(video["commands"][0]["parameters"]["args"], ["render", os.path.abspath("a b.run"), *VIDEO])


# The content models of OpenCue's cjsl-1.12.dtd, of the elements that have children.
CONTENT = {
    "spec": "facility? dept? show shot user email? uid? job* depends*",
    "job": "paused? priority? maxretries? autoeat? localbook? os? env* layers?",
    "layers": "layer+",
    "layer": "cmd range chunk cores? threadable? memory? gpus? gpu? gpu_memory? timeout? timeout_llu? tags? limits? env* services?",
    "services": "service+",
    "depends": "depend*",
    "depend": "depjob deplayer? depframe? onjob onlayer? onframe?",
}


def check_element(element):
    model = CONTENT.get(element.tag)
    children = "".join(f"{child.tag} " for child in element)
    if model is None:
        is_equal(children, "", element.tag)
        return
    pattern = "".join(f"({re.escape(item.rstrip('?*+'))} ){item[len(item.rstrip('?*+')):]}" for item in model.split())
    assert re.fullmatch(pattern, children), (element.tag, children)
    for child in element:
        check_element(child)


def test_opencue_specification_follows_its_dtd():
    event = farm(simulate(), "opencue")
    contains(read(event["file"]), 'cjsl-1.12.dtd"')
    spec = xml.parse(event["file"]).getroot()
    check_element(spec)
    job = spec.find("job")
    frames, video = job.find("layers")
    for element in (job, frames, video):
        assert re.fullmatch(r"[\w.:-]+", element.get("name")), element.get("name")
    is_equal((frames.get("type"), video.get("type")), ("Render", "Post"))
    is_equal((frames.find("range").text, frames.find("chunk").text), ("1-10", "4"))
    is_equal(tuple(shlex.split(frames.find("cmd").text)),
             ("wadi", "render", os.path.abspath("a b.run"), *AFTER, "#FRAME_START#-#FRAME_END#"))
    is_equal(tuple(shlex.split(video.find("cmd").text)), ("wadi", "render", os.path.abspath("a b.run"), *VIDEO))
    depend = spec.find("depends/depend")
    is_equal(depend.get("type"), "LAYER_ON_LAYER")
    is_equal((depend.find("deplayer").text, depend.find("onlayer").text), (video.get("name"), frames.get("name")))
    is_equal({depend.find("depjob").text, depend.find("onjob").text}, {job.get("name")})


def test_refusals():
    run = simulate()
    contains(is_usage_error("farm", run), "--to: expected sh, slurm, openjd, flamenco or opencue")
    contains(is_usage_error("farm", run, "--to", "pbs"), "found 'pbs'")
    contains(is_usage_error("farm", run, "--to", "sh", "--work", "secondary"), "--work: expected render or surface")
    contains(is_usage_error("farm", run, "--to", "sh", "--", "--qualty", "final"), "did you mean '--quality'?")
    contains(is_usage_error("farm", run, "--to", "sh", "--", "--frames", "3"), "give --frames before --")
    contains(is_usage_error("farm", run, "--to", "sh", "--work", "surface", "--", "--quality", "final"), "wadi surface --help")
    result = wadi("farm", run, "--to", "sh", "--frames", "5-11")
    is_equal(result.code, 2, result)
    contains(result.err, "will have frames up to 10")
    result = wadi("farm", "none.run", "--to", "sh")
    is_equal(result.code, 1, result)
    os.mkdir("mine")
    write("mine/scene.sh", "precious")
    result = wadi("farm", run, "--to", "sh", "-o", "mine")
    is_equal(result.code, 2, result)
    contains(result.err, "scene.sh is there and was not written by wadi")
    is_equal(read("mine/scene.sh"), "precious")


if __name__ == "__main__":
    main(globals())
