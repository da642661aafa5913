#!/usr/bin/env python3
"""Makes packages of wadi in build/packages: package.py KIND... of

deb     for Debian and its relatives, by the package manager of the machine it is made on
tar     a folder that runs from anywhere, with every library but the C library's own
image   an OCI image (podman load -i, docker load -i after skopeo, …) with nothing in it but wadi, ffmpeg and what they need
npm     the page of the view with the solver inside it, for web projects (make web is run first)

The same sources give the same bytes of tar, image and npm on the same machine.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'python'))
import make_wheel  # noqa: E402  pylint: disable=wrong-import-position

BUILD = ROOT / 'build/portable'
FOLDER = ROOT / 'build/packages'
MACHINES = {'x86_64': 'amd64', 'aarch64': 'arm64'}
VERSION = make_wheel.version()


def fail(text):
    sys.exit(f'package: {text}')


def command(*words, **options):
    if subprocess.run([str(word) for word in words], check=False, **options).returncode != 0:
        fail(f'{" ".join(str(word) for word in words)} failed')


def needs(*programs):
    for program in programs:
        if shutil.which(program) is None:
            fail(f'{program} is not installed (tools/setup.sh package installs it)')


def build():
    command(ROOT / 'tools/build.sh', 'portable', 'wadi_cli', 'wadi_static', 'wadi_shared', stdout=subprocess.DEVNULL)


def is_program(path):
    with path.open('rb') as file:
        return file.read(4) == b'\x7fELF'


def carry(libraries, folder, origin):
    """Copies libraries of the system into a folder, where they find each other."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in libraries:
        if not (folder / name).exists():
            shutil.copy(source.resolve(), folder / name)
            (folder / name).chmod(0o755)
            command('patchelf', '--set-rpath', origin, folder / name)


def copyrights(sources, folder):
    """The licences of the Debian packages that files are of."""
    for source in sources:
        for path in (source, source.resolve(), pathlib.Path(re.sub('^/usr', '', str(source.resolve())))):
            out = subprocess.run(['dpkg', '-S', path], capture_output=True, text=True, check=False).stdout
            package = out.split(':')[0]
            text = pathlib.Path(f'/usr/share/doc/{package}/copyright')
            if package and text.exists():
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy(text, folder / f'{package}.copyright')
                break


def stage(folder):
    """What make install installs, with the libraries that it needs; runs wherever it lies."""
    needs('patchelf', 'strip')
    build()
    shutil.rmtree(folder, ignore_errors=True)
    command('cmake', '--install', BUILD, '--prefix', folder, '--strip', stdout=subprocess.DEVNULL)
    programs = [path for path in sorted(folder.rglob('*')) if path.is_file() and not path.is_symlink() and is_program(path)]
    private = folder / 'lib/wadi/system'
    carried = {}
    for path in programs:
        carried.update(dict((name, source) for name, source in make_wheel.needed(path)
                            if not name.startswith('libwadi')))
    carried = sorted(carried.items())
    # The C++ library too: the module for OpenVDB and Embree are of the machine's compiler.
    carry(carried, private, '$ORIGIN')
    for path in programs:
        up = os.path.relpath(private, path.parent)
        own = os.path.relpath(folder / 'lib', path.parent)
        command('patchelf', '--set-rpath', f'$ORIGIN/{own}:$ORIGIN/{up}', path)
    copyrights([source for _, source in carried], folder / 'share/doc/wadi/licenses')


def entry(name, data=None, mode=0o644, kind=tarfile.REGTYPE, link=''):
    """A member of an archive that says nothing of when and by whom it was made, and its content."""
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.linkname, info.size = kind, mode, link, len(data or b'')
    return info, io.BytesIO(data) if data is not None else None


def add_tree(archive, folder, prefix):
    for path in [folder, *sorted(folder.rglob('*'))]:
        name = os.path.normpath(f'{prefix}/{path.relative_to(folder)}').lstrip('/')
        if path.is_symlink():
            archive.addfile(*entry(name, kind=tarfile.SYMTYPE, mode=0o777, link=os.readlink(path)))
        elif path.is_dir():
            archive.addfile(*entry(name, kind=tarfile.DIRTYPE, mode=0o755))
        else:
            is_run = bool(path.stat().st_mode & 0o100)
            archive.addfile(*entry(name, path.read_bytes(), 0o755 if is_run else 0o644))


def write_gzip(path, data):
    with path.open('wb') as file, gzip.GzipFile(filename='', mode='wb', fileobj=file, compresslevel=6, mtime=0) as packed:
        packed.write(data)


def make_deb():
    needs('cpack', 'dpkg-shlibdeps')
    build()
    work = FOLDER / 'deb'
    shutil.rmtree(work, ignore_errors=True)
    command('cpack', '--config', BUILD / 'CPackConfig.cmake', '-B', work, stdout=subprocess.DEVNULL)
    (made,) = work.glob('*.deb')
    path = FOLDER / made.name
    made.replace(path)
    shutil.rmtree(work)
    return path


def make_tar():
    name = f'wadi-{VERSION}-linux-{platform.machine()}'
    folder = FOLDER / name
    stage(folder)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode='w', format=tarfile.PAX_FORMAT) as archive:
        add_tree(archive, folder, name)
    write_gzip(FOLDER / f'{name}.tar.gz', buffer.getvalue())
    shutil.rmtree(folder)
    return FOLDER / f'{name}.tar.gz'


def loader_of(program):
    """The loader that a program names, and the libraries of the C library that it and the others need."""
    out = subprocess.run(['ldd', program], check=True, capture_output=True, text=True).stdout
    paths = [pathlib.Path(path) for path in re.findall(r'(?:=> |^\s*)(/\S+) \(', out, re.M)]
    return [path for path in paths if make_wheel.OF_THE_SYSTEM.fullmatch(path.name)]


