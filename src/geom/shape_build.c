#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"
#include "geom/mesh/heightmap.h"
#include "geom/mesh/mesh_fit.h"
#include "geom/sdf_band.h"
#include "geom/shape_internal.h"

static WadiStatus refuse(const WadiShapeDef *def, WadiError *error, const char *problem)
{
    return wadi_fail(error, WADI_ERR_ARGUMENT, "%s%s%s: %s", def->where, def->where[0] != '\0' ? ": " : "",
                     wadi_shape_kind_name(def->kind), problem);
}

static WadiVec3 scale_value(const WadiCurve *scale, double time)
{
    WadiVec3 s = wadi_curve_value3(scale, time);
    return scale->components == 1 ? wadi_vec3(s.x, s.x, s.x) : s;
}

WadiVec3 wadi_shape_scale_at(const WadiShape *shape, double time)
{
    return scale_value(&shape->scale, time);
}

/* Linear and smooth curves have their extremes at keys, so values are checked there. */
static WadiStatus check_curve(const WadiShapeDef *def, const WadiCurve *curve, const char *name,
                              WadiError *error)
{
    char text[128];
    int count = curve->key_count > 0 ? curve->key_count : 1;
    for (int i = 0; i < count; ++i) {
        const double *v = curve->key_count > 0 ? curve->keys[i].value : curve->constant.value;
        for (int c = 0; c < curve->components; ++c) {
            if (!isfinite(v[c])) {
                snprintf(text, sizeof text, "%s must be finite", name);
                return refuse(def, error, text);
            }
        }
    }
    return WADI_OK;
}

static WadiStatus check_scale(const WadiShapeDef *def, WadiError *error)
{
    const WadiCurve *scale = &def->scale;
    WadiVec3 first = scale_value(scale, scale->key_count > 0 ? scale->keys[0].time : 0.0);
    int count = scale->key_count > 0 ? scale->key_count : 1;
    for (int i = 0; i < count; ++i) {
        WadiVec3 s = scale_value(scale, scale->key_count > 0 ? scale->keys[i].time : 0.0);
        double smallest = fmin(fabs(s.x), fmin(fabs(s.y), fabs(s.z)));
        if (!(smallest > 1e-12) || fmax(fabs(s.x), fmax(fabs(s.y), fabs(s.z))) > 1e12) {
            return refuse(def, error, "scale must not be zero in any direction (1e-12 to 1e12)");
        }
        if (s.x * first.x < 0.0 || s.y * first.y < 0.0 || s.z * first.z < 0.0) {
            return refuse(def, error,
                          "a keyframed scale must not change sign: the solid would pass through nothing");
        }
    }
    return WADI_OK;
}

static WadiStatus check_parameters_at(const WadiShapeDef *def, double time, WadiError *error)
{
    WadiVec3 value[WADI_SHAPE_PARAMETER_MAX];
    for (int i = 0; i < WADI_SHAPE_PARAMETER_MAX; ++i) {
        value[i] = wadi_curve_value3(&def->parameter[i], time);
    }
    const char *problem = NULL;
    if (wadi_shape_kind_is_primitive(def->kind)) {
        problem = wadi_primitive_problem(def->kind, value);
    } else if (def->kind == WADI_SHAPE_SMOOTH_UNION && !(value[0].x >= 0.0)) {
        problem = "radius must not be negative";
    } else if ((def->kind == WADI_SHAPE_MESH || def->kind == WADI_SHAPE_MESH_SEQUENCE) &&
               !(value[0].x >= 0.0)) {
        problem = "thickness must not be negative";
    } else if (def->kind == WADI_SHAPE_MESH_SEQUENCE && !(value[2].x > 0.0)) {
        problem = "fps must be greater than zero";
    } else if (def->kind == WADI_SHAPE_HEIGHTMAP &&
               !(value[0].x < value[1].x && value[0].y < value[1].y && value[0].z <= value[1].z)) {
        problem = "max must exceed min in x and y, and not be below it in z";
    }
    return problem == NULL ? WADI_OK : refuse(def, error, problem);
}

