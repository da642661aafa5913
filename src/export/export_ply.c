#include "export/export_ply.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "PLY files are little-endian and are written without conversion"
#endif

/* Rounding to float loses half a unit in the last place of the largest coordinate. */
static bool needs_doubles(const WadiVec3 *position, size_t count, double spacing)
{
    double largest = 0.0;
    for (size_t i = 0; i < count; ++i) {
        WadiVec3 a = wadi_abs(position[i]);
        largest = fmax(largest, fmax(a.x, fmax(a.y, a.z)));
    }
    return largest * 0x1p-24 > 1e-3 * spacing;
}

static bool is_velocity(const WadiCloudAttribute *attribute)
{
    return strcmp(attribute->name, "velocity") == 0 && attribute->components == 3;
}

/* Particles have separate columns for these; for a mesh `radius` is an ordinary attribute. */
static bool has_own_column(const char *name)
{
    return strcmp(name, "radius") == 0 || strcmp(name, "material") == 0 || strcmp(name, "id") == 0;
}

static void put_position_header(WadiExportOut *out, const WadiExportFrame *frame, size_t count,
                                bool is_double)
{
    const char *type = is_double ? "double" : "float";
    wadi_out_text(out, "ply\nformat binary_little_endian 1.0\n");
    wadi_export_comments(out, frame, "comment ");
    wadi_out_printf(out, "element vertex %zu\nproperty %s x\nproperty %s y\nproperty %s z\n", count, type,
                    type, type);
}

static void put_attribute_header(WadiExportOut *out, const WadiCloudAttribute *attributes, int count)
{
    for (int a = 0; a < count; ++a) {
        const WadiCloudAttribute *attribute = &attributes[a];
        if (is_velocity(attribute)) {
            wadi_out_text(out, "property float vx\nproperty float vy\nproperty float vz\n");
        } else if (attribute->components == 1) {
            wadi_out_printf(out, "property float %s\n", attribute->name);
        } else {
            for (int c = 0; c < attribute->components; ++c) {
                wadi_out_printf(out, "property float %s_%c\n", attribute->name, "xyzw"[c & 3]);
            }
        }
    }
}

static void put_position(WadiExportOut *out, const WadiExportFrame *frame, WadiVec3 position, bool is_double)
{
    WadiVec3 x = wadi_export_axes(frame, position);
    if (!wadi_is_finite(x)) {
        wadi_out_number(out, NAN, 0); /* fails with a message */
    } else if (is_double) {
        wadi_out_bytes(out, &x, sizeof x);
    } else {
        WadiVec3f rounded = wadi_to_vec3f(x);
        wadi_out_bytes(out, &rounded, sizeof rounded);
    }
}

static void put_vector(WadiExportOut *out, const WadiExportFrame *frame, const float *v)
{
    WadiVec3f a = wadi_to_vec3f(wadi_export_axes(frame, wadi_vec3((double)v[0], (double)v[1], (double)v[2])));
    wadi_out_bytes(out, &a, sizeof a);
}

static void put_attributes(WadiExportOut *out, const WadiExportFrame *frame,
                           const WadiCloudAttribute *attributes, int count, size_t i)
{
    for (int a = 0; a < count; ++a) {
        const WadiCloudAttribute *attribute = &attributes[a];
        size_t components = (size_t)attribute->components;
        const float *values = attribute->values + components * i;
        if (is_velocity(attribute)) {
            put_vector(out, frame, values);
        } else {
            wadi_out_bytes(out, values, components * sizeof *values);
        }
    }
}

WadiStatus wadi_export_ply_particles(const WadiExportFrame *frame, const char *path, const WadiCloud *cloud,
                                     int material, WadiError *error)
{
    WadiExportOut out;
    size_t count = (size_t)cloud->count;
    WadiCloudAttribute attribute[WADI_CLOUD_ATTRIBUTE_MAX];
    int attribute_count = 0;
    for (int a = 0; a < cloud->attribute_count; ++a) {
        if (!has_own_column(cloud->attribute[a].name)) {
            attribute[attribute_count++] = cloud->attribute[a];
        }
    }
    bool is_double = needs_doubles(cloud->position, count, cloud->spacing_min);
    uint8_t index = (uint8_t)material;
    WADI_TRY(wadi_export_begin_file(frame, path, error));
    wadi_out_open(&out, path, error);
    put_position_header(&out, frame, count, is_double);
    wadi_out_text(&out, "property float radius\nproperty uint id\nproperty uchar material\n");
    put_attribute_header(&out, attribute, attribute_count);
    wadi_out_text(&out, "end_header\n");
    for (size_t i = 0; i < count && out.status == WADI_OK; ++i) {
        float radius = 0.5f * cloud->spacing[i];
        put_position(&out, frame, cloud->position[i], is_double);
        wadi_out_bytes(&out, &radius, sizeof radius);
        wadi_out_bytes(&out, &cloud->id[i], sizeof cloud->id[i]);
        wadi_out_bytes(&out, &index, sizeof index);
        put_attributes(&out, frame, attribute, attribute_count, i);
    }
    return wadi_out_close(&out);
}

WadiStatus wadi_export_ply_mesh(const WadiExportFrame *frame, const char *path,
                                const WadiSurfaceMesh *surface, WadiError *error)
{
    const WadiMesh *mesh = &surface->mesh;
    WadiExportOut out;
    double step =
        surface->cell > 0.0 ? surface->cell : 1e-3 * wadi_norm(wadi_box_size(wadi_mesh_bounds(mesh)));
    bool is_double = needs_doubles(mesh->vertices, mesh->vertex_count, step);
    WADI_TRY(wadi_export_begin_file(frame, path, error));
    wadi_out_open(&out, path, error);
    put_position_header(&out, frame, mesh->vertex_count, is_double);
    if (surface->normal != NULL) {
        wadi_out_text(&out, "property float nx\nproperty float ny\nproperty float nz\n");
    }
    put_attribute_header(&out, surface->attribute, surface->attribute_count);
    wadi_out_printf(&out, "element face %zu\nproperty list uchar int vertex_indices\nend_header\n",
                    mesh->triangle_count);
    for (size_t v = 0; v < mesh->vertex_count && out.status == WADI_OK; ++v) {
        put_position(&out, frame, mesh->vertices[v], is_double);
        if (surface->normal != NULL) {
            put_vector(&out, frame, surface->normal[v]);
        }
        put_attributes(&out, frame, surface->attribute, surface->attribute_count, v);
    }
    for (size_t t = 0; t < mesh->triangle_count && out.status == WADI_OK; ++t) {
        const unsigned char corners = 3;
        wadi_out_bytes(&out, &corners, 1);
        wadi_out_bytes(&out, mesh->triangles[t], sizeof mesh->triangles[t]);
    }
    return wadi_out_close(&out);
}

WadiStatus wadi_export_ply_solid(const WadiExportFrame *frame, const char *path,
                                 const WadiFrameSceneSolid *solid, const WadiSurfaceMesh *surface,
                                 WadiError *error)
{
    if (solid->is_moving) {
        return wadi_export_ply_mesh(frame, path, surface, error);
    }
    WadiExportSolid file;
    bool is_wanted;
    WADI_TRY(wadi_export_begin_solid(frame, solid, path, &file, &is_wanted, error));
    return is_wanted
               ? wadi_export_end_solid(&file, wadi_export_ply_mesh(&file.as, path, surface, error), error)
               : WADI_OK;
}
