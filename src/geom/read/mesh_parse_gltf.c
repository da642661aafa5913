/* glTF 2: the triangles of every node of the scene, transformed. Each node, mesh and accessor is visited
 * once, and a node may have one parent only, so that time and memory are proportional to the size of the
 * file. Axes stay as in the file. Skins and morph targets are left out: the mesh is read in its rest pose. */
#include <math.h>
#include <string.h>

#include "geom/read/mesh_gather.h"
#include "geom/read/mesh_gltf.h"

/* Vertices and corners that repeated meshes may add up to, besides one for every byte of the files. */
enum { COPIES_MAX = 1 << 24 };

typedef enum Mode { TRIANGLES = 4, STRIP = 5, FAN = 6 } Mode;
typedef struct Primitive {
    uint32_t positions, indices; /* accessors; indices may be NONE */
    Mode mode;
} Primitive;

typedef struct Matrix {
    double m[3][4];
} Matrix;

typedef struct Visit {
    uint32_t node;
    Matrix map;
} Visit;

typedef struct Reader {
    WadiMeshGather *gather;
    WadiGltf gltf;
    const WadiJson *json; /* of gltf */
    WadiGltfAccessors accessors;
    WADI_ARRAY(Primitive) primitives;
    WADI_ARRAY(uint32_t) mesh_begin; /* in primitives; one more than there are meshes */
    WADI_ARRAY(uint32_t) nodes;      /* values of the JSON */
    WADI_ARRAY(bool) is_used;        /* of a node: child or root */
    WADI_ARRAY(Visit) stack;
    uint64_t limit; /* of vertices, and of corners */
    int part_count; /* added so far */
} Reader;

static WadiStatus check_accessor(const Reader *reader, uint64_t index, bool is_vector, uint32_t mesh)
{
    const WadiGltfAccessor *accessor =
        index < reader->accessors.count ? &reader->accessors.data[index] : NULL;
    bool is_good =
        accessor != NULL && accessor->data != NULL && (is_vector ? accessor->is_vector : accessor->is_index);
    return is_good
               ? WADI_OK
               : wadi_gather_fail(reader->gather,
                                  "the %s of mesh %u cannot be read: accessor %lld is missing, outside its "
                                  "buffer, sparse or compressed; export without compression, or as PLY",
                                  is_vector ? "positions" : "indices", mesh, (long long)index);
}

static WadiStatus read_primitive(Reader *reader, uint32_t value, uint32_t mesh)
{
    const WadiJson *json = reader->json;
    uint32_t attributes = wadi_json_get(json, value, "attributes");
    uint64_t positions, indices, mode;
    if (!wadi_gltf_whole(reader->json, attributes, "POSITION", UINT64_MAX, &positions) ||
        !wadi_gltf_whole(reader->json, value, "indices", UINT64_MAX, &indices) ||
        !wadi_gltf_whole(reader->json, value, "mode", TRIANGLES, &mode) || mode > FAN) {
        return wadi_gather_fail(reader->gather, "mesh %u is damaged", mesh);
    }
    if (mode < TRIANGLES || positions == UINT64_MAX) {
        return WADI_OK; /* points and lines enclose nothing */
    }
    WADI_TRY(check_accessor(reader, positions, true, mesh));
    Primitive primitive = { .positions = (uint32_t)positions, .indices = WADI_JSON_NONE, .mode = (Mode)mode };
    if (indices != UINT64_MAX) {
        WADI_TRY(check_accessor(reader, indices, false, mesh));
        primitive.indices = (uint32_t)indices;
    }
    return WADI_ARRAY_PUSH(&reader->primitives, primitive, "glTF meshes", reader->gather->error);
}

static WadiStatus read_meshes(Reader *reader)
{
    const WadiJson *json = reader->json;
    uint32_t count, value = wadi_json_begin(reader->json, wadi_json_get(reader->json, 0, "meshes"), &count);
    WADI_TRY(
        WADI_ARRAY_RESERVE(&reader->mesh_begin, count + (size_t)1, "glTF meshes", reader->gather->error));
    for (uint32_t i = 0; i < count; ++i, value = json->values[value].next) {
        uint32_t primitive_count;
        uint32_t primitive =
            wadi_json_begin(json, wadi_json_get(json, value, "primitives"), &primitive_count);
        reader->mesh_begin.data[reader->mesh_begin.count++] = (uint32_t)reader->primitives.count;
        for (uint32_t k = 0; k < primitive_count; ++k, primitive = json->values[primitive].next) {
            WADI_TRY(read_primitive(reader, primitive, i));
        }
    }
    reader->mesh_begin.data[reader->mesh_begin.count++] = (uint32_t)reader->primitives.count;
    return WADI_OK;
}