static WadiStatus check_def(const WadiShapeDef *def, WadiError *error)
{
    int parameter_count = wadi_shape_parameter_count(def->kind);
    for (int i = 0; i < parameter_count; ++i) {
        WADI_TRY(check_curve(def, &def->parameter[i], "a parameter", error));
    }
    WADI_TRY(check_curve(def, &def->translate, "translate", error));
    WADI_TRY(check_curve(def, &def->rotate, "rotate", error));
    WADI_TRY(check_curve(def, &def->scale, "scale", error));
    WADI_TRY(check_curve(def, &def->pivot, "pivot", error));
    WADI_TRY(check_scale(def, error));
    WADI_TRY(check_parameters_at(def, 0.0, error));
    for (int i = 0; i < parameter_count; ++i) {
        for (int k = 0; k < def->parameter[i].key_count; ++k) {
            WADI_TRY(check_parameters_at(def, def->parameter[i].keys[k].time, error));
        }
    }
    for (int i = 0; i < parameter_count; ++i) {
        bool is_thickness = def->kind != WADI_SHAPE_HEIGHTMAP && i == 0;
        if (def->kind >= WADI_SHAPE_HEIGHTMAP && def->kind < WADI_SHAPE_UNION && !is_thickness &&
            !wadi_curve_is_constant(&def->parameter[i])) {
            return refuse(def, error,
                          "cannot be keyframed here; keyframe translate, rotate or scale instead");
        }
    }
    bool is_boolean = def->kind >= WADI_SHAPE_UNION;
    if (is_boolean && def->child_count < 1) {
        return refuse(def, error, "needs at least one shape");
    }
    if (!is_boolean && def->child_count > 0) {
        return refuse(def, error, "cannot hold other shapes");
    }
    return WADI_OK;
}

static WadiStatus copy_curves(WadiShape *shape, const WadiShapeDef *def, WadiError *error)
{
    for (int i = 0; i < WADI_SHAPE_PARAMETER_MAX; ++i) {
        WADI_TRY(wadi_curve_copy(&shape->parameter[i], &def->parameter[i], error));
        shape->has_moving_parameters |= !wadi_curve_is_constant(&def->parameter[i]);
    }
    WADI_TRY(wadi_curve_copy(&shape->translate, &def->translate, error));
    WADI_TRY(wadi_curve_copy(&shape->rotate, &def->rotate, error));
    WADI_TRY(wadi_curve_copy(&shape->scale, &def->scale, error));
    return wadi_curve_copy(&shape->pivot, &def->pivot, error);
}

static bool is_identity(const WadiAffine *a)
{
    WadiAffine identity = wadi_affine_identity();
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            if (a->m[i][j] != identity.m[i][j]) {
                return false;
            }
        }
    }
    return a->t.x == 0.0 && a->t.y == 0.0 && a->t.z == 0.0;
}

static bool set_placement(WadiShape *shape)
{
    bool is_fixed = wadi_curve_is_constant(&shape->translate) && wadi_curve_is_constant(&shape->rotate) &&
                    wadi_curve_is_constant(&shape->scale) && wadi_curve_is_constant(&shape->pivot);
    shape->placing = WADI_PLACING_MOVING;
    wadi_shape_placement(shape, 0.0, &shape->fixed);
    WadiAffine inverse;
    if (!wadi_affine_inverse(&shape->fixed.map, &inverse)) {
        return false;
    }
    if (is_fixed) {
        shape->placing = is_identity(&shape->fixed.map) ? WADI_PLACING_IDENTITY : WADI_PLACING_FIXED;
    }
    shape->serial = wadi_shape_new_serial();
    return true;
}

