// Prints, a line of JSON for each file, what three.js and TinyUSDZ read of it: sizes and sums of arrays.
import { readFileSync } from 'fs';
import { pathToFileURL } from 'url';
import { USDCParser } from 'three/examples/jsm/loaders/usd/USDCParser.js';

// TinyUSDZ is built for pages: it fetches its wasm.
const folder = pathToFileURL(process.cwd() + '/node_modules/tinyusdz/');
process.type = 'renderer';
globalThis.window = globalThis;
globalThis.fetch = async url => new Response(readFileSync(new URL(String(url).split('/').pop(), folder)),
    { headers: { 'Content-Type': 'application/wasm' } });
const tinyusdz = await (await import('tinyusdz/tinyusdz.js')).default();

const sum = values => Array.from(values).reduce((total, value) => total + value, 0);

function readByThree(bytes) {
    const specs = new USDCParser().parseData(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)).specsByPath;
    const arrays = {};
    for (const [path, spec] of Object.entries(specs)) {
        const samples = spec.fields.timeSamples;
        for (let s = 0; samples && s < samples.times.length; ++s) {
            const isIds = spec.fields.typeName === 'int64[]';  // which three.js does not read
            if (!isIds && samples.values[s]?.length !== undefined && !path.includes('/camera')) {
                arrays[`${path}@${samples.times[s]}`] = [samples.values[s].length, sum(samples.values[s])];
            }
        }
    }
    return { paths: Object.keys(specs).length, arrays };
}

function readByTiny(bytes, name) {
    const loader = new tinyusdz.TinyUSDZLoaderNative();
    if (!loader.loadFromBinary(bytes, name)) {
        throw new Error(`${name}: ${loader.error()}`);
    }
    const meshes = {};
    for (let m = 0; m < loader.numMeshes(); ++m) {
        const mesh = loader.getMesh(m);
        meshes[mesh.absPath] = [mesh.points.length, sum(mesh.points)];
    }
    return meshes;
}

console.warn = () => {};
for (const file of process.argv.slice(2)) {
    const bytes = readFileSync(file);
    const name = file.split('/').pop();
    const tiny = name.includes('.manifest.') ? {} : readByTiny(bytes, name);  // which has no values
    console.log(JSON.stringify({ file, ...readByThree(bytes), tiny }));
}