static WadiStatus read_nodes(Reader *reader)
{
    uint32_t count, value = wadi_json_begin(reader->json, wadi_json_get(reader->json, 0, "nodes"), &count);
    WADI_TRY(WADI_ARRAY_RESERVE(&reader->nodes, count, "glTF nodes", reader->gather->error));
    WADI_TRY(WADI_ARRAY_RESERVE(&reader->is_used, count, "glTF nodes", reader->gather->error));
    for (uint32_t i = 0; i < count; ++i, value = reader->json->values[value].next) {
        reader->nodes.data[reader->nodes.count++] = value;
        reader->is_used.data[reader->is_used.count++] = false;
    }
    return WADI_OK;
}

static WadiStatus check_limit(const Reader *reader, uint64_t count)
{
    const WadiMeshGather *gather = reader->gather;
    return count <= reader->limit && gather->vertices.count <= reader->limit - count &&
                   gather->corners.count <= reader->limit - count
               ? WADI_OK
               : wadi_gather_fail(gather,
                                  "its nodes repeat meshes to more than %llu corners: simplify the scene",
                                  (unsigned long long)reader->limit);
}

static WadiStatus add_positions(Reader *reader, const WadiGltfAccessor *accessor, const Matrix *map)
{
    WADI_TRY(check_limit(reader, accessor->count));
    const uint64_t step = accessor->step;
    for (uint64_t i = 0; i < accessor->count; ++i) {
        const unsigned char *at = accessor->data + i * accessor->stride;
        double x = wadi_gltf_component(accessor, at), y = wadi_gltf_component(accessor, at + step),
               z = wadi_gltf_component(accessor, at + 2 * step), p[3];
        for (int k = 0; k < 3; ++k) {
            p[k] = map->m[k][0] * x + map->m[k][1] * y + map->m[k][2] * z + map->m[k][3];
        }
        WADI_TRY(wadi_gather_vertex(reader->gather, (WadiVec3){ p[0], p[1], p[2] }));
    }
    return WADI_OK;
}

/* A mirrored node turns its triangles inside out; glTF wants them turned back. */
static bool is_mirrored(const Matrix *map)
{
    const double(*m)[4] = map->m;
    WadiVec3 a = { m[0][0], m[1][0], m[2][0] }, b = { m[0][1], m[1][1], m[2][1] },
             c = { m[0][2], m[1][2], m[2][2] };
    return wadi_dot(wadi_cross(a, b), c) < 0.0;
}

static WadiStatus add_triangles(Reader *reader, const Primitive *primitive, size_t base,
                                uint64_t vertex_count)
{
    WadiMeshGather *gather = reader->gather;
    const WadiGltfAccessor *indices =
        primitive->indices != WADI_JSON_NONE ? &reader->accessors.data[primitive->indices] : NULL;
    uint64_t count = indices != NULL ? indices->count : vertex_count;
    WADI_TRY(check_limit(reader, count));
    for (uint64_t i = 0; i < count; ++i) {
        double found =
            indices != NULL ? wadi_gltf_component(indices, indices->data + i * indices->stride) : (double)i;
        uint64_t index = (uint64_t)found;
        if (index >= vertex_count) {
            return wadi_gather_fail(gather, "a triangle names vertex %llu, but its part has only %llu",
                                    (unsigned long long)index, (unsigned long long)vertex_count);
        }
        WADI_TRY(wadi_gather_corner(gather, (int64_t)(base + index)));
        uint32_t *v = gather->polygon.data;
        size_t have = gather->polygon.count;
        if (primitive->mode != STRIP && have == 3) {
            WADI_TRY(wadi_gather_triangle(gather, v[0], v[1], v[2]));
            v[1] = v[2]; /* the next triangle of a fan */
            gather->polygon.count = primitive->mode == FAN ? 2 : 0;
        }
    }
    if (primitive->mode == STRIP) {
        WADI_TRY(wadi_gather_strip(gather));
    }
    gather->polygon.count = 0;
    return WADI_OK;
}

static WadiStatus add_mesh(Reader *reader, uint64_t mesh, const Matrix *map)
{
    if (mesh + 1 >= reader->mesh_begin.count) {
        return wadi_gather_fail(reader->gather, "a node names mesh %llu, which is not there",
                                (unsigned long long)mesh);
    }
    WadiMeshGather *gather = reader->gather;
    size_t base = 0, first_corner = gather->corners.count;
    uint32_t positions = WADI_JSON_NONE;
    for (uint32_t i = reader->mesh_begin.data[mesh]; i < reader->mesh_begin.data[mesh + 1]; ++i) {
        const Primitive *primitive = &reader->primitives.data[i];
        const WadiGltfAccessor *accessor = &reader->accessors.data[primitive->positions];
        if (primitive->positions != positions) { /* parts of several materials often share them */
            positions = primitive->positions;
            base = gather->vertices.count;
            WADI_TRY(add_positions(reader, accessor, map));
        }
        WADI_TRY(add_triangles(reader, primitive, base, accessor->count));
        if (++reader->part_count > COPIES_MAX) { /* empty parts, too, take time */
            return wadi_gather_fail(gather, "its nodes repeat more than %d parts", COPIES_MAX);
        }
    }
    for (size_t c = first_corner; c < gather->corners.count && is_mirrored(map); c += 3) {
        uint32_t swapped = gather->corners.data[c + 1];
        gather->corners.data[c + 1] = gather->corners.data[c + 2];
        gather->corners.data[c + 2] = swapped;
    }
    return WADI_OK;
}

