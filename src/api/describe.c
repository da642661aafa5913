/* Describes a run folder, a frame, a checkpoint, a mesh or a scene, as text or as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/alloc.h"
#include "core/check.h"
#include "core/text.h"
#include "geom/mesh/mesh.h"
#include "geom/read/mesh_bytes.h"
#include "io/frame/frame_file.h"
#include "io/run/run_folder.h"
#include "io/run/run_forces.h"
#include "io/scene/scene_parse.h"
#include "surface/mesh/surface_mesh.h"
#include "wadi/run.h"

/* 1234567 as "1,234,567". */
static void append_count(WadiText *text, int64_t count)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
    for (int i = 0; i < length; ++i) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-') {
            wadi_text_append(text, ",");
        }
        wadi_text_append_bytes(text, digits + i, 1);
    }
}

static void append_row(WadiText *text, const char *label)
{
    wadi_text_printf(text, "  %-16s", label);
}

static void print_run(WadiText *text, const char *path, const WadiRunSummary *s)
{
    wadi_text_printf(text, "%s: run of %s with solver %s, %s\n", path, s->scene, s->solver,
                     s->is_finished ? "finished" : "not finished");
    append_row(text, "frames");
    wadi_text_printf(text, "%d of %d at %g a second, %lld steps\n", s->frames, s->frame_count, s->fps,
                     (long long)s->steps);
    for (int m = 0; m < s->material_count; ++m) {
        append_row(text, m == 0 ? "particles" : "");
        append_count(text, s->material_particles[m]);
        wadi_text_printf(text, " %s\n", s->material_name[m]);
    }
    append_row(text, "lost");
    append_count(text, s->lost_particles);
    wadi_text_append(text, "\n");
    append_row(text, "drained");
    append_count(text, s->drained_particles);
    wadi_text_append(text, "\n");
    append_row(text, "drift");
    wadi_text_printf(text, "mass %.3g, water mass %.3g", s->drift_mass, s->drift_water_mass);
    if (!isnan(s->drift_volume)) {
        wadi_text_printf(text, ", volume %.3g", s->drift_volume);
    }
    wadi_text_append(text, "\n");
    append_row(text, "time");
    wadi_text_printf(text, "%.2f s, %.3f s a frame, %d threads\n", s->seconds_total,
                     s->frames > 0 ? s->seconds_total / s->frames : 0.0, s->threads);
    for (int i = 0; i < s->stages.count; ++i) {
        append_row(text, "");
        wadi_text_printf(text, "%-18s %8.3f s\n", s->stages.name[i], s->stages.seconds[i]);
    }
    append_row(text, "peak memory");
    wadi_text_printf(text, "%.1f MiB\n", (double)s->peak_rss_bytes / 1048576.0);
    append_row(text, "state hash");
    wadi_text_printf(text, "%016llx\n", (unsigned long long)s->state_hash);
    for (int i = 0; i < s->warning_count; ++i) {
        append_row(text, i == 0 ? "warnings" : "");
        wadi_text_printf(text, "%s\n", s->warning[i]);
    }
}

/* The text of run.json, with the forces of the last frame as its last member. */
static void append_run_json(WadiText *text, const char *json, const WadiText *forces)
{
    const char *end = strrchr(json, '}');
    size_t length = end != NULL ? (size_t)(end - json) : 0;
    while (length > 0 && strchr(" \n", json[length - 1]) != NULL) {
        --length;
    }
    wadi_text_append_bytes(text, json, length);
    wadi_text_append(text, ",\n  \"forces\": ");
    wadi_run_forces_append_json(forces, text);
    wadi_text_append(text, "\n}\n");
}

static WadiStatus describe_run(const char *path, bool as_json, WadiText *text, WadiError *error)
{
    WadiRunSummary *summary = NULL;
    WADI_TRY(WADI_NEW(&summary, 1, "run summary", error));
    WadiStatus status = wadi_run_summary_read(path, summary, error);
    WadiText forces = { 0 };
    if (status == WADI_OK && as_json) {
        status = wadi_run_forces_read(path, summary->frames, &forces, error);
    }
    if (status == WADI_OK && as_json) {
        char *json = NULL;
        status = wadi_run_summary_json(summary, &json, error);
        if (status == WADI_OK) {
            append_run_json(text, json, &forces);
            wadi_string_free(json);
        }
    } else if (status == WADI_OK) {
        print_run(text, path, summary);
    }
    wadi_text_free(&forces);
    wadi_run_summary_free(summary);
    WADI_DELETE(summary, 1);
    return status;
}

