/* Mesh files: the format is chosen by the first bytes where they are certain, else by the end of the name. */
#include <string.h>
#include <strings.h>

#include "core/alloc.h"
#include "geom/mesh/mesh.h"
#include "geom/read/mesh_bytes.h"
#include "geom/read/mesh_gather.h"
#include "geom/read/mesh_gltf.h"

typedef enum Format { OBJ, PLY, STL, OFF, GLTF, UNKNOWN } Format;

static Format format_of(const unsigned char *bytes, size_t size, const char *extension)
{
    static const struct {
        const char *extension;
        Format format;
    } known[] = { { "obj", OBJ }, { "ply", PLY },   { "stl", STL },
                  { "off", OFF }, { "gltf", GLTF }, { "glb", GLTF } };
    if (wadi_gltf_is_glb(bytes, size)) {
        return GLTF;
    }
    if (size >= 4 && memcmp(bytes, "ply", 3) == 0 && (bytes[3] == '\n' || bytes[3] == '\r')) {
        return PLY;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (strcasecmp(extension, known[i].extension) == 0) {
            return known[i].format;
        }
    }
    return UNKNOWN;
}

/* `path` is NULL for a mesh in memory. */
static WadiStatus parse(WadiMeshGather *gather, const unsigned char *bytes, size_t size,
                        const char *extension, const char *path)
{
    switch (format_of(bytes, size, extension)) {
    case OBJ: return wadi_mesh_parse_obj(gather, bytes, size);
    case PLY: return wadi_mesh_parse_ply(gather, bytes, size);
    case STL: return wadi_mesh_parse_stl(gather, bytes, size);
    case OFF: return wadi_mesh_parse_off(gather, bytes, size);
    case GLTF: return wadi_mesh_parse_gltf(gather, bytes, size, path);
    default:
        return wadi_gather_fail(gather,
                                "%s%s%s is no mesh format that wadi reads: export it as OBJ, PLY, STL, "
                                "OFF or glTF (.gltf, .glb)",
                                extension[0] != '\0' ? "\"." : "a name without an extension", extension,
                                extension[0] != '\0' ? "\"" : "");
    }
}

static WadiStatus weld(WadiMesh *mesh, const WadiMesh *raw, const char *name, WadiError *error)
{
    uint32_t *new_index;
    WADI_TRY(WADI_NEW(&new_index, raw->vertex_count, "mesh vertex numbers", error));
    WadiStatus status = wadi_mesh_weld(mesh, raw, new_index, name, error);
    WADI_DELETE(new_index, raw->vertex_count);
    return status;
}

static WadiStatus read_bytes(WadiMesh *mesh, const WadiMeshBytes *bytes, const char *extension,
                             const char *name, const char *path, bool has_weld, WadiError *error)
{
    WadiMeshGather gather = { .name = name, .error = error };
    WadiStatus status = parse(&gather, bytes->data, bytes->size, extension, path);
    if (status == WADI_OK && gather.corners.count == 0) {
        status = wadi_gather_fail(&gather, "no triangles in it");
    }
    if (status == WADI_OK) {
        status = wadi_gather_compact(&gather);
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
    mesh->face_hash = status == WADI_OK ? gather.face_hash : 0;
    wadi_gather_free(&gather);
    return status;
}

static WadiStatus read_file(WadiMesh *mesh, const char *path, bool has_weld, WadiError *error)
{
    *mesh = (WadiMesh){ 0 };
    WadiMeshBytes bytes;
    WADI_TRY(wadi_mesh_bytes_read(&bytes, path, SIZE_MAX, true, error));
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
    WadiStatus status = read_bytes(mesh, &bytes, dot != NULL ? dot + 1 : "", path, path, has_weld, error);
    wadi_mesh_bytes_free(&bytes);
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
    if (size == 0 || (uint64_t)size > WADI_MESH_FILE_BYTES_MAX) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: %s", name,
                         size == 0 ? "the file is empty" : "mesh files may have up to 4 GiB");
    }
    const WadiMeshBytes view = { .data = (unsigned char *)(uintptr_t)bytes, .size = size };
    return read_bytes(mesh, &view, hint, name, NULL, true, error);
}