/* `count` numbers of an array; those that are missing stay as they are. false when it is no such array. */
static bool numbers_of(const Reader *reader, uint32_t object, const char *key, uint32_t count, double *number)
{
    uint32_t array = wadi_json_get(reader->json, object, key), have;
    uint32_t value = wadi_json_begin(reader->json, array, &have);
    bool is_good = array == WADI_JSON_NONE || have == count;
    for (uint32_t i = 0; i < have && is_good; ++i, value = reader->json->values[value].next) {
        is_good = wadi_json_number(reader->json, value, &number[i]);
    }
    return is_good;
}

/* The local transform of a node: a matrix in columns, or translation * rotation * scale. */
static WadiStatus node_matrix(const Reader *reader, uint32_t node, Matrix *map)
{
    double m[16] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
    double t[3] = { 0, 0, 0 }, q[4] = { 0, 0, 0, 1 }, s[3] = { 1, 1, 1 };
    if (!numbers_of(reader, node, "matrix", 16, m) || !numbers_of(reader, node, "translation", 3, t) ||
        !numbers_of(reader, node, "rotation", 4, q) || !numbers_of(reader, node, "scale", 3, s)) {
        return wadi_gather_fail(reader->gather,
                                "the matrix, translation, rotation or scale of a node is damaged");
    }
    if (wadi_json_get(reader->json, node, "matrix") != WADI_JSON_NONE) {
        for (int i = 0; i < 12; ++i) {
            map->m[i / 4][i % 4] = m[4 * (i % 4) + i / 4];
        }
        return WADI_OK;
    }
    double squared = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    double f = squared > 0.0 ? 2.0 / squared : 0.0;
    double x = q[0], y = q[1], z = q[2], w = q[3];
    const double r[3][3] = {
        { 1.0 - f * (y * y + z * z), f * (x * y - w * z), f * (x * z + w * y) },
        { f * (x * y + w * z), 1.0 - f * (x * x + z * z), f * (y * z - w * x) },
        { f * (x * z - w * y), f * (y * z + w * x), 1.0 - f * (x * x + y * y) },
    };
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            map->m[i][k] = r[i][k] * s[k];
        }
        map->m[i][3] = t[i];
    }
    return WADI_OK;
}

static Matrix multiply(const Matrix *a, const Matrix *b)
{
    Matrix out;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 4; ++k) {
            out.m[i][k] = k == 3 ? a->m[i][3] : 0.0;
            for (int l = 0; l < 3; ++l) {
                out.m[i][k] += a->m[i][l] * b->m[l][k];
            }
        }
    }
    return out;
}

/* Nodes of an array onto the stack, the last one first, so that they are visited in the order of the file. */
static WadiStatus push_nodes(Reader *reader, uint32_t array, const Matrix *map)
{
    uint32_t count, value = wadi_json_begin(reader->json, array, &count);
    size_t base = reader->stack.count;
    WADI_TRY(WADI_ARRAY_RESERVE(&reader->stack, base + count, "glTF nodes", reader->gather->error));
    for (uint32_t i = 0; i < count; ++i, value = reader->json->values[value].next) {
        uint64_t node;
        if (!wadi_json_whole(reader->json, value, UINT64_MAX, &node) || node >= reader->nodes.count) {
            return wadi_gather_fail(reader->gather, "a node names a child that is not there");
        }
        if (reader->is_used.data[node]) {
            return wadi_gather_fail(reader->gather, "node %llu has two parents, or is its own ancestor",
                                    (unsigned long long)node);
        }
        reader->is_used.data[node] = true;
        reader->stack.data[base + count - 1 - i] = (Visit){ (uint32_t)node, *map };
    }
    reader->stack.count = base + count;
    return WADI_OK;
}