/* Smallest and largest value of one component, for any type. */
static void value_range(const WadiStateArray *array, int component, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < array->count; ++i) {
        size_t at = i * (size_t)array->components + (size_t)component;
        double value = 0.0;
        switch (array->type) {
        case WADI_TYPE_U8: value = ((const uint8_t *)array->data)[at]; break;
        case WADI_TYPE_U32: value = ((const uint32_t *)array->data)[at]; break;
        case WADI_TYPE_U64: value = (double)((const uint64_t *)array->data)[at]; break;
        case WADI_TYPE_I32: value = ((const int32_t *)array->data)[at]; break;
        case WADI_TYPE_F32: value = (double)((const float *)array->data)[at]; break;
        case WADI_TYPE_F64: value = ((const double *)array->data)[at]; break;
        }
        *low = value < *low ? value : *low;
        *high = value > *high ? value : *high;
    }
}

static void print_arrays(WadiText *text, const char *path, const char *kind, const WadiFrameHeader *header,
                         const WadiState *state)
{
    wadi_text_printf(text, "%s: %s %d of '%s', t = %g s, %g frames a second\n", path, kind, header->frame,
                     header->name, header->time, header->fps);
    for (int i = 0; i < state->count; ++i) {
        const WadiStateArray *array = &state->array[i];
        append_row(text, array->name);
        append_count(text, (int64_t)array->count);
        wadi_text_printf(text, " x %s%s", wadi_type_name(array->type), array->components == 3 ? " x 3" : "");
        for (int c = 0; c < array->components && array->count > 0; ++c) {
            double low, high;
            value_range(array, c, &low, &high);
            wadi_text_printf(text, "%s%.6g .. %.6g", c == 0 ? "  from " : ", ", low, high);
        }
        wadi_text_append(text, "\n");
    }
}

static void print_arrays_json(WadiText *text, const char *kind, const WadiFrameHeader *header,
                              const WadiState *state)
{
    wadi_text_printf(text, "{\"kind\": \"%s\", \"frame\": %d, \"time\": ", kind, header->frame);
    wadi_text_append_number(text, header->time);
    wadi_text_append(text, ", \"fps\": ");
    wadi_text_append_number(text, header->fps);
    wadi_text_append(text, ", \"name\": ");
    wadi_text_append_json(text, header->name);
    wadi_text_append(text, ", \"arrays\": [");
    for (int i = 0; i < state->count; ++i) {
        const WadiStateArray *array = &state->array[i];
        wadi_text_append(text, i > 0 ? ", {\"name\": " : "{\"name\": ");
        wadi_text_append_json(text, array->name);
        wadi_text_printf(text, ", \"type\": \"%s\", \"components\": %d, \"count\": %zu, \"min\": [",
                         wadi_type_name(array->type), array->components, array->count);
        for (int side = 0; side < 2; ++side) {
            for (int c = 0; c < array->components && array->count > 0; ++c) {
                double range[2];
                value_range(array, c, &range[0], &range[1]);
                wadi_text_append(text, c > 0 ? ", " : "");
                wadi_text_append_number(text, range[side]);
            }
            wadi_text_append(text, side == 0 ? "], \"max\": [" : "]}");
        }
    }
    wadi_text_append(text, "]}\n");
}

static WadiStatus describe_arrays(const char *path, bool as_json, WadiText *text, WadiError *error)
{
    WadiState *state = NULL;
    WADI_TRY(WADI_NEW(&state, 1, "snapshot", error));
    WadiFrameHeader header = { 0 };
    const char *kind = "frame";
    WadiError frame_error = { 0 };
    WadiStatus status = wadi_frame_file_read(path, "particles", &header, state, &frame_error);
    if (status == WADI_ERR_FORMAT) {
        kind = "checkpoint";
        status = wadi_frame_file_read(path, "state", &header, state, NULL);
    }
    if (status != WADI_OK) {
        status = wadi_fail(error, frame_error.status, "%s", frame_error.text);
    } else if (as_json) {
        print_arrays_json(text, kind, &header, state);
    } else {
        print_arrays(text, path, kind, &header, state);
    }
    wadi_state_free(state);
    WADI_DELETE(state, 1);
    return status;
}

