"""wadi wedge against the real binary: a grid with failing runs, its table and mosaic, resuming, single runs, refusals."""
import csv
import json
import os

from cli_harness import SCENE, contains, events_of, good, is_equal, is_usage_error, main, read, start, finish, wadi, write
from test_cli_render import size_of
from test_cli_run import documented_events

RADIUS, CENTER = "bodies[0].shape.sphere.radius", "bodies[0].shape.sphere.center"
GRID = ("--vary", f"{RADIUS}=0.05,0.1,0.2", "--vary", "resolution=16,20")
SMALL = ("--size", "64x36", "--threads", "1", "--frames", "3")


def table(folder="scene.wedge"):
    with open(os.path.join(folder, "wedge.csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_grid_of_six_with_one_that_fails():
    write("scene.yaml", SCENE)
    # A file in the way of one run stands for what may go wrong with one: a disk, memory, a number that is not finite.
    os.mkdir("scene.wedge")
    write("scene.wedge/0004-radius=0.1,resolution=20.run", "in the way")
    result = wadi("wedge", "scene.yaml", *GRID, *SMALL, "--json")
    is_equal(result.code, 1, result)
    events = events_of(result.out)
    documented = documented_events()
    for event in events:
        is_equal(set(event) - {"event"}, documented[event["event"]], event)
    is_equal([event["values"] for event in events if event["event"] == "variant"],
             [f"radius={radius}, resolution={n}" for radius in ("0.05", "0.1", "0.2") for n in (16, 20)])
    is_equal([event["run"] for event in events if event["event"] == "variant_failed"], [4])
    is_equal((events[-1]["runs"], events[-1]["done"], events[-1]["failed"]), (6, 5, 1))
    rows = table()
    is_equal([row["status"] for row in rows], ["done", "done", "done", "failed", "done", "done"])
    is_equal([(row[RADIUS], row["resolution"]) for row in rows],
             [(radius, n) for radius in ("0.05", "0.1", "0.2") for n in ("16", "20")])
    contains(rows[3]["error"], "0004-radius=0.1,resolution=20.run")
    is_equal((rows[3]["frames"], rows[3]["state_hash"]), ("", ""))
    for row in rows[:3] + rows[4:]:
        summary = json.loads(read(f"scene.wedge/{row['folder']}/run.json"))
        is_equal((row["state_hash"], row["content_hash"]), (summary["state_hash"], summary["content_hash"]))
        is_equal((int(row["frames"]), int(row["particles"])), (3, summary["particles"]["sand"]))
    # Three rows of two pictures with a label under each.
    is_equal(size_of("scene.wedge/mosaic.png"), (8 + 2 * (64 + 8), 8 + 3 * (36 + 24)))
    before = read("scene.wedge/0001-radius=0.05,resolution=16.run/run.json")
    os.remove("scene.wedge/0004-radius=0.1,resolution=20.run")
    again = wadi("wedge", "scene.yaml", *GRID, *SMALL[:4], "--json", "--resume")
    is_equal(again.code, 0, again)
    events = events_of(again.out)
    is_equal([event["run"] for event in events if event["event"] == "variant"], [4])
    is_equal((events[-1]["done"], events[-1]["failed"]), (6, 0))
    is_equal([row["status"] for row in table()], ["done"] * 6)
    is_equal(read("scene.wedge/0001-radius=0.05,resolution=16.run/run.json"), before)


def test_wrong_values_are_rows_and_wrong_keys_are_mistakes():
    write("scene.yaml", SCENE)
    result = wadi("wedge", "scene.yaml", "--vary", "bodies[0].material=sand,mud", *SMALL, "--no-mosaic", "--quiet")
    is_equal(result.code, 1, result)
    rows = table()
    is_equal([row["status"] for row in rows], ["done", "failed"])
    contains(rows[1]["error"], "unknown material 'mud'")
    assert not os.path.exists("scene.wedge/mosaic.png")
    result = wadi("wedge", "scene.yaml", "--vary", "resolutoin=16,20", "-o", "none")
    is_equal(result.code, 2, result)
    contains(result.err, "resolutoin")
    assert not os.path.exists("none")


def test_values_with_commas_and_zip():
    write("scene.yaml", SCENE)
    good("wedge", "scene.yaml", "--vary", f"{CENTER}=[0.3,0.3,0.5],[0.6,0.6,0.5]", "--vary", f"{RADIUS}=0.1,0.2", "--zip", *SMALL,
         "--quiet", "-o", "z")
    rows = table("z")
    is_equal([(row[CENTER], row[RADIUS]) for row in rows], [("[0.3,0.3,0.5]", "0.1"), ("[0.6,0.6,0.5]", "0.2")])
    is_equal([row["folder"] for row in rows],
             ["0001-center=_0.3,0.3,0.5_,radius=0.1.run", "0002-center=_0.6,0.6,0.5_,radius=0.2.run"])


def test_index_runs_one_and_the_last_draws():
    write("scene.yaml", SCENE)
    command = ("wedge", "scene.yaml", "--vary", "seed=1,2,3", *SMALL, "--json")
    first = events_of(good(*command, "--index", "2").out)[-1]
    is_equal((first["done"], first["mosaic"]), (1, ""))
    is_equal([row["status"] for row in table()], ["waiting", "done", "waiting"])
    # Two processes at a time; the table has both.
    processes = [start(*command, "--index", str(i)) for i in (1, 3)]
    results = [finish(process) for process in processes]
    is_equal([code for code, _, _ in results], [0, 0], results)
    assert any(events_of(out)[-1]["mosaic"] == "scene.wedge/mosaic.png" for _, out, _ in results), results
    is_equal([row["status"] for row in table()], ["done"] * 3)
    is_equal(len({row["state_hash"] for row in table()}), len({row["content_hash"] for row in table()}))
    again = wadi(*command, "--index", "2")
    is_equal(again.code, 2, again)
    contains(again.err, "is there already; resume the wedge")
    good(*command, "--index", "2", "--resume")


def test_refusals():
    write("scene.yaml", SCENE)
    contains(is_usage_error("wedge", "scene.yaml"), "--vary: expected a key and its values")
    contains(is_usage_error("wedge", "scene.yaml", "--vary", "seed"), "expected KEY=A,B,C")
    contains(is_usage_error("wedge", "scene.yaml", "--vary", "seed=1,2", "--zip", "--grid"), "--grid: expected no --zip")
    for arguments, text in ((("--vary", "seed=1,,2"), "a value is empty"),
                            (("--vary", "seed=1,2", "--vary", "seed=3"), "the key seed is there twice"),
                            (("--vary", "seed=1,2", "--vary", "resolution=16", "--zip"), "need as many of each"),
                            (("--vary", "seed=1,2", "--index", "3"), "run 3 of a wedge of 2 runs")):
        result = wadi("wedge", "scene.yaml", *arguments)
        is_equal(result.code, 2, result)
        contains(result.err, text)


if __name__ == "__main__":
    main(globals())