/* At all times: between keys the components are in proportion if they are so at the keys. */
static bool has_uniform_scale(const WadiShape *shape)
{
    bool is_uniform = true;
    for (int k = -1; k < shape->scale.key_count; ++k) {
        WadiVec3 s = wadi_abs(wadi_shape_scale_at(shape, k < 0 ? 0.0 : shape->scale.keys[k].time));
        is_uniform &= s.x == s.y && s.y == s.z;
    }
    return is_uniform;
}

static bool has_true_distance(const WadiShape *shape)
{
    bool is_true = has_uniform_scale(shape) && shape->kind <= WADI_SHAPE_UNION;
    for (int i = 0; i < shape->child_count; ++i) {
        is_true &= shape->children[i].has_true_distance;
    }
    return is_true;
}

static bool is_cut(const WadiShape *shape)
{
    bool is = !has_uniform_scale(shape) || shape->kind == WADI_SHAPE_DIFFERENCE ||
              shape->kind == WADI_SHAPE_INTERSECTION;
    for (int i = 0; i < shape->child_count; ++i) {
        is |= shape->children[i].is_cut;
    }
    return is;
}

static WadiStatus load_sequence(WadiShape *shape, const WadiShapeDef *def, WadiError *error)
{
    WadiVec3 value[WADI_SHAPE_PARAMETER_MAX];
    wadi_shape_parameters(shape, 0.0, value);
    WADI_TRY(wadi_mesh_sequence_create(&shape->sequence, def->file, def->first_number, def->last_number,
                                       value[1].x, value[2].x, error));
    shape->is_moving |= wadi_mesh_sequence_is_moving(shape->sequence);
    return WADI_OK;
}

static WadiStatus read_triangles(WadiMesh *mesh, const WadiShape *shape, const WadiShapeDef *def,
                                 WadiError *error)
{
    WadiVec3 value[WADI_SHAPE_PARAMETER_MAX];
    wadi_shape_parameters(shape, 0.0, value);
    if (def->kind == WADI_SHAPE_HEIGHTMAP) {
        return wadi_heightmap_read(mesh, def->file, (WadiBox){ value[0], value[1] }, error);
    }
    WADI_TRY(wadi_mesh_read(mesh, def->file, error));
    return wadi_mesh_fit(mesh, &def->fit, error);
}

static bool is_same_fit(const WadiMeshFit *a, const WadiMeshFit *b)
{
    const WadiVec3 size = wadi_sub(a->size, b->size), center = wadi_sub(a->center, b->center);
    return a->has_size == b->has_size && a->has_center == b->has_center && a->up == b->up &&
           wadi_dot(size, size) == 0.0 && wadi_dot(center, center) == 0.0;
}

void wadi_shape_def_share(WadiShapeDef *def, const WadiShapeDef *from, const WadiShape *shape)
{
    const bool is_same = shape != NULL && def->kind == WADI_SHAPE_MESH && from->kind == WADI_SHAPE_MESH &&
                         strcmp(def->file, from->file) == 0 && is_same_fit(&def->fit, &from->fit);
    def->like = is_same ? shape : NULL;
    for (int i = 0; i < def->child_count; ++i) {
        const bool has_other = shape != NULL && i < from->child_count;
        wadi_shape_def_share(&def->children[i], has_other ? &from->children[i] : NULL,
                             has_other ? &shape->children[i] : NULL);
    }
}

static WadiStatus load_solid(WadiShape *shape, const WadiShapeDef *def, WadiError *error)
{
    if (def->like != NULL && def->like->solid != NULL) {
        shape->solid = def->like->solid;
        shape->solid->users += 1;
        return WADI_OK;
    }
    WadiMesh mesh = { 0 };
    WadiStatus status = read_triangles(&mesh, shape, def, error);
    if (status == WADI_OK) {
        status = WADI_NEW(&shape->solid, 1, "mesh", error);
    }
    if (status == WADI_OK) {
        status = wadi_mesh_solid_create(shape->solid, &mesh, true, error);
    }
    wadi_mesh_free(&mesh);
    return status;
}