def image_root(archive, folder):
    """The files of the image: /opt/wadi, the C library where programs look for it, and folders to work in."""
    for name in ('dev', 'etc', 'lib64', 'opt', 'proc', 'sys', 'tmp', 'data'):
        archive.addfile(*entry(name, kind=tarfile.DIRTYPE, mode=0o1777 if name in ('tmp', 'data') else 0o755))
    archive.addfile(*entry('etc/passwd', b'root:x:0:0:root:/data:/opt/wadi/bin/wadi\n'))
    add_tree(archive, folder, 'opt/wadi')
    system = set()
    for path in sorted(folder.rglob('*')):
        if path.is_file() and not path.is_symlink() and is_program(path):
            system.update(loader_of(path))
    for path in sorted(system):
        archive.addfile(*entry(str(path).lstrip('/'), path.read_bytes(), 0o755))


def make_image():
    folder = FOLDER / 'image'
    stage(folder)
    ffmpeg = shutil.which('ffmpeg')
    if ffmpeg is not None:
        shutil.copy(pathlib.Path(ffmpeg).resolve(), folder / 'bin/ffmpeg')
        carry(make_wheel.needed(ffmpeg), folder / 'lib/wadi/system', '$ORIGIN')
        command('patchelf', '--set-rpath', '$ORIGIN/../lib/wadi/system', folder / 'bin/ffmpeg')
        copyrights([pathlib.Path(ffmpeg), *(source for _, source in make_wheel.needed(ffmpeg))],
                   folder / 'share/doc/wadi/licenses')
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode='w', format=tarfile.PAX_FORMAT) as archive:
        image_root(archive, folder)
    shutil.rmtree(folder)
    layer = buffer.getvalue()
    packed = gzip.compress(layer, 6, mtime=0)
    config = json.dumps({
        'architecture': MACHINES[platform.machine()], 'os': 'linux',
        'config': {'Entrypoint': ['/opt/wadi/bin/wadi'], 'Cmd': ['--help'], 'WorkingDir': '/data',
                   'Env': ['PATH=/opt/wadi/bin', 'HOME=/data', 'LANG=C.UTF-8'],
                   'Labels': {'org.opencontainers.image.title': 'wadi', 'org.opencontainers.image.version': VERSION,
                              'org.opencontainers.image.licenses': 'MIT'}},
        'rootfs': {'type': 'layers', 'diff_ids': [f'sha256:{hashlib.sha256(layer).hexdigest()}']},
        'history': [{'created_by': 'tools/package.py image'}]}).encode()
    path = FOLDER / f'wadi-{VERSION}-{MACHINES[platform.machine()]}.oci.tar'
    write_oci(path, config, packed)
    return path


def write_oci(path, config, layer):
    """An archive of the layout of the Open Container Initiative: blobs by their digest, and an index."""
    blobs = {}

    def blob(kind, data):
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {'mediaType': f'application/vnd.oci.image.{kind}', 'digest': f'sha256:{digest}', 'size': len(data)}

    manifest = {'schemaVersion': 2, 'mediaType': 'application/vnd.oci.image.manifest.v1+json',
                'config': blob('config.v1+json', config), 'layers': [blob('layer.v1.tar+gzip', layer)]}
    top = blob('manifest.v1+json', json.dumps(manifest).encode())
    top['annotations'] = {'org.opencontainers.image.ref.name': f'wadi:{VERSION}'}
    with tarfile.open(path, 'w', format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(*entry('oci-layout', b'{"imageLayoutVersion": "1.0.0"}'))
        archive.addfile(*entry('index.json', json.dumps({'schemaVersion': 2, 'manifests': [top]}).encode()))
        for digest, data in sorted(blobs.items()):
            archive.addfile(*entry(f'blobs/sha256/{digest}', data))


PAGE_README = """# wadi-page

Sand and water in a web page: the view of wadi with its solver inside, as WebAssembly. Copy the files of this package to a
folder of a web host, or frame `index.html`:

    npx serve node_modules/wadi-page

It uses all cores where the host sends the headers of `_headers` (Cross-Origin-Opener-Policy: same-origin,
Cross-Origin-Embedder-Policy: require-corp), and one core elsewhere.
"""


def make_npm():
    needs('npm')
    command(ROOT / 'tools/web.sh', stdout=subprocess.DEVNULL)
    files = {f'package/{path.name}': path.read_bytes() for path in sorted((ROOT / 'build/web').iterdir())}
    files['package/README.md'] = PAGE_README.encode()
    files['package/LICENSE'] = (ROOT / 'LICENSE').read_bytes()
    files['package/package.json'] = (json.dumps(
        {'name': 'wadi-page', 'version': VERSION, 'license': 'MIT',
         'description': 'Sand and water in a web page: the view of wadi with its solver inside',
         'keywords': ['simulation', 'sand', 'water', 'fluid', 'wasm'], 'main': 'app.js',
         'files': sorted(name.split('/', 1)[1] for name in files)}, indent=2) + '\n').encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode='w', format=tarfile.PAX_FORMAT) as archive:
        for name, data in sorted(files.items()):
            archive.addfile(*entry(name, data))
    path = FOLDER / f'wadi-page-{VERSION}.tgz'
    write_gzip(path, buffer.getvalue())
    return path


KINDS = {'deb': make_deb, 'tar': make_tar, 'image': make_image, 'npm': make_npm}

if __name__ == '__main__':
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('kinds', metavar='KIND', nargs='+', choices=KINDS)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for kind in arguments.parse_args().kinds:
        made_path = KINDS[kind]()
        print(f'{made_path.relative_to(ROOT)}  {made_path.stat().st_size / 1e6:.1f} MB')
