/* Mesh sequences. Between two files every vertex moves on a straight line, so that Embree's trees for
 * linear motion find the nearest triangle at any time. Inside is decided by the winding number: of the
 * nearer file where the surface cannot have passed the point since, else of the interpolated triangles. */
#include "geom/mesh/mesh_sequence.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"
#include "geom/mesh/winding.h"

enum { PATH_SIZE = 4096, FILES_MAX = 100000 };

struct WadiMeshSequence {
    WadiMesh *frames; /* same triangles in each */
    WadiWinding **winding;
    WadiMeshTree **trees;     /* of the interval after a frame; one when there is one frame */
    double *max_displacement; /* m, largest displacement of a vertex over that interval */
    int count;
    double first_time, fps;
    double facing;
};

WadiStatus wadi_mesh_sequence_file(const char *pattern, int number, char *path, size_t size, WadiError *error)
{
    size_t used = 0;
    int fields = 0;
    for (const char *c = pattern; *c != '\0';) {
        char piece[32] = { *c, '\0' };
        const char *end = c + 1;
        if (*c == '%' && c[1] == '%') {
            end = c + 2;
        } else if (*c == '%') {
            bool has_zeros = *end == '0';
            int width = 0;
            while (*end >= '0' && *end <= '9' && width <= 20) {
                width = 10 * width + (*end++ - '0');
            }
            if (*end++ != 'd' || width > 20) {
                return wadi_fail(
                    error, WADI_ERR_ARGUMENT,
                    "%s: '%%' must begin a file number such as %%d or %%04d (%%%% is a percent sign)",
                    pattern);
            }
            snprintf(piece, sizeof piece, has_zeros ? "%0*d" : "%*d", width, number);
            ++fields;
        }
        size_t length = strlen(piece);
        if (used + length + 1 > size) {
            return wadi_fail(error, WADI_ERR_ARGUMENT, "%s: the path is too long", pattern);
        }
        memcpy(path + used, piece, length + 1);
        used += length;
        c = end;
    }
    return fields == 1
               ? WADI_OK
               : wadi_fail(error, WADI_ERR_ARGUMENT,
                           "%s: needs exactly one file number such as %%04d, it has %d", pattern, fields);
}

/* Vertices merged in the first file are merged in all, by new_index. */
static WadiStatus read_frame(WadiMeshSequence *sequence, int frame, const char *path, const char *first_path,
                             const uint32_t *new_index, const WadiMesh *first_raw, WadiError *error)
{
    const size_t raw_count = first_raw->vertex_count;
    WadiMesh raw;
    WADI_TRY(wadi_mesh_read_unwelded(&raw, path, error));
    const WadiMesh *first = &sequence->frames[0];
    WadiMesh *out = &sequence->frames[frame];
    WadiStatus status = WADI_OK;
    if (raw.vertex_count != raw_count) {
        status = wadi_fail(error, WADI_ERR_FORMAT,
                           "%s: %zu vertices, but %s has %zu: a sequence needs the same triangles", path,
                           raw.vertex_count, first_path, raw_count);
    } else if (raw.face_hash != first_raw->face_hash) {
        status = wadi_fail(error, WADI_ERR_FORMAT,
                           "%s: its faces are not those of %s: a sequence needs the same triangles in the "
                           "same order",
                           path, first_path);
    } else {
        status = wadi_mesh_create(out, first->vertices, first->vertex_count,
                                  (const uint32_t(*)[3])first->triangles, first->triangle_count, error);
    }
    for (size_t i = 0; i < raw_count && status == WADI_OK; ++i) {
        out->vertices[new_index[i]] = raw.vertices[i];
    }
    for (size_t i = 0; i < raw_count && status == WADI_OK; ++i) {
        WadiVec3 a = out->vertices[new_index[i]], b = raw.vertices[i];
        if (a.x != b.x || a.y != b.y || a.z != b.z) {
            status = wadi_fail(
                error, WADI_ERR_FORMAT,
                "%s: its triangles do not meet where those of %s do: a sequence needs the same triangles "
                "in the same order",
                path, first_path);
        }
    }
    wadi_mesh_free(&raw);
    return status;
}

