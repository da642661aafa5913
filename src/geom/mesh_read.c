/* Mesh files through assimp: every triangle of every node, placed, with vertices of equal position made one.
 * assimp joins vertices only within one part and only where all attributes agree; a solid needs positions alone. */
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/alloc.h"
#include "core/array.h"
#include "core/hash.h"
#include "geom/mesh.h"
#include "geom/mesh_header.h"

static const size_t file_bytes_max = (size_t)1 << 32;
static const double coordinate_max = 1e12; /* m; squares of it still fit Embree's floats */
enum { NODE_DEPTH_MAX = 256 };

typedef struct Gather {
    WADI_ARRAY(WadiVec3) vertices;
    WADI_ARRAY(uint32_t) corners;
    const struct aiScene *scene;
    const char *name;
    WadiError *error;
} Gather;

static WadiStatus add_part(Gather *gather, const struct aiMesh *part, const struct aiMatrix4x4 *map)
{
    WadiError *error = gather->error;
    size_t base = gather->vertices.count;
    if (part->mNumVertices > UINT32_MAX - base ||
        gather->corners.count + 3 * (size_t)part->mNumFaces > 3 * (size_t)WADI_MESH_TRIANGLES_MAX) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: the mesh has more than %d triangles", gather->name,
                         WADI_MESH_TRIANGLES_MAX);
    }
    if (part->mNumVertices == 0 || part->mVertices == NULL || part->mNumFaces == 0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARRAY_RESERVE(&gather->vertices, base + part->mNumVertices, "mesh vertices", error));
    for (unsigned i = 0; i < part->mNumVertices; ++i) {
        double x = (double)part->mVertices[i].x, y = (double)part->mVertices[i].y,
               z = (double)part->mVertices[i].z;
        const struct aiMatrix4x4 *m = map;
        WadiVec3 p = { (double)m->a1 * x + (double)m->a2 * y + (double)m->a3 * z + (double)m->a4,
                       (double)m->b1 * x + (double)m->b2 * y + (double)m->b3 * z + (double)m->b4,
                       (double)m->c1 * x + (double)m->c2 * y + (double)m->c3 * z + (double)m->c4 };
        if (!wadi_is_finite(p) || fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))) > coordinate_max) {
            return wadi_fail(
                error, WADI_ERR_FORMAT,
                "%s: vertex %u of part \"%.64s\" is (%g, %g, %g): coordinates must be finite and below 1e12",
                gather->name, i, part->mName.data, p.x, p.y, p.z);
        }
        gather->vertices.data[gather->vertices.count++] = p;
    }
    WADI_TRY(WADI_ARRAY_RESERVE(&gather->corners, gather->corners.count + 3 * (size_t)part->mNumFaces,
                                "mesh triangles", error));
    for (unsigned f = 0; f < part->mNumFaces; ++f) {
        const struct aiFace *face = &part->mFaces[f];
        if (face->mNumIndices != 3) {
            continue; /* points and lines enclose nothing */
        }
        for (int k = 0; k < 3; ++k) {
            if (face->mIndices[k] >= part->mNumVertices) {
                return wadi_fail(error, WADI_ERR_FORMAT,
                                 "%s: triangle %u names vertex %u, but there are only %u", gather->name, f,
                                 face->mIndices[k], part->mNumVertices);
            }
            gather->corners.data[gather->corners.count++] = (uint32_t)(base + face->mIndices[k]);
        }
    }
    return WADI_OK;
}

static WadiStatus add_node(Gather *gather, const struct aiNode *node, const struct aiMatrix4x4 *parent,
                           int depth)
{
    if (depth > NODE_DEPTH_MAX) {
        return wadi_fail(gather->error, WADI_ERR_FORMAT, "%s: nodes are nested more than %d deep",
                         gather->name, NODE_DEPTH_MAX);
    }
    struct aiMatrix4x4 map = *parent;
    aiMultiplyMatrix4(&map, &node->mTransformation);
    for (unsigned i = 0; i < node->mNumMeshes; ++i) {
        if (node->mMeshes[i] < gather->scene->mNumMeshes) {
            WADI_TRY(add_part(gather, gather->scene->mMeshes[node->mMeshes[i]], &map));
        }
    }
    for (unsigned i = 0; i < node->mNumChildren; ++i) {
        WADI_TRY(add_node(gather, node->mChildren[i], &map, depth + 1));
    }
    return WADI_OK;
}

static uint64_t hash_position(WadiVec3 p)
{
    /* Adding zero makes -0 and 0 the same bits. */
    double value[3] = { p.x + 0.0, p.y + 0.0, p.z + 0.0 };
    uint64_t bits[3];
    memcpy(bits, value, sizeof bits);
    return wadi_hash_combine(wadi_hash_combine(wadi_hash_mix(bits[0]), bits[1]), bits[2]);
}

