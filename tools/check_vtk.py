#!/usr/bin/python3
"""Open a run folder's series the way ParaView does and compare every value with the frame files.

usage: check_vtk.py RUN        exit 0 equal, 1 different, 77 when VTK's XDMF readers or h5py are not installed

Both readers that ParaView offers are tried, vtkXdmf3Reader and the older vtkXdmfReader. Debian has them in
python3-paraview, not in python3-vtk9.
"""
import glob
import os
import sys

try:
    import h5py
    import numpy
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkObject
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline
    from vtkmodules.vtkIOXdmf2 import vtkXdmfReader
    from vtkmodules.vtkIOXdmf3 import vtkXdmf3Reader
except ImportError as problem:
    print(f"skipped: {problem}; install python3-paraview and python3-h5py")
    sys.exit(77)


def check(reader, index, files):
    """Number of values compared; raises AssertionError with the place of the first difference."""
    reader.SetFileName(index)
    reader.UpdateInformation()
    info = reader.GetOutputInformation(0)
    key = Pipeline.TIME_STEPS()
    times = [info.Get(key, i) for i in range(info.Length(key))] if info.Has(key) else []
    assert len(times) == len(files), f"{len(times)} steps, {len(files)} frame files"
    compared = 0
    for time, path in zip(times, files):
        with h5py.File(path, "r") as file:
            particles = file["particles"]
            assert time == file.attrs["time"], f"{path}: time {time}, in the file {file.attrs['time']}"
            count = len(particles["position"])
            if count == 0 and reader.IsA("vtkXdmfReader"):
                continue  # correctly shows nothing, but prints errors
            reader.UpdateTimeStep(time)
            grid = reader.GetOutputDataObject(0)
            assert grid.GetNumberOfPoints() == count, f"{path}: {grid.GetNumberOfPoints()} points, not {count}"
            assert grid.GetNumberOfCells() == count, f"{path}: {grid.GetNumberOfCells()} vertices, not {count}"
            for i in {0, count // 2, count - 1} if count else ():
                cell = grid.GetCell(i)
                assert cell.GetNumberOfPoints() == 1 and cell.GetPointId(0) == i, f"{path}: vertex {i} is wrong"
            for name, dataset in particles.items():
                if count == 0 or len(dataset) != count or dataset.dtype == numpy.uint64:
                    continue  # not in the index: docs/formats.md
                array = grid.GetPoints().GetData() if name == "position" else grid.GetPointData().GetArray(name)
                assert array is not None, f"{path}: no attribute {name}"
                values, wanted = vtk_to_numpy(array), dataset[:]
                assert values.dtype == wanted.dtype, f"{path}: {name} is {values.dtype}, not {wanted.dtype}"
                assert numpy.array_equal(values, wanted), f"{path}: {name} differs"
                compared += wanted.size
    return compared


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip().split("\n")[2])
        return 2
    folder = os.path.join(sys.argv[1], "particles")
    indices = glob.glob(os.path.join(glob.escape(folder), "*.xdmf"))
    if len(indices) != 1:
        print(f"{folder}: {len(indices)} XDMF files, expected 1")
        return 1
    index = indices[0]
    files = glob.glob(glob.escape(index[: -len(".xdmf")]) + ".*.h5")
    files.sort(key=lambda path: int(path.split(".")[-2]))
    vtkObject.GlobalWarningDisplayOff()
    try:
        compared = [check(make(), index, files) for make in (vtkXdmf3Reader, vtkXdmfReader)]
    except AssertionError as difference:
        print(f"{index}: {difference}")
        return 1
    print(f"{index}: {len(files)} steps, {compared[0]} values equal in vtkXdmf3Reader, {compared[1]} in vtkXdmfReader")
    return 0


sys.exit(main())