static WadiStatus read_frames(WadiMeshSequence *sequence, const char *pattern, int first, WadiError *error)
{
    char first_path[PATH_SIZE], path[PATH_SIZE];
    WADI_TRY(wadi_mesh_sequence_file(pattern, first, first_path, sizeof first_path, error));
    WadiMesh raw;
    WADI_TRY(wadi_mesh_read_unwelded(&raw, first_path, error));
    uint32_t *new_index = NULL;
    size_t raw_count = raw.vertex_count;
    WadiStatus status = WADI_NEW(&new_index, raw_count, "mesh vertex numbers", error);
    if (status == WADI_OK) {
        status = wadi_mesh_weld(&sequence->frames[0], &raw, new_index, first_path, error);
    }
    for (int i = 1; i < sequence->count && status == WADI_OK; ++i) {
        status = wadi_mesh_sequence_file(pattern, first + i, path, sizeof path, error);
        if (status == WADI_OK) {
            status = read_frame(sequence, i, path, first_path, new_index, &raw, error);
        }
    }
    WADI_DELETE(new_index, raw_count);
    wadi_mesh_free(&raw);
    return status;
}

static int interval_count(const WadiMeshSequence *sequence)
{
    return sequence->count > 1 ? sequence->count - 1 : 1;
}

static const WadiMesh *interval_end(const WadiMeshSequence *sequence, int i)
{
    return &sequence->frames[i + 1 < sequence->count ? i + 1 : i];
}

static WadiStatus build_trees(WadiMeshSequence *sequence, WadiError *error)
{
    for (int i = 0; i < sequence->count; ++i) {
        WADI_TRY(wadi_winding_create(&sequence->winding[i], &sequence->frames[i], error));
    }
    for (int i = 0; i < interval_count(sequence); ++i) {
        const WadiMesh *a = &sequence->frames[i], *b = interval_end(sequence, i);
        for (size_t v = 0; v < a->vertex_count; ++v) {
            sequence->max_displacement[i] =
                fmax(sequence->max_displacement[i], wadi_norm(wadi_sub(b->vertices[v], a->vertices[v])));
        }
        WADI_TRY(wadi_mesh_tree_create_moving(&sequence->trees[i], a, b, error));
    }
    sequence->facing = wadi_mesh_volume(&sequence->frames[0]) < 0.0 ? -1.0 : 1.0;
    return WADI_OK;
}

WadiStatus wadi_mesh_sequence_topology(const WadiMeshSequence *sequence, WadiMeshTopology *topology,
                                       WadiError *error)
{
    return wadi_mesh_topology(&sequence->frames[0], topology, error);
}

WadiStatus wadi_mesh_sequence_create(WadiMeshSequence **sequence, const char *pattern, int first, int last,
                                     double first_time, double fps, WadiError *error)
{
    *sequence = NULL;
    if (last < first || (int64_t)last - first >= FILES_MAX || !(fps > 0.0)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "%s: files %d to %d at %g a second make no sequence",
                         pattern, first, last, fps);
    }
    WadiMeshSequence *made;
    WADI_TRY(WADI_NEW(&made, 1, "mesh sequence", error));
    made->count = last - first + 1;
    made->first_time = first_time;
    made->fps = fps;
    WadiStatus status = WADI_NEW(&made->frames, (size_t)made->count, "mesh sequence", error);
    if (status == WADI_OK) {
        status = WADI_NEW(&made->winding, (size_t)made->count, "mesh sequence", error);
    }
    if (status == WADI_OK) {
        status = WADI_NEW(&made->trees, (size_t)made->count, "mesh sequence", error);
    }
    if (status == WADI_OK) {
        status = WADI_NEW(&made->max_displacement, (size_t)made->count, "mesh sequence", error);
    }
    if (status == WADI_OK) {
        status = read_frames(made, pattern, first, error);
    }
    if (status == WADI_OK) {
        status = build_trees(made, error);
    }
    if (status != WADI_OK) {
        wadi_mesh_sequence_destroy(made);
        return status;
    }
    *sequence = made;
    return WADI_OK;
}

