"""dem against LAMMPS (its granular package): the same law, the same start. A collision's restitution, and the run-out and settled profile of a
column of 5,000 grains, within 3 %. Needs the command `lmp`, and WADI_LONG=1."""
import os
import shutil
import subprocess
import sys

from harness import Workplace

RADIUS, DENSITY, YOUNG, FRICTION = 0.0049, 2500.0, 1.4e6, 0.5
STIFFNESS = YOUNG * 4.0 / (3.0 * 2.0 * (1.0 - 0.25**2))  # Pa
PI = 3.14159265358979324
MASS = DENSITY * 4.0 / 3.0 * PI * RADIUS**3
SPACING = 0.01
SIDE = (20, 10, 25)  # grains
SECONDS = 1.0
# Of the viscoelastic law with a force that never pulls: e = 0.5440 at G = 0.6.
RESTITUTION, NUMBER = 0.5440, 0.6


def damping():
    """LAMMPS' gamma_n, 1/(m s)."""
    mass, radius, speed = MASS / 2, RADIUS / 2, (9.81 * 2 * RADIUS) ** 0.5
    k = STIFFNESS * radius**0.5
    return NUMBER / ((k / mass) ** 0.4 * speed**0.2) * STIFFNESS / mass


SCENE = f"""wadi: 1
name: column
solver: dem
domain: {{min: [0, 0, 0], max: [0.8, 0.1, 0.4], walls: {{friction: {FRICTION}}}}}
cell_size: {SPACING}
particles_per_cell: 1
frames: {int(24 * SECONDS) + 1}
materials: {{m: {{kind: sand, density: {MASS / SPACING**3:.9g}}}}}
bodies: [{{material: m, jitter: 0.02, snap: none, shape: {{box: {{min: [0, 0, 0], max: [0.2, 0.1, 0.25]}}}}}}]
dem: {{law: viscoelastic, young: {YOUNG}, restitution: {RESTITUTION}, friction: {FRICTION}, rolling_friction: 0, grain_size: {2 * RADIUS},
  size_spread: 0, sleep: false}}
"""

LAW = f"hertz/history {STIFFNESS} NULL {damping()} NULL {FRICTION} 1 limit_damping"
PAIR = """atom_style sphere
units si
newton off
comm_modify vel yes
boundary f f f
region box block -0.1 0.1 -0.1 0.1 -0.1 0.1 units box
create_box 1 box
create_atoms 1 single -0.006 0 0 units box
create_atoms 1 single 0.006 0 0 units box
set type 1 diameter DIAMETER density DENSITY
set atom 1 vx SPEED
set atom 2 vx -SPEED
neighbor 0.01 bin
pair_style gran/LAW
pair_coeff * *
timestep 1e-6
fix 1 all nve/sphere
compute v all property/atom vx
compute fastest all reduce max c_v
thermo_style custom step c_fastest
run 20000
variable fastest equal c_fastest
print "fastest ${fastest}" file END
"""
INPUT = """atom_style sphere
units si
newton off
comm_modify vel yes
boundary f f f
region box block -0.01 0.81 -0.01 0.11 -0.01 0.41 units box
create_box 1 box
read_dump START 0 x y z add yes box no format native
set type 1 diameter DIAMETER density DENSITY
neighbor 0.001 bin
neigh_modify delay 0 every 1 check yes
pair_style gran/LAW
pair_coeff * *
timestep 4e-5
fix 1 all nve/sphere
fix g all gravity 9.81 vector 0 0 -1
fix x all wall/gran LAW xplane 0 0.8
fix y all wall/gran LAW yplane 0 0.1
fix z all wall/gran LAW zplane 0 0.4
run STEPS
write_dump all custom END x y z
"""


def read_wadi(workplace, frame):
    import h5py
    with h5py.File(workplace.path(f"column.run/particles/column.{frame:04d}.h5")) as file:
        return file["particles"]["position"][:].tolist()