static WadiStatus describe_scene(const char *path, bool as_json, WadiText *text, WadiError *error)
{
    WadiSceneDef def = wadi_default_scene_def();
    def.path = path;
    WadiScene *scene = NULL;
    WADI_TRY(wadi_scene_parse(&scene, &def, error));
    if (as_json) {
        wadi_text_append(text, "{\"kind\": \"scene\", \"name\": ");
        wadi_text_append_json(text, scene->name);
        wadi_text_printf(text, ", \"solver\": \"%s\", \"frames\": %d, \"fps\": ", scene->solver,
                         scene->frames);
        wadi_text_append_number(text, scene->fps);
        wadi_text_append(text, ", \"cell_size\": ");
        wadi_text_append_number(text, scene->cell_size);
        wadi_text_printf(
            text,
            ", \"materials\": %d, \"bodies\": %d, \"colliders\": %d, \"emitters\": %d, \"drains\": %d, "
            "\"forces\": %d}\n",
            scene->material_count, scene->body_count, scene->collider_count, scene->emitter_count,
            scene->drain_count, scene->force_count);
    } else {
        wadi_text_printf(text,
                         "%s: scene '%s', solver %s, %d frames at %g a second, cells of %g m\n"
                         "  %d materials, %d bodies, %d colliders, %d emitters, %d drains, %d forces\n",
                         path, scene->name, scene->solver, scene->frames, scene->fps, scene->cell_size,
                         scene->material_count, scene->body_count, scene->collider_count,
                         scene->emitter_count, scene->drain_count, scene->force_count);
    }
    wadi_scene_free(scene);
    return WADI_OK;
}

static void print_mesh(WadiText *text, const char *path, const WadiMesh *mesh, const WadiSurfaceFacts *facts,
                       const WadiMeshTopology *topology)
{
    WadiBox box = facts->bounds;
    wadi_text_printf(text, "%s: triangle mesh, %s, %s\n", path, facts->is_closed ? "closed" : "not closed",
                     facts->is_manifold ? "manifold" : "not manifold");
    append_row(text, "triangles");
    append_count(text, (int64_t)facts->triangles);
    wadi_text_append(text, "\n");
    append_row(text, "vertices");
    append_count(text, (int64_t)facts->vertices);
    wadi_text_append(text, "\n");
    append_row(text, "parts");
    append_count(text, (int64_t)facts->parts);
    wadi_text_printf(text, ", Euler characteristic %lld\n", (long long)facts->euler);
    if (facts->triangles == 0) {
        return;
    }
    append_row(text, "bounds");
    wadi_text_printf(text, "(%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g)\n", box.min.x, box.min.y, box.min.z,
                     box.max.x, box.max.y, box.max.z);
    append_row(text, "volume");
    wadi_text_printf(text, "%.6g\n", wadi_mesh_volume(mesh));
    append_row(text, "area");
    wadi_text_printf(text, "%.6g\n", facts->area);
    append_row(text, "edges");
    wadi_text_printf(
        text, "%zu open, %zu of more than two triangles, %zu between triangles that face opposite ways\n",
        topology->boundary_edges, topology->non_manifold_edges, topology->flipped_edges);
    if (topology->hole_count > 0) {
        append_row(text, "holes");
        wadi_text_printf(text, "%zu, the largest %.4g wide around (%.4g, %.4g, %.4g)\n", topology->hole_count,
                         topology->hole_width, topology->hole_center.x, topology->hole_center.y,
                         topology->hole_center.z);
    }
}

static const char *json_bool(bool value)
{
    return value ? "true" : "false";
}

static void print_mesh_json(WadiText *text, const WadiMesh *mesh, const WadiSurfaceFacts *facts,
                            const WadiMeshTopology *topology)
{
    wadi_text_printf(
        text,
        "{\"kind\": \"mesh\", \"triangles\": %zu, \"vertices\": %zu, \"parts\": %zu, \"euler\": %lld, "
        "\"closed\": %s, \"oriented\": %s, \"manifold\": %s, \"open_edges\": %zu, \"holes\": %zu, "
        "\"volume\": ",
        facts->triangles, facts->vertices, facts->parts, (long long)facts->euler, json_bool(facts->is_closed),
        json_bool(facts->is_oriented), json_bool(facts->is_manifold), topology->boundary_edges,
        topology->hole_count);
    wadi_text_append_number(text, facts->triangles > 0 ? wadi_mesh_volume(mesh) : 0.0);
    wadi_text_append(text, ", \"area\": ");
    wadi_text_append_number(text, facts->area);
    wadi_text_append(text, "}\n");
}