void wadi_mesh_sequence_destroy(WadiMeshSequence *sequence)
{
    if (sequence == NULL) {
        return;
    }
    for (int i = 0; i < sequence->count; ++i) {
        if (sequence->winding != NULL) {
            wadi_winding_destroy(sequence->winding[i]);
        }
        if (sequence->trees != NULL) {
            wadi_mesh_tree_destroy(sequence->trees[i]);
        }
        if (sequence->frames != NULL) {
            wadi_mesh_free(&sequence->frames[i]);
        }
    }
    WADI_DELETE(sequence->winding, (size_t)sequence->count);
    WADI_DELETE(sequence->trees, (size_t)sequence->count);
    WADI_DELETE(sequence->frames, (size_t)sequence->count);
    WADI_DELETE(sequence->max_displacement, (size_t)sequence->count);
    WADI_DELETE(sequence, 1);
}

/* The interval that holds `time`, and the position in it (0..1). */
static int find_interval(const WadiMeshSequence *sequence, double time, double *s)
{
    double u = (time - sequence->first_time) * sequence->fps;
    double last = sequence->count - 1;
    u = u > 0.0 ? fmin(u, last) : 0.0;
    int i = (int)fmin(floor(u), interval_count(sequence) - 1);
    *s = u - i;
    return i;
}

bool wadi_mesh_sequence_is_moving(const WadiMeshSequence *sequence)
{
    return sequence->count > 1;
}

double wadi_mesh_sequence_speed(const WadiMeshSequence *sequence, double t0, double t1)
{
    double s, last = sequence->first_time + (sequence->count - 1) / sequence->fps, speed = 0.0;
    if (sequence->count < 2 || t1 < sequence->first_time || t0 > last) {
        return 0.0;
    }
    int end = find_interval(sequence, t1, &s);
    for (int i = find_interval(sequence, t0, &s); i <= end; ++i) {
        speed = fmax(speed, sequence->max_displacement[i] * sequence->fps);
    }
    return speed;
}

WadiBox wadi_mesh_sequence_bounds(const WadiMeshSequence *sequence, double time)
{
    double s;
    int i = find_interval(sequence, time, &s);
    const WadiMesh *a = &sequence->frames[i], *b = interval_end(sequence, i);
    WadiBox box = wadi_box_empty();
    for (size_t v = 0; v < a->vertex_count; ++v) {
        box = wadi_box_add_point(box, wadi_lerp(a->vertices[v], b->vertices[v], s));
    }
    return box;
}

WadiStatus wadi_mesh_sequence_at(const WadiMeshSequence *sequence, double time, WadiMesh *mesh,
                                 double *facing, WadiError *error)
{
    double s;
    int i = find_interval(sequence, time, &s);
    const WadiMesh *a = &sequence->frames[i], *b = interval_end(sequence, i);
    *facing = sequence->facing;
    WADI_TRY(wadi_mesh_create(mesh, a->vertices, a->vertex_count, (const uint32_t(*)[3])a->triangles,
                              a->triangle_count, error));
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        mesh->vertices[v] = wadi_lerp(a->vertices[v], b->vertices[v], s);
    }
    return WADI_OK;
}

void wadi_mesh_sequence_nearest(const WadiMeshSequence *sequence, WadiVec3 x, double time,
                                WadiMeshNearest *nearest)
{
    double s;
    int i = find_interval(sequence, time, &s);
    if (!wadi_mesh_tree_nearest_at(sequence->trees[i], x, s, INFINITY, nearest)) {
        /* Beyond the range of single precision: any point of the surface. */
        WadiVec3 p = sequence->frames[i].vertices[sequence->frames[i].triangles[0][0]];
        *nearest = (WadiMeshNearest){ wadi_norm(wadi_sub(x, p)), p, 0, { 1, 0, 0 } };
    }
}

static double interpolated_winding(const WadiMesh *a, const WadiMesh *b, double s, WadiVec3 x)
{
    WadiAngleSum angles = wadi_angle_sum();
    for (size_t t = 0; t < a->triangle_count; ++t) {
        WadiVec3 v[3];
        for (int k = 0; k < 3; ++k) {
            v[k] = wadi_lerp(a->vertices[a->triangles[t][k]], b->vertices[a->triangles[t][k]], s);
        }
        wadi_angle_sum_add(&angles, v[0], v[1], v[2], x);
    }
    return wadi_angle_sum_fraction(&angles);
}

