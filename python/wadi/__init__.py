"""wadi: sand and water simulation for computer animation.

    import wadi

    scene = wadi.Scene("column.yaml", {"resolution": 64})       # or a dict
    sim = scene.simulate()                                      # in memory
    for frame in sim:
        z, v = frame["position"].z, frame["velocity"]           # numpy, without copies, until the next step
        print(frame.number, z.max(), v.norm().mean())
    sim.surface("sand").save("sand.ply")

    run = wadi.run(scene, "column.run", resume=True, progress=print)   # a folder, as the command makes it
    run[10]["position"].xyz                                     # frames are read when they are used
    run.render(quality="draft", size=(640, 360))

    wadi.Points(xyz, radius=0.01).surface().save("mine.ply")    # the surface of anyone's particles

Scene, Simulation, Run, Points and Mesh have the details; errors are the exceptions of wadi.errors.
SI units, z up. A scene's keys: docs/scene-reference.md.
"""

from ._library import version as _version
from ._progress import Progress
from .arrays import Particles, Vector, View
from .errors import (ArgumentError, BusyError, Error, FileError, FormatError, InternalError, NumericError,
                     OutOfMemoryError, SceneError, StaleError, Stopped, UnsupportedError)
from .meshes import Mesh, Points
from .runs import Made, Run, RunFrame, run
from .scene import Estimate, Scene, schema
from .shapes import box, capsule, cylinder, difference, mesh, sphere, union
from .simulation import Frame, Simulation, SolidForce

__version__ = _version()

__all__ = ['ArgumentError', 'BusyError', 'Error', 'Estimate', 'FileError', 'FormatError', 'Frame', 'InternalError',
           'Made', 'Mesh', 'NumericError', 'OutOfMemoryError', 'Particles', 'Points', 'Progress', 'Run', 'RunFrame',
           'Scene', 'SceneError', 'Simulation', 'SolidForce', 'StaleError', 'Stopped', 'UnsupportedError', 'Vector',
           'View', 'box', 'capsule', 'cylinder', 'difference', 'mesh', 'run', 'schema', 'sphere', 'union']