/* The nodes of the scene; without one, those that are children of no node. */
static WadiStatus push_roots(Reader *reader)
{
    const WadiJson *json = reader->json;
    const Matrix identity = { { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } } };
    uint64_t wanted;
    uint32_t count, value = wadi_json_begin(reader->json, wadi_json_get(reader->json, 0, "scenes"), &count);
    if (!wadi_gltf_whole(reader->json, 0, "scene", 0, &wanted) || (count > 0 && wanted >= count)) {
        return wadi_gather_fail(reader->gather, "its scene is not there");
    }
    for (uint64_t i = 0; i < wanted && count > 0; ++i) {
        value = json->values[value].next;
    }
    if (count > 0) {
        return push_nodes(reader, wadi_json_get(json, value, "nodes"), &identity);
    }
    for (size_t i = 0; i < reader->nodes.count; ++i) {
        uint32_t children;
        uint32_t child =
            wadi_json_begin(json, wadi_json_get(json, reader->nodes.data[i], "children"), &children);
        for (uint32_t k = 0; k < children; ++k, child = json->values[child].next) {
            uint64_t node;
            if (wadi_json_whole(json, child, UINT64_MAX, &node) && node < reader->nodes.count) {
                reader->is_used.data[node] = true;
            }
        }
    }
    for (size_t i = reader->nodes.count; i-- > 0;) {
        if (!reader->is_used.data[i]) {
            const Visit visit = { (uint32_t)i, identity };
            WADI_TRY(WADI_ARRAY_PUSH(&reader->stack, visit, "glTF nodes", reader->gather->error));
        }
    }
    for (size_t i = 0; i < reader->nodes.count; ++i) {
        reader->is_used.data[i] = false;
    }
    return WADI_OK;
}

static WadiStatus add_nodes(Reader *reader)
{
    WADI_TRY(push_roots(reader));
    while (reader->stack.count > 0) {
        const Visit visit = reader->stack.data[--reader->stack.count];
        uint32_t node = reader->nodes.data[visit.node];
        uint64_t mesh;
        Matrix own = { 0 }, map;
        WADI_TRY(node_matrix(reader, node, &own));
        map = multiply(&visit.map, &own);
        if (!wadi_gltf_whole(reader->json, node, "mesh", UINT64_MAX, &mesh)) {
            return wadi_gather_fail(reader->gather, "node %u is damaged", visit.node);
        }
        WADI_TRY(mesh != UINT64_MAX ? add_mesh(reader, mesh, &map) : WADI_OK);
        WADI_TRY(push_nodes(reader, wadi_json_get(reader->json, node, "children"), &map));
    }
    return WADI_OK;
}

/* Extensions whose geometry this reader does not support. */
static WadiStatus check_extensions(const Reader *reader)
{
    static const char *const unread[] = { "KHR_draco_mesh_compression", "EXT_meshopt_compression",
                                          "EXT_mesh_gpu_instancing" };
    const WadiJson *json = reader->json;
    uint32_t count, value = wadi_json_begin(json, wadi_json_get(json, 0, "extensionsRequired"), &count);
    for (uint32_t i = 0; i < count; ++i, value = json->values[value].next) {
        char name[64] = "";
        (void)wadi_json_string(json, value, name, sizeof name);
        for (size_t k = 0; k < sizeof unread / sizeof *unread; ++k) {
            if (strcmp(name, unread[k]) == 0) {
                return wadi_gather_fail(
                    reader->gather,
                    "needs the extension %s, which is not read: export it without compression "
                    "and instancing",
                    name);
            }
        }
    }
    return WADI_OK;
}

static WadiStatus read_all(Reader *reader, const char *path)
{
    WADI_TRY(check_extensions(reader));
    WADI_TRY(wadi_gltf_accessors_read(&reader->accessors, &reader->gltf, path, reader->gather->error));
    for (size_t i = 0; i < reader->accessors.buffer_count; ++i) {
        reader->limit += reader->accessors.buffers[i].owned.size;
    }
    WADI_TRY(read_meshes(reader));
    WADI_TRY(read_nodes(reader));
    return add_nodes(reader);
}

WadiStatus wadi_mesh_parse_gltf(WadiMeshGather *gather, const unsigned char *bytes, size_t size,
                                const char *path)
{
    Reader reader = { .gather = gather, .limit = COPIES_MAX + (uint64_t)size };
    WADI_TRY(wadi_gltf_open(&reader.gltf, bytes, size, gather->name, gather->error));
    reader.json = &reader.gltf.json;
    WadiStatus status = read_all(&reader, path);
    wadi_gltf_accessors_free(&reader.accessors);
    WADI_ARRAY_FREE(&reader.primitives);
    WADI_ARRAY_FREE(&reader.mesh_begin);
    WADI_ARRAY_FREE(&reader.nodes);
    WADI_ARRAY_FREE(&reader.is_used);
    WADI_ARRAY_FREE(&reader.stack);
    wadi_gltf_close(&reader.gltf);
    return status;
}