def write_start(path, positions):
    with open(path, "w") as file:
        file.write(f"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{len(positions)}\nITEM: BOX BOUNDS ff ff ff\n"
                   "-0.01 0.81\n-0.01 0.11\n-0.01 0.41\nITEM: ATOMS id type x y z\n")
        for number, (x, y, z) in enumerate(positions):
            file.write(f"{number + 1} 1 {x:.9g} {y:.9g} {z:.9g}\n")


def run_lammps(workplace, positions):
    start, end, script = (workplace.path(name) for name in ("start.dump", "end.dump", "column.in"))
    write_start(start, positions)
    text = INPUT.replace("START", start).replace("END", end).replace("LAW", LAW).replace("DIAMETER", str(2 * RADIUS))
    text = text.replace("DENSITY", str(DENSITY)).replace("STEPS", str(round(SECONDS / 4e-5)))
    with open(script, "w") as file:
        file.write(text)
    subprocess.run(["lmp", "-in", script, "-screen", "none", "-log", workplace.path("log")], check=True,
                   env={**os.environ, "OMP_NUM_THREADS": "1"}, cwd=workplace.folder)
    with open(end) as file:
        lines = file.read().split("ITEM: ATOMS x y z")[1].split()
    values = [float(value) for value in lines]
    return [values[n:n + 3] for n in range(0, len(values), 3)]


def restitution(workplace):
    """Of two grains in LAMMPS that meet at sqrt(g d)."""
    speed, end, script = (9.81 * 2 * RADIUS) ** 0.5, workplace.path("fastest"), workplace.path("pair.in")
    text = PAIR.replace("END", end).replace("LAW", LAW).replace("DIAMETER", str(2 * RADIUS)).replace("DENSITY", str(DENSITY))
    with open(script, "w") as file:
        file.write(text.replace("SPEED", str(speed / 2)))
    subprocess.run(["lmp", "-in", script, "-screen", "none", "-log", workplace.path("log")], check=True, cwd=workplace.folder)
    with open(end) as file:
        return float(file.read().split()[1]) / (speed / 2)


def profile(positions):
    """Volume of grains by columns of 4 cm, over that of all: a height without its noise; and the run-out, that of 95 % of the grains."""
    bins = [0] * 20
    for x, _, _ in positions:
        bins[min(int(x / 0.04), 19)] += 1
    ordered = sorted(x for x, _, _ in positions)
    return [count / len(positions) for count in bins], ordered[int(0.95 * len(ordered))]


def main():
    if not os.environ.get("WADI_LONG") or shutil.which("lmp") is None:
        print("skipped: needs WADI_LONG=1 and LAMMPS (the command lmp; Debian's package lammps)")
        return 77
    workplace = Workplace(sys.argv[1])
    try:
        bounce = restitution(workplace)
        workplace.run("run", workplace.write("column.yaml", SCENE), "-o", "column.run", "--quiet")
        ours, our_way = profile(read_wadi(workplace, int(24 * SECONDS) + 1))
        theirs, their_way = profile(run_lammps(workplace, read_wadi(workplace, 1)))
    finally:
        workplace.close()
    highest = max(theirs)
    rms = (sum((a - b) ** 2 for a, b in zip(ours, theirs)) / len(ours)) ** 0.5 / highest
    print(f"restitution {RESTITUTION}, LAMMPS {bounce:.4f}")
    print(f"run-out {our_way:.4f} m, LAMMPS {their_way:.4f} m; profile: rms {100 * rms:.2f} % of its height")
    print("ours  ", " ".join(f"{100 * value:.1f}" for value in ours))
    print("theirs", " ".join(f"{100 * value:.1f}" for value in theirs))
    assert abs(bounce / RESTITUTION - 1.0) < 0.03, "restitutions differ by more than 3 %"
    assert abs(our_way / their_way - 1.0) < 0.03, "the run-outs differ by more than 3 %"
    assert rms < 0.03, "the profiles differ by more than 3 % of the height"
    return 0


if __name__ == "__main__":
    sys.exit(main())