static WadiStatus load(WadiShape *shape, const WadiShapeDef *def, WadiError *error)
{
    if (def->kind != WADI_SHAPE_HEIGHTMAP && def->kind != WADI_SHAPE_MESH &&
        def->kind != WADI_SHAPE_MESH_SEQUENCE) {
        return WADI_OK;
    }
    if (def->file == NULL || def->file[0] == '\0') {
        return refuse(def, error, "needs a file");
    }
    WadiError reason;
    const WadiStatus status = def->kind == WADI_SHAPE_MESH_SEQUENCE ? load_sequence(shape, def, &reason)
                                                                    : load_solid(shape, def, &reason);
    if (status != WADI_OK) {
        return wadi_fail(error, status, "%s%s%s: %s", def->where, def->where[0] != '\0' ? ": " : "",
                         wadi_shape_kind_name(def->kind), reason.text);
    }
    return WADI_OK;
}

/* What a message needs to know: `map` is from the frame of the shape to the scene, at time 0. */
typedef struct Place {
    const WadiLog *log;
    WadiAffine map;
} Place;

/* outer(inner(p)) */
static WadiAffine chain(const WadiAffine *outer, const WadiAffine *inner)
{
    WadiAffine both = { .t = wadi_affine_point(outer, inner->t) };
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            for (int k = 0; k < 3; ++k) {
                both.m[i][j] += outer->m[i][k] * inner->m[k][j];
            }
        }
    }
    return both;
}

/* Sizes and positions are those in the scene, not those in the file. */
static void warn_if_open(const WadiMeshTopology *topology, const char *name, const Place *place)
{
    double smallest, largest;
    wadi_affine_stretch(&place->map, &smallest, &largest);
    if (!topology->is_closed) {
        const WadiVec3 c = wadi_affine_point(&place->map, topology->hole_center);
        wadi_log(place->log, WADI_LOG_WARNING,
                 "%s: the mesh is not closed: %zu boundary edges in %zu hole%s, the largest %.3g m wide "
                 "around (%.4g, %.4g, %.4g); inside is decided by the winding number",
                 name, topology->boundary_edges, topology->hole_count, topology->hole_count == 1 ? "" : "s",
                 topology->hole_width * largest, c.x, c.y, c.z);
    } else if (topology->flipped_edges > 0) {
        wadi_log(place->log, WADI_LOG_WARNING,
                 "%s: %zu edges lie between triangles of opposite orientation; inside is decided by the "
                 "winding number",
                 name, topology->flipped_edges);
    }
}

/* A shell around the triangles has no inside that holes could spoil. */
static bool is_shell(const WadiShape *shape)
{
    return (shape->kind == WADI_SHAPE_MESH || shape->sequence != NULL) &&
           wadi_shape_half_thickness(shape, 0.0) > 0.0;
}

static void warn(const WadiShape *shape, const WadiShapeDef *def, const Place *outer)
{
    WadiMeshTopology topology;
    WadiPlacement scratch;
    const Place place = { outer->log, chain(&outer->map, &wadi_shape_placement(shape, 0.0, &scratch)->map) };
    if (is_shell(shape)) {
        return;
    }
    if (shape->sequence != NULL && wadi_mesh_sequence_topology(shape->sequence, &topology, NULL) == WADI_OK) {
        warn_if_open(&topology, def->file, &place);
        wadi_mesh_topology_free(&topology);
    }
    if (shape->kind == WADI_SHAPE_MESH && shape->solid != NULL) {
        warn_if_open(&shape->solid->topology, def->file, &place);
    }
    for (int i = 0; i < shape->child_count; ++i) {
        warn(&shape->children[i], &def->children[i], &place);
    }
}

void wadi_shape_warn_if_open(const WadiShape *shape, const WadiShapeDef *def, const WadiLog *log)
{
    const Place scene = { log, wadi_affine_identity() };
    if (log != NULL) {
        warn(shape, def, &scene);
    }
}