/* Equal positions become one vertex, numbered by first use. */
static WadiStatus unify(const WadiVec3 *vertices, size_t count, WadiVec3 *kept, size_t *kept_count,
                        uint32_t *new_index, WadiError *error)
{
    size_t slots = 64;
    while (slots < 2 * count) {
        slots *= 2;
    }
    uint32_t *table; /* 1 + index into kept; 0: free */
    WADI_TRY(WADI_NEW(&table, slots, "mesh vertex table", error));
    *kept_count = 0;
    for (size_t i = 0; i < count; ++i) {
        WadiVec3 p = vertices[i];
        size_t slot = hash_position(p) & (slots - 1);
        while (table[slot] != 0) {
            WadiVec3 q = kept[table[slot] - 1];
            if (p.x == q.x && p.y == q.y && p.z == q.z) {
                break;
            }
            slot = (slot + 1) & (slots - 1);
        }
        if (table[slot] == 0) {
            kept[(*kept_count)++] = p;
            table[slot] = (uint32_t)*kept_count;
        }
        new_index[i] = table[slot] - 1;
    }
    WADI_DELETE(table, slots);
    return WADI_OK;
}

WadiStatus wadi_mesh_weld(WadiMesh *mesh, const WadiMesh *raw, uint32_t *new_index, const char *name,
                          WadiError *error)
{
    *mesh = (WadiMesh){ 0 };
    size_t kept_count = 0, triangle_count = 0;
    WadiVec3 *kept = NULL;
    uint32_t(*triangle)[3] = NULL;
    WadiStatus status = WADI_NEW(&kept, raw->vertex_count, "mesh vertices", error);
    if (status == WADI_OK) {
        status = WADI_NEW(&triangle, raw->triangle_count, "mesh triangles", error);
    }
    if (status == WADI_OK) {
        status = unify(raw->vertices, raw->vertex_count, kept, &kept_count, new_index, error);
    }
    for (size_t t = 0; t < raw->triangle_count && status == WADI_OK; ++t) {
        const uint32_t *v = raw->triangles[t];
        uint32_t a = new_index[v[0]], b = new_index[v[1]], c = new_index[v[2]];
        if (a != b && b != c && c != a) {
            memcpy(triangle[triangle_count++], (uint32_t[3]){ a, b, c }, sizeof *triangle);
        }
    }
    if (status == WADI_OK && triangle_count == 0) {
        status = wadi_fail(error, WADI_ERR_FORMAT, "%s: no triangles in it", name);
    }
    if (status == WADI_OK) {
        status =
            wadi_mesh_create(mesh, kept, kept_count, (const uint32_t(*)[3])triangle, triangle_count, error);
        mesh->dropped_count = raw->triangle_count - triangle_count;
    }
    WADI_DELETE(kept, raw->vertex_count);
    WADI_DELETE(triangle, raw->triangle_count);
    return status;
}

static WadiStatus weld(WadiMesh *mesh, const WadiMesh *raw, const char *name, WadiError *error)
{
    uint32_t *new_index;
    WADI_TRY(WADI_NEW(&new_index, raw->vertex_count, "mesh vertex numbers", error));
    WadiStatus status = wadi_mesh_weld(mesh, raw, new_index, name, error);
    WADI_DELETE(new_index, raw->vertex_count);
    return status;
}

static WadiStatus take_scene(WadiMesh *mesh, const struct aiScene *scene, const char *name,
                             const char *problem, bool has_weld, WadiError *error)
{
    if (scene == NULL) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: cannot be read as a mesh: %s", name,
                         problem != NULL ? problem : aiGetErrorString());
    }
    Gather gather = { .scene = scene, .name = name, .error = error };
    struct aiMatrix4x4 identity;
    aiIdentityMatrix4(&identity);
    WadiStatus status = WADI_OK;
    if (scene->mRootNode != NULL) {
        status = add_node(&gather, scene->mRootNode, &identity, 0);
    }
    if (status == WADI_OK && gather.corners.count == 0) {
        status = wadi_fail(error, WADI_ERR_FORMAT, "%s: no triangles in it", name);
    }
    if (status == WADI_OK) {
        const WadiMesh raw = { .vertices = gather.vertices.data,
                               .vertex_count = gather.vertices.count,
                               .triangles = (uint32_t(*)[3])gather.corners.data,
                               .triangle_count = gather.corners.count / 3 };
        status = has_weld ? weld(mesh, &raw, name, error)
                          : wadi_mesh_create(mesh, raw.vertices, raw.vertex_count,
                                             (const uint32_t(*)[3])raw.triangles, raw.triangle_count, error);
    }
    WADI_ARRAY_FREE(&gather.vertices);
    WADI_ARRAY_FREE(&gather.corners);
    return status;
}