/* The first bytes of a mesh file: a comment in them identifies meshes that wadi wrote. */
typedef struct MeshHead {
    char text[4097];
    size_t size;
} MeshHead;

static WadiStatus read_head(const char *path, MeshHead *begin, WadiError *error)
{
    WadiMeshBytes bytes;
    WADI_TRY(wadi_mesh_bytes_read(&bytes, path, sizeof begin->text - 1, true, error));
    memcpy(begin->text, bytes.data, bytes.size);
    begin->text[bytes.size] = '\0';
    begin->size = bytes.size;
    wadi_mesh_bytes_free(&bytes);
    return WADI_OK;
}

static bool is_wadi_ply(const MeshHead *begin)
{
    return strncmp(begin->text, "ply\n", 4) == 0 && strstr(begin->text, "\ncomment wadi ") != NULL;
}

/* No triangles: a frame without material when wadi wrote the mesh, otherwise a broken mesh. */
static bool is_empty_surface(const MeshHead *begin)
{
    bool is_ply = is_wadi_ply(begin) && strstr(begin->text, "\nelement vertex 0\n") != NULL &&
                  strstr(begin->text, "\nelement face 0\n") != NULL;
    bool is_obj = strncmp(begin->text, "# wadi ", 7) == 0 && begin->size < sizeof begin->text - 1 &&
                  strstr(begin->text, "\nv ") == NULL;
    return is_ply || is_obj;
}

/* Meshes of other programs may repeat a vertex at texture seams, so equal positions are merged. In wadi's
 * meshes two vertices at one position belong to two sheets that touch. */
static WadiStatus read_mesh(WadiMesh *mesh, const char *path, WadiError *error)
{
    MeshHead begin;
    WADI_TRY(read_head(path, &begin, error));
    if (is_empty_surface(&begin)) {
        return WADI_OK;
    }
    return is_wadi_ply(&begin) ? wadi_mesh_read_unwelded(mesh, path, error)
                               : wadi_mesh_read(mesh, path, error);
}

static WadiStatus describe_mesh(const char *path, bool as_json, WadiText *text, WadiError *error)
{
    WadiMesh mesh = { 0 };
    WADI_TRY(read_mesh(&mesh, path, error));
    WadiMeshTopology topology = { 0 };
    WadiSurfaceFacts facts = { 0 };
    WadiStatus status = wadi_surface_facts(&facts, &mesh, error);
    if (status == WADI_OK && mesh.triangle_count > 0) {
        status = wadi_mesh_topology(&mesh, &topology, error);
    }
    if (status == WADI_OK && as_json) {
        print_mesh_json(text, &mesh, &facts, &topology);
    } else if (status == WADI_OK) {
        print_mesh(text, path, &mesh, &facts, &topology);
    }
    wadi_mesh_topology_free(&topology);
    wadi_mesh_free(&mesh);
    return status;
}

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n >= m && strcmp(path + n - m, end) == 0;
}

static WadiStatus describe(const char *path, bool as_json, WadiText *text, WadiError *error)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return wadi_fail(error, WADI_ERR_IO, "%s: no such file or folder", path);
    }
    if (S_ISDIR(info.st_mode)) {
        return describe_run(path, as_json, text, error);
    }
    if (!S_ISREG(info.st_mode)) {
        return wadi_fail(error, WADI_ERR_IO, "%s: is not a regular file", path);
    }
    if (ends_with(path, ".h5")) {
        return describe_arrays(path, as_json, text, error);
    }
    if (ends_with(path, ".yaml") || ends_with(path, ".yml") || ends_with(path, ".json")) {
        return describe_scene(path, as_json, text, error);
    }
    return describe_mesh(path, as_json, text, error);
}

WadiStatus wadi_describe(const char *path, bool as_json, char **text, WadiError *error)
{
    *text = NULL;
    WadiText out = { 0 };
    const unsigned asserts = wadi_assert_count();
    WadiStatus status = wadi_assert_status(describe(path, as_json, &out, error), asserts, error);
    if (status == WADI_OK) {
        status = wadi_text_status(&out, error);
    }
    if (status == WADI_OK) {
        status = wadi_string_copy(text, wadi_text_cstr(&out), out.length, error);
    }
    wadi_text_free(&out);
    return status;
}
