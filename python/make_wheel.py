#!/usr/bin/env python3
"""Makes a wheel of the Python package and the library: make_wheel.py LIBRARY FOLDER [--alone] [--try].

The wheel has the package, the interface made from the headers, the library (and beside it, in
the folder glibc-hwcaps/x86-64-v3, that for processors with AVX2), and the libraries that these need, except those that
every Linux of the tag has. --alone: without them, for machines that have them installed.
--try: installs it with pip into an empty virtual environment, beside numpy of the system, and simulates. Prints
the path.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

import make_abi

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
# Of glibc and gcc: the tag promises them. The others are carried.
OF_THE_SYSTEM = re.compile(r'(ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libgcc_s|libstdc\+\+)\.so.*')
FIRST_TIME = (1980, 1, 1, 0, 0, 0)


def version():
    text = (ROOT / 'include/wadi/base.h').read_text()
    return '.'.join(re.search(rf'WADI_VERSION_{part} (\d+)', text)[1] for part in ('MAJOR', 'MINOR', 'PATCH'))


def needed(library):
    """Paths of the libraries that one needs, each behind those that it needs itself."""
    out = subprocess.run(['ldd', library], check=True, capture_output=True, text=True).stdout
    missing = re.findall(r'(\S+) => not found', out)
    if missing:
        sys.exit(f'make_wheel: {library} needs {", ".join(missing)}, which are not there')
    paths = {}
    for name, path in re.findall(r'(\S+) => (/\S+)', out):
        if not OF_THE_SYSTEM.fullmatch(name):
            paths[name] = pathlib.Path(path)
    order = []

    def add(name):
        if name in order:
            return
        text = subprocess.run(['ldd', paths[name]], check=True, capture_output=True, text=True).stdout
        for other in re.findall(r'(\S+) => /', text):
            if other in paths and other != name and other not in order:
                add(other)
        order.append(name)

    for name in sorted(paths):
        add(name)
    return [(name, paths[name]) for name in order]


def tag():
    glibc = os.confstr('CS_GNU_LIBC_VERSION').split()[1].replace('.', '_')
    return f'py3-none-manylinux_{glibc}_{platform.machine()}'


def metadata():
    readme = (ROOT / 'docs/python.md').read_text()
    return (f'Metadata-Version: 2.1\nName: wadi\nVersion: {version()}\n'
            'Summary: Sand and water simulation for computer animation\nLicense: MIT\n'
            'Requires-Python: >=3.9\nRequires-Dist: numpy>=1.24\n'
            'Description-Content-Type: text/markdown\n\n' + readme)


def make(library, folder, alone=False):
    library, folder = pathlib.Path(library).resolve(), pathlib.Path(folder)
    name = f'wadi-{version()}'
    info = f'{name}.dist-info'
    path = folder / f'{name}-{tag()}.whl'
    files = {f'wadi/{p.name}': p.read_bytes() for p in sorted((HERE / 'wadi').iterdir())
             if p.suffix == '.py' or p.name == 'py.typed'}
    files['wadi/_abi.py'] = make_abi.make(ROOT / 'include/wadi').encode()
    files['wadi/lib/libwadi.so'] = library.read_bytes()
    faster = library.parent / 'glibc-hwcaps/x86-64-v3' / library.name
    if faster.exists():
        files['wadi/lib/x86-64-v3/libwadi.so'] = faster.resolve().read_bytes()
    carried = [] if alone else needed(library)
    for soname, source in carried:
        files[f'wadi/lib/{soname}'] = source.read_bytes()
    if carried:
        files['wadi/lib/order.txt'] = ''.join(f'{soname}\n' for soname, _ in carried).encode()
    files[f'{info}/METADATA'] = metadata().encode()
    files[f'{info}/LICENSE'] = (ROOT / 'LICENSE').read_bytes()
    files[f'{info}/WHEEL'] = (f'Wheel-Version: 1.0\nGenerator: wadi make_wheel\nRoot-Is-Purelib: false\n'
                              f'Tag: {tag()}\n').encode()
    rows = []
    for file, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
        rows.append(f'{file},sha256={digest},{len(content)}')
    files[f'{info}/RECORD'] = ('\n'.join([*rows, f'{info}/RECORD,,']) + '\n').encode()
    folder.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix('.tmp')
    with zipfile.ZipFile(temporary, 'w', zipfile.ZIP_DEFLATED, compresslevel=1 if alone else 6) as wheel:
        for file, content in files.items():
            entry = zipfile.ZipInfo(file, FIRST_TIME)
            entry.external_attr = (0o755 if '.so' in file else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    temporary.rename(path)
    return path


TRIAL = """
import wadi
scene = wadi.Scene({'wadi': 1, 'solver': 'flip', 'cell_size': 0.1, 'frames': 3, 'materials': {'water': {'kind': 'water'}},
                    'domain': {'min': [0, 0, 0], 'max': [1, 1, 1]},
                    'bodies': [{'material': 'water', 'shape': wadi.box([0, 0, 0], [0.5, 1, 0.5])}]})
sim = scene.simulate()
for frame in sim:
    pass
assert sim['position'].x.max() > 0.5 and len(sim.surface('water')) > 0
print('tried:', sim, wadi.__file__)
"""


def try_wheel(path):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, '-m', 'venv', '--system-site-packages', folder], check=True)
        python = pathlib.Path(folder) / 'bin/python'
        subprocess.run([python, '-m', 'pip', 'install', '--quiet', '--no-index', path.resolve()], check=True)
        subprocess.run([python, '-c', TRIAL], check=True, cwd=folder)


if __name__ == '__main__':
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('library', metavar='LIBRARY')
    arguments.add_argument('folder', metavar='FOLDER')
    arguments.add_argument('--alone', action='store_true', help='without the libraries that it needs')
    arguments.add_argument('--try', dest='is_tried', action='store_true', help='in an empty virtual environment')
    given = arguments.parse_args()
    made = make(given.library, given.folder, given.alone)
    if given.is_tried:
        try_wheel(made)
    print(made)
