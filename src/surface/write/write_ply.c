/* Threads pack records into a buffer of a few megabytes, which is then written: the mesh is never in memory
 * twice. */
#include "surface/write/write_ply.h"

#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "io/files/files.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "PLY files are little-endian and are written without conversion"
#endif

enum { PIECE_BYTES = 4 << 20, BLOCK = 2048, FACE_BYTES = 13 };

typedef struct Packer {
    const WadiSurfaceMesh *surface;
    unsigned char *bytes; /* the buffer */
    size_t first;         /* first vertex or triangle in it */
    size_t record;        /* bytes per record */
    bool is_double;
} Packer;

/* Rounding to float loses half a unit in the last place of the largest coordinate. */
static bool needs_doubles(const WadiMesh *mesh, double cell)
{
    double largest = 0.0;
    for (size_t i = 0; i < mesh->vertex_count; ++i) {
        WadiVec3 a = wadi_abs(mesh->vertices[i]);
        largest = fmax(largest, fmax(a.x, fmax(a.y, a.z)));
    }
    return largest * 0x1p-24 > 1e-3 * cell;
}

static void pack_vertices(void *user, int64_t first, int64_t end)
{
    const Packer *p = user;
    const WadiSurfaceMesh *s = p->surface;
    for (int64_t k = first; k < end; ++k) {
        size_t v = p->first + (size_t)k;
        unsigned char *at = p->bytes + (size_t)k * p->record;
        WadiVec3 x = s->mesh.vertices[v];
        if (p->is_double) {
            memcpy(at, &x, sizeof x);
            at += sizeof x;
        } else {
            float rounded[3] = { (float)x.x, (float)x.y, (float)x.z };
            memcpy(at, rounded, sizeof rounded);
            at += sizeof rounded;
        }
        memcpy(at, s->normal[v], sizeof s->normal[v]);
        at += sizeof s->normal[v];
        for (int a = 0; a < s->attribute_count; ++a) {
            size_t components = (size_t)s->attribute[a].components;
            memcpy(at, s->attribute[a].values + components * v, components * sizeof(float));
            at += components * sizeof(float);
        }
    }
}

static void pack_faces(void *user, int64_t first, int64_t end)
{
    const Packer *p = user;
    for (int64_t k = first; k < end; ++k) {
        unsigned char *at = p->bytes + (size_t)k * FACE_BYTES;
        *at = 3;
        memcpy(at + 1, p->surface->mesh.triangles[p->first + (size_t)k], FACE_BYTES - 1);
    }
}

/* assimp before 6.0 skips a line end right after the header and misreads all that follows. The first
 * coordinate is then changed by one unit in its last place. */
static void avoid_line_end(unsigned char *first_byte)
{
    if (*first_byte == '\n' || *first_byte == '\r') {
        *first_byte += 1;
    }
}

/* Writes `count` records buffer by buffer, from *offset on. */
static WadiStatus put_records(WadiFileWriter *writer, Packer *packer, size_t count, size_t record,
                              WadiBlockFn pack, uint64_t *offset, WadiError *error)
{
    size_t piece = PIECE_BYTES / record;
    packer->record = record;
    for (packer->first = 0; packer->first < count; packer->first += piece) {
        size_t left = count - packer->first;
        size_t records = left < piece ? left : piece;
        wadi_parallel_for((int64_t)records, BLOCK, pack, packer);
        if (packer->first == 0 && pack == pack_vertices) {
            avoid_line_end(packer->bytes);
        }
        WADI_TRY(wadi_file_writer_put(writer, packer->bytes, records * record, *offset, error));
        *offset += records * record;
    }
    return WADI_OK;
}

static void append_attribute(WadiText *text, const WadiCloudAttribute *attribute)
{
    if (attribute->components == 1) {
        wadi_text_printf(text, "property float %s\n", attribute->name);
    } else if (strcmp(attribute->name, "velocity") == 0 && attribute->components == 3) {
        wadi_text_append(text, "property float vx\nproperty float vy\nproperty float vz\n");
    } else {
        for (int c = 0; c < attribute->components; ++c) {
            wadi_text_printf(text, "property float %s_%c\n", attribute->name, "xyzw"[c & 3]);
        }
    }
}

static void append_header(WadiText *text, const WadiSurfaceMesh *s, const WadiMeshFileInfo *info,
                          bool is_double)
{
    wadi_text_append(text, "ply\nformat binary_little_endian 1.0\n");
    wadi_mesh_file_comments(text, info, "comment ");
    wadi_text_printf(text, "element vertex %zu\n", s->mesh.vertex_count);
    for (int c = 0; c < 3; ++c) {
        wadi_text_printf(text, "property %s %c\n", is_double ? "double" : "float", "xyz"[c]);
    }
    wadi_text_append(text, "property float nx\nproperty float ny\nproperty float nz\n");
    for (int a = 0; a < s->attribute_count; ++a) {
        append_attribute(text, &s->attribute[a]);
    }
    wadi_text_printf(text, "element face %zu\nproperty list uchar int vertex_indices\nend_header\n",
                     s->mesh.triangle_count);
}

static size_t vertex_bytes(const WadiSurfaceMesh *s, bool is_double)
{
    size_t bytes = (is_double ? 3 * sizeof(double) : 3 * sizeof(float)) + 3 * sizeof(float);
    for (int a = 0; a < s->attribute_count; ++a) {
        bytes += (size_t)s->attribute[a].components * sizeof(float);
    }
    return bytes;
}

static WadiStatus put_mesh(WadiFileWriter *writer, const WadiSurfaceMesh *s, const WadiMeshFileInfo *info,
                           unsigned char *piece, WadiError *error)
{
    Packer packer = { .surface = s, .bytes = piece, .is_double = needs_doubles(&s->mesh, info->cell) };
    WadiText header = { 0 };
    append_header(&header, s, info, packer.is_double);
    uint64_t offset = header.length;
    WadiStatus status = wadi_text_status(&header, error);
    if (status == WADI_OK) {
        status = wadi_file_writer_put(writer, header.data, header.length, 0, error);
    }
    wadi_text_free(&header);
    WADI_TRY(status);
    WADI_TRY(put_records(writer, &packer, s->mesh.vertex_count, vertex_bytes(s, packer.is_double),
                         pack_vertices, &offset, error));
    return put_records(writer, &packer, s->mesh.triangle_count, FACE_BYTES, pack_faces, &offset, error);
}

WadiStatus wadi_surface_write_ply(const char *path, const WadiSurfaceMesh *surface,
                                  const WadiMeshFileInfo *info, WadiError *error)
{
    unsigned char *piece = NULL;
    WadiFileWriter writer;
    WADI_TRY(WADI_NEW(&piece, PIECE_BYTES, "part of a PLY file", error));
    WadiStatus status = wadi_file_writer_open(&writer, path, error);
    if (status == WADI_OK) {
        status = put_mesh(&writer, surface, info, piece, error);
        if (status == WADI_OK) {
            status = wadi_file_writer_commit(&writer, error);
        }
        wadi_file_writer_cancel(&writer);
    }
    WADI_DELETE(piece, PIECE_BYTES);
    return status;
}