static WadiStatus build(WadiShape *shape, const WadiShapeDef *def, int depth, WadiError *error)
{
    WADI_ASSERT_TRY((int)def->kind >= 0 && def->kind < WADI_SHAPE_KIND_COUNT, error);
    shape->kind = def->kind;
    if (depth > WADI_SHAPE_DEPTH_MAX) {
        return refuse(def, error, "shapes are nested more than 64 deep");
    }
    WADI_TRY(check_def(def, error));
    WADI_TRY(copy_curves(shape, def, error));
    if (!set_placement(shape)) {
        return refuse(def, error, "its transform cannot be inverted: check scale");
    }
    shape->is_moving = shape->placing == WADI_PLACING_MOVING || shape->has_moving_parameters;
    if (wadi_shape_kind_is_primitive(shape->kind) && !shape->has_moving_parameters) {
        WadiVec3 value[WADI_SHAPE_PARAMETER_MAX];
        wadi_shape_parameters(shape, 0.0, value);
        shape->primitive = wadi_primitive_make(shape->kind, value);
    }
    if (def->child_count > 0) {
        WADI_TRY(WADI_NEW(&shape->children, (size_t)def->child_count, "shapes", error));
        shape->child_count = def->child_count;
        for (int i = 0; i < def->child_count; ++i) {
            WADI_TRY(build(&shape->children[i], &def->children[i], depth + 1, error));
            shape->is_moving |= shape->children[i].is_moving;
        }
    }
    WADI_TRY(load(shape, def, error));
    shape->has_true_distance = has_true_distance(shape);
    shape->is_exact = !shape->is_moving && shape->has_true_distance;
    shape->is_cut = is_cut(shape);
    shape->bounds = wadi_shape_level_bounds(shape, 0.0, 0.0);
    return WADI_OK;
}

WadiStatus wadi_shape_raise(WadiShape *shape, double rise, WadiError *error)
{
    shape->translate.constant.value[2] += rise;
    for (int k = 0; k < shape->translate.key_count; ++k) {
        shape->translate.keys[k].value[2] += rise;
    }
    shape->serial = 0; /* placements of the shape that are kept are those before */
    if (!set_placement(shape)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the shape cannot be moved by %g m", rise);
    }
    shape->bounds = wadi_shape_level_bounds(shape, 0.0, 0.0);
    return WADI_OK;
}

static void release(WadiShape *shape)
{
    for (int i = 0; i < WADI_SHAPE_PARAMETER_MAX; ++i) {
        wadi_curve_free(&shape->parameter[i]);
    }
    wadi_curve_free(&shape->translate);
    wadi_curve_free(&shape->rotate);
    wadi_curve_free(&shape->scale);
    wadi_curve_free(&shape->pivot);
    for (int i = 0; i < shape->child_count; ++i) {
        release(&shape->children[i]);
    }
    WADI_DELETE(shape->children, (size_t)shape->child_count);
    if (shape->solid == NULL || shape->band != shape->solid->band) {
        wadi_sdf_band_destroy(shape->band);
    }
    if (shape->solid != NULL && shape->solid->users-- == 0) {
        wadi_sdf_band_destroy(shape->solid->band);
        wadi_mesh_solid_free(shape->solid);
        WADI_DELETE(shape->solid, 1);
    }
    wadi_mesh_sequence_destroy(shape->sequence);
}

WadiStatus wadi_shape_create(WadiShape **shape, const WadiShapeDef *def, const WadiLog *log, WadiError *error)
{
    *shape = NULL;
    WADI_TRY(WADI_NEW(shape, 1, "shape", error));
    WadiStatus status = build(*shape, def, 0, error);
    if (status != WADI_OK) {
        wadi_shape_destroy(*shape);
        *shape = NULL;
        return status;
    }
    wadi_shape_warn_if_open(*shape, def, log);
    return WADI_OK;
}

void wadi_shape_destroy(WadiShape *shape)
{
    if (shape != NULL) {
        release(shape);
        WADI_DELETE(shape, 1);
    }
}