/* assimp's triangulation aborts on faces without corners and reads past the vertices on indices out of range, both of
 * which some of its readers let pass: look before it runs. NULL (and the import released) when a face is damaged. */
static const struct aiScene *triangulated(const struct aiScene *scene, const char **problem)
{
    for (unsigned m = 0; scene != NULL && m < scene->mNumMeshes; ++m) {
        const struct aiMesh *part = scene->mMeshes[m];
        for (unsigned f = 0; f < part->mNumFaces; ++f) {
            const struct aiFace *face = &part->mFaces[f];
            bool is_good = face->mNumIndices > 0 && face->mIndices != NULL;
            for (unsigned k = 0; is_good && k < face->mNumIndices; ++k) {
                is_good = face->mIndices[k] < part->mNumVertices;
            }
            if (!is_good) {
                *problem = "a face has no corners or names a vertex that is not there";
                aiReleaseImport(scene);
                return NULL;
            }
        }
    }
    return scene != NULL ? aiApplyPostProcessing(scene, aiProcess_Triangulate) : NULL;
}

static WadiStatus check_bytes(const char *begin, size_t size, size_t file_size, const char *name,
                              WadiError *error)
{
    /* By content, not by name: assimp, too, looks at the first bytes when the name says nothing. */
    const char *problem =
        size >= 3 && memcmp(begin, "ply", 3) == 0 ? wadi_mesh_ply_problem(begin, size, file_size) : NULL;
    return problem == NULL
               ? WADI_OK
               : wadi_fail(error, WADI_ERR_FORMAT, "%s: cannot be read as a PLY mesh: %s", name, problem);
}

static WadiStatus check_header(const char *path, size_t file_size, WadiError *error)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return wadi_fail_errno(error, errno, "%s: cannot open the mesh", path);
    }
    char *begin;
    WadiStatus status = WADI_NEW(&begin, WADI_MESH_HEADER_SIZE, "mesh header", error);
    if (status == WADI_OK) {
        size_t size = fread(begin, 1, WADI_MESH_HEADER_SIZE, file);
        status = check_bytes(begin, size, file_size, path, error);
        WADI_DELETE(begin, WADI_MESH_HEADER_SIZE);
    }
    fclose(file);
    return status;
}

static WadiStatus read_file(WadiMesh *mesh, const char *path, bool has_weld, WadiError *error)
{
    *mesh = (WadiMesh){ 0 };
    struct stat info;
    if (stat(path, &info) != 0) {
        return wadi_fail_errno(error, errno, "%s: cannot open the mesh", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return wadi_fail(error, WADI_ERR_IO, "%s: is %s, not a mesh file", path,
                         S_ISDIR(info.st_mode) ? "a folder" : "a special file");
    }
    if (info.st_size == 0 || (uint64_t)info.st_size > file_bytes_max) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: %s", path,
                         info.st_size == 0 ? "the file is empty" : "mesh files may have up to 4 GiB");
    }
    WADI_TRY(check_header(path, (size_t)info.st_size, error));
    const char *problem = NULL;
    const struct aiScene *scene = triangulated(aiImportFile(path, 0), &problem);
    WadiStatus status = take_scene(mesh, scene, path, problem, has_weld, error);
    aiReleaseImport(scene);
    return status;
}

WadiStatus wadi_mesh_read(WadiMesh *mesh, const char *path, WadiError *error)
{
    return read_file(mesh, path, true, error);
}

WadiStatus wadi_mesh_read_unwelded(WadiMesh *mesh, const char *path, WadiError *error)
{
    return read_file(mesh, path, false, error);
}

WadiStatus wadi_mesh_read_memory(WadiMesh *mesh, const void *bytes, size_t size, const char *hint,
                                 const char *name, WadiError *error)
{
    *mesh = (WadiMesh){ 0 };
    if (size == 0 || size > UINT32_MAX) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: %s", name,
                         size == 0 ? "the file is empty" : "too large");
    }
    WADI_TRY(
        check_bytes(bytes, size < WADI_MESH_HEADER_SIZE ? size : WADI_MESH_HEADER_SIZE, size, name, error));
    const char *problem = NULL;
    const struct aiScene *scene =
        triangulated(aiImportFileFromMemory(bytes, (unsigned)size, 0, hint), &problem);
    WadiStatus status = take_scene(mesh, scene, name, problem, true, error);
    aiReleaseImport(scene);
    return status;
}