static bool is_inside(const WadiMeshSequence *sequence, WadiVec3 x, double time, double distance)
{
    double s;
    int i = find_interval(sequence, time, &s);
    double max_displacement = sequence->max_displacement[i];
    if (s == 0.0 || distance > s * max_displacement) {
        return wadi_winding_is_inside(sequence->winding[i], x, sequence->facing);
    }
    if (s == 1.0 || distance > (1.0 - s) * max_displacement) {
        return wadi_winding_is_inside(sequence->winding[i + 1], x, sequence->facing);
    }
    return sequence->facing * interpolated_winding(&sequence->frames[i], &sequence->frames[i + 1], s, x) >
           0.5;
}

double wadi_mesh_sequence_distance(const WadiMeshSequence *sequence, WadiVec3 x, double time)
{
    WadiMeshNearest nearest;
    wadi_mesh_sequence_nearest(sequence, x, time, &nearest);
    return is_inside(sequence, x, time, nearest.distance) ? -nearest.distance : nearest.distance;
}

/* The triangle `t` at `time`. */
static void corners(const WadiMeshSequence *sequence, uint32_t t, double time, WadiVec3 v[3])
{
    double s;
    int i = find_interval(sequence, time, &s);
    const WadiMesh *a = &sequence->frames[i], *b = interval_end(sequence, i);
    for (int k = 0; k < 3; ++k) {
        v[k] = wadi_lerp(a->vertices[a->triangles[t][k]], b->vertices[a->triangles[t][k]], s);
    }
}

static WadiVec3 blend(const WadiVec3 v[3], const double weight[3])
{
    return wadi_add_scaled(wadi_add_scaled(wadi_scale(v[0], weight[0]), v[1], weight[1]), v[2], weight[2]);
}

double wadi_mesh_sequence_sample(const WadiMeshSequence *sequence, WadiVec3 x, double time,
                                 WadiMeshNearest *nearest, WadiVec3 *normal, WadiVec3 *velocity)
{
    wadi_mesh_sequence_nearest(sequence, x, time, nearest);
    double d = is_inside(sequence, x, time, nearest->distance) ? -nearest->distance : nearest->distance;
    WadiVec3 v[3];
    corners(sequence, nearest->triangle, time, v);
    WadiVec3 face = wadi_scale(wadi_cross(wadi_sub(v[1], v[0]), wadi_sub(v[2], v[0])), sequence->facing);
    face = wadi_normalized_or(face, wadi_vec3(0, 0, 1));
    WadiVec3 away = wadi_scale(wadi_sub(x, nearest->point), d < 0.0 ? -1.0 : 1.0);
    *normal = nearest->distance > 1e-12 * (1.0 + wadi_norm(x)) ? wadi_normalized_or(away, face) : face;
    double s, u = (time - sequence->first_time) * sequence->fps;
    int i = find_interval(sequence, time, &s);
    *velocity = wadi_vec3(0, 0, 0);
    if (u >= 0.0 && u < sequence->count - 1) {
        const WadiMesh *a = &sequence->frames[i], *b = interval_end(sequence, i);
        WadiVec3 step[3];
        for (int k = 0; k < 3; ++k) {
            uint32_t index = a->triangles[nearest->triangle][k];
            step[k] = wadi_scale(wadi_sub(b->vertices[index], a->vertices[index]), sequence->fps);
        }
        *velocity = blend(step, nearest->weight);
    }
    return d;
}

WadiVec3 wadi_mesh_sequence_carry(const WadiMeshSequence *sequence, WadiVec3 x, double t0, double t1)
{
    WadiMeshNearest nearest;
    wadi_mesh_sequence_nearest(sequence, x, t0, &nearest);
    WadiVec3 before[3], after[3];
    corners(sequence, nearest.triangle, t0, before);
    corners(sequence, nearest.triangle, t1, after);
    return wadi_add(x, wadi_sub(blend(after, nearest.weight), blend(before, nearest.weight)));
}
