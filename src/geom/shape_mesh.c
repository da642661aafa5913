#include "geom/shape_mesh.h"

#include "core/array.h"
#include "core/check.h"
#include "geom/shape_internal.h"

enum { AROUND_MIN = 12, AROUND_MAX = 512, PROFILE_MAX = AROUND_MAX + 8 };

static const double PI = 3.14159265358979324;

typedef struct Corners {
    uint32_t corner[3];
} Corners;

/* A mesh under construction. */
typedef struct MeshBuilder {
    WADI_ARRAY(WadiVec3) vertices;
    WADI_ARRAY(Corners) triangles;
    WadiAffine map; /* from the frame of the shape being added to the world */
    WadiBox view;
    double time, tolerance;
} MeshBuilder;

bool wadi_shape_has_mesh(const WadiShape *shape)
{
    bool has_mesh = shape->kind <= WADI_SHAPE_UNION;
    for (int c = 0; c < shape->child_count && has_mesh; ++c) {
        has_mesh = wadi_shape_has_mesh(&shape->children[c]);
    }
    return has_mesh;
}

static WadiStatus reserve(MeshBuilder *builder, size_t vertices, size_t triangles, WadiError *error)
{
    const char *what = "triangles of a shape";
    WADI_TRY(WADI_ARRAY_RESERVE(&builder->vertices, builder->vertices.count + vertices, what, error));
    return WADI_ARRAY_RESERVE(&builder->triangles, builder->triangles.count + triangles, what, error);
}

static double map_determinant(const WadiAffine *map)
{
    WadiVec3 row[3];
    for (int r = 0; r < 3; ++r) {
        row[r] = wadi_vec3(map->m[r][0], map->m[r][1], map->m[r][2]);
    }
    return wadi_dot(row[0], wadi_cross(row[1], row[2]));
}

static void add_vertex(MeshBuilder *builder, WadiVec3 x)
{
    builder->vertices.data[builder->vertices.count++] = wadi_affine_point(&builder->map, x);
}

/* Corners counterclockwise from outside in the local frame; a mirroring map reverses them. */
static void add_triangle(MeshBuilder *builder, size_t a, size_t b, size_t c)
{
    uint32_t *to = builder->triangles.data[builder->triangles.count++].corner;
    bool is_mirrored = map_determinant(&builder->map) < 0.0;
    to[0] = (uint32_t)a;
    to[1] = (uint32_t)(is_mirrored ? c : b);
    to[2] = (uint32_t)(is_mirrored ? b : c);
}

static WadiStatus add_box(MeshBuilder *builder, WadiVec3 middle, WadiVec3 half, WadiError *error)
{
    static const uint8_t side[6][4] = { { 0, 4, 6, 2 }, { 1, 3, 7, 5 }, { 0, 1, 5, 4 },
                                        { 2, 6, 7, 3 }, { 0, 2, 3, 1 }, { 4, 5, 7, 6 } };
    WADI_TRY(reserve(builder, 8, 12, error));
    size_t first = builder->vertices.count;
    for (int n = 0; n < 8; ++n) {
        WadiVec3 sign = { (n & 1) != 0 ? 1 : -1, (n & 2) != 0 ? 1 : -1, (n & 4) != 0 ? 1 : -1 };
        add_vertex(builder, wadi_add(middle, wadi_mul(sign, half)));
    }
    for (int s = 0; s < 6; ++s) {
        add_triangle(builder, first + side[s][0], first + side[s][1], first + side[s][2]);
        add_triangle(builder, first + side[s][0], first + side[s][2], first + side[s][3]);
    }
    return WADI_OK;
}

/* A profile rotated about an axis: (radius, height) from bottom to top, the outside on the right. Points
 * on the axis become one vertex each; a closed profile (a torus) has none. */
typedef struct Profile {
    double r[PROFILE_MAX], z[PROFILE_MAX];
    int count;
    bool is_closed;
} Profile;

static void add_point(Profile *profile, double r, double z)
{
    WADI_ASSERT_ELSE(profile->count < PROFILE_MAX, return;);
    profile->r[profile->count] = r;
    profile->z[profile->count++] = z;
}

/* Steps around a circle of this radius that keep the chords within the tolerance; a multiple of four. */
static int steps_around(const MeshBuilder *builder, double radius)
{
    double smallest, largest;
    wadi_affine_stretch(&builder->map, &smallest, &largest);
    double part = fmin(builder->tolerance / fmax(radius * largest, 1e-300), 1.0);
    double steps = PI / fmax(acos(1.0 - part), 1e-3);
    int whole = (int)fmin(fmax(ceil(steps / 4.0) * 4.0, AROUND_MIN), AROUND_MAX);
    return whole;
}

/* From angle `from` to `to` (radians, 0 is outward, PI/2 along the axis) about (r, z). */
static void add_arc(Profile *profile, double r, double z, double radius, double from, double to, int steps)
{
    for (int s = 0; s <= steps; ++s) {
        double angle = from + (to - from) * s / steps;
        double away = r + radius * cos(angle);
        bool is_pole = r == 0.0 && (s == 0 || s == steps) && fabs(cos(angle)) < 1e-9;
        add_point(profile, is_pole ? 0.0 : away, z + radius * sin(angle));
    }
}

static WadiStatus add_revolved(MeshBuilder *builder, WadiVec3 bottom, WadiVec3 axis, const Profile *profile,
                               int around, WadiError *error)
{
    WadiVec3 across = fabs(axis.x) < 0.6 ? wadi_vec3(1, 0, 0) : wadi_vec3(0, 1, 0);
    WadiVec3 u = wadi_normalized_or(wadi_cross(across, axis), wadi_vec3(0, 1, 0)), v = wadi_cross(axis, u);
    size_t rings = (size_t)profile->count;
    WADI_TRY(reserve(builder, rings * (size_t)around, 2 * rings * (size_t)around, error));
    size_t start[PROFILE_MAX];
    for (int p = 0; p < profile->count; ++p) {
        start[p] = builder->vertices.count;
        for (int a = 0; a < (profile->r[p] > 0.0 ? around : 1); ++a) {
            double angle = 2.0 * PI * a / around;
            WadiVec3 x = wadi_add_scaled(bottom, axis, profile->z[p]);
            x = wadi_add_scaled(x, u, profile->r[p] * cos(angle));
            add_vertex(builder, wadi_add_scaled(x, v, profile->r[p] * sin(angle)));
        }
    }
    for (int p = 0; p < profile->count - (profile->is_closed ? 0 : 1); ++p) {
        int q = (p + 1) % profile->count;
        for (int a = 0; a < around; ++a) {
            size_t here = (size_t)a, next = (size_t)((a + 1) % around);
            bool is_bottom = !(profile->r[p] > 0.0), is_top = !(profile->r[q] > 0.0);
            size_t p0 = start[p] + (is_bottom ? 0 : here), p1 = start[p] + (is_bottom ? 0 : next);
            size_t q0 = start[q] + (is_top ? 0 : here), q1 = start[q] + (is_top ? 0 : next);
            if (!is_bottom) {
                add_triangle(builder, p0, p1, is_top ? q0 : q1);
            }
            if (!is_top) {
                add_triangle(builder, p0, q1, q0);
            }
        }
    }
    return WADI_OK;
}

static WadiStatus add_round(MeshBuilder *builder, const WadiPrimitive *p, WadiError *error)
{
    Profile profile = { 0 };
    int around = steps_around(builder, fmax(p->r0, p->r1));
    switch (p->kind) {
    case WADI_SHAPE_CYLINDER:
    case WADI_SHAPE_CONE: {
        double top = p->kind == WADI_SHAPE_CONE ? p->r1 : p->r0;
        add_point(&profile, 0.0, 0.0);
        if (p->r0 > 0.0) {
            add_point(&profile, p->r0, 0.0);
        }
        if (top > 0.0) {
            add_point(&profile, top, p->length);
        }
        add_point(&profile, 0.0, p->length);
        break;
    }
    case WADI_SHAPE_CAPSULE:
        add_arc(&profile, 0.0, 0.0, p->r0, -PI / 2, 0.0, around / 4);
        add_arc(&profile, 0.0, p->length, p->r0, 0.0, PI / 2, around / 4);
        break;
    case WADI_SHAPE_TORUS: {
        around = steps_around(builder, p->r0 + p->r1);
        int steps = steps_around(builder, p->r1);
        add_arc(&profile, p->r0, 0.0, p->r1, -PI, PI, steps);
        profile.count -= 1; /* the last point is the first */
        profile.is_closed = true;
        break;
    }
    default: add_arc(&profile, 0.0, 0.0, p->r0, -PI / 2, PI / 2, around / 2); break;
    }
    WadiVec3 axis = p->kind == WADI_SHAPE_SPHERE ? wadi_vec3(0, 0, 1) : p->b;
    return add_revolved(builder, p->a, axis, &profile, around, error);
}

static WadiStatus add_ellipsoid(MeshBuilder *builder, const WadiPrimitive *p, WadiError *error)
{
    /* A unit ball through a map that stretches it. */
    WadiAffine outer = builder->map, stretch = wadi_affine_identity();
    double radii[3] = { p->b.x, p->b.y, p->b.z };
    for (int axis = 0; axis < 3; ++axis) {
        for (int row = 0; row < 3; ++row) {
            stretch.m[row][axis] = outer.m[row][axis] * radii[axis];
        }
    }
    stretch.t = wadi_affine_point(&outer, p->a);
    builder->map = stretch;
    WadiPrimitive ball = { .kind = WADI_SHAPE_SPHERE, .r0 = 1.0 };
    WadiStatus status = add_round(builder, &ball, error);
    builder->map = outer;
    return status;
}

/* A square of the plane, in world coordinates because its size follows the view. */
static WadiStatus add_half_space(MeshBuilder *builder, const WadiPrimitive *p, WadiError *error)
{
    WADI_TRY(reserve(builder, 4, 2, error));
    WadiAffine inverse;
    WadiVec3 point = wadi_affine_point(&builder->map, p->a), normal = p->b;
    if (wadi_affine_inverse(&builder->map, &inverse)) {
        normal = wadi_affine_transposed_vector(&inverse, p->b);
    }
    normal = wadi_normalized_or(normal, wadi_vec3(0, 0, 1));
    WadiVec3 middle = wadi_scale(wadi_add(builder->view.min, builder->view.max), 0.5);
    double half_side = 1.5 * wadi_norm(wadi_box_size(builder->view));
    WadiVec3 projected = wadi_add_scaled(middle, normal, -wadi_dot(wadi_sub(middle, point), normal));
    WadiVec3 across = fabs(normal.x) < 0.6 ? wadi_vec3(1, 0, 0) : wadi_vec3(0, 1, 0);
    WadiVec3 u = wadi_normalized_or(wadi_cross(across, normal), wadi_vec3(0, 1, 0)),
             v = wadi_cross(normal, u);
    WadiAffine map = builder->map;
    builder->map = wadi_affine_identity();
    size_t first = builder->vertices.count;
    for (int n = 0; n < 4; ++n) {
        WadiVec3 x = wadi_add_scaled(projected, u, n == 1 || n == 2 ? half_side : -half_side);
        add_vertex(builder, wadi_add_scaled(x, v, n >= 2 ? half_side : -half_side));
    }
    add_triangle(builder, first, first + 1, first + 2);
    add_triangle(builder, first, first + 2, first + 3);
    builder->map = map;
    return WADI_OK;
}

/* `facing` -1: the triangles face inward. */
static WadiStatus add_mesh(MeshBuilder *builder, const WadiMesh *mesh, double facing, WadiError *error)
{
    WADI_TRY(reserve(builder, mesh->vertex_count, mesh->triangle_count, error));
    size_t first = builder->vertices.count;
    for (size_t n = 0; n < mesh->vertex_count; ++n) {
        add_vertex(builder, mesh->vertices[n]);
    }
    for (size_t n = 0; n < mesh->triangle_count; ++n) {
        const uint32_t *corner = mesh->triangles[n];
        int swap = facing < 0.0 ? 1 : 0;
        add_triangle(builder, first + corner[0], first + corner[1 + swap], first + corner[2 - swap]);
    }
    return WADI_OK;
}

static WadiStatus add_sequence(MeshBuilder *builder, const WadiMeshSequence *sequence, WadiError *error)
{
    WadiMesh mesh;
    double facing;
    WADI_TRY(wadi_mesh_sequence_at(sequence, builder->time, &mesh, &facing, error));
    WadiStatus status = add_mesh(builder, &mesh, facing, error);
    wadi_mesh_free(&mesh);
    return status;
}

static WadiAffine compose(const WadiAffine *outer, const WadiAffine *inner)
{
    WadiAffine both = { .t = wadi_affine_point(outer, inner->t) };
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column) {
            for (int k = 0; k < 3; ++k) {
                both.m[row][column] += outer->m[row][k] * inner->m[k][column];
            }
        }
    }
    return both;
}

static WadiStatus add_shape(MeshBuilder *builder, const WadiShape *shape, WadiError *error)
{
    WadiPlacement placement;
    WadiPrimitive scratch;
    WadiAffine outer = builder->map;
    if (shape->placing != WADI_PLACING_IDENTITY) {
        builder->map = compose(&outer, &wadi_shape_placement(shape, builder->time, &placement)->map);
    }
    const WadiPrimitive *p = wadi_shape_kind_is_primitive(shape->kind)
                                 ? wadi_shape_primitive(shape, builder->time, &scratch)
                                 : NULL;
    WadiStatus status = WADI_OK;
    if (p != NULL) {
        status = p->kind == WADI_SHAPE_BOX          ? add_box(builder, p->a, p->b, error)
                 : p->kind == WADI_SHAPE_ELLIPSOID  ? add_ellipsoid(builder, p, error)
                 : p->kind == WADI_SHAPE_HALF_SPACE ? add_half_space(builder, p, error)
                                                    : add_round(builder, p, error);
    } else if (shape->sequence != NULL) {
        status = add_sequence(builder, shape->sequence, error);
    } else if (shape->solid != NULL) {
        status = add_mesh(builder, &shape->solid->mesh, shape->solid->facing, error);
    }
    for (int c = 0; c < shape->child_count && status == WADI_OK; ++c) {
        status = add_shape(builder, &shape->children[c], error);
    }
    builder->map = outer;
    return status;
}

WadiStatus wadi_shape_mesh(WadiMesh *mesh, const WadiShape *shape, double time, WadiBox view,
                           double tolerance, WadiError *error)
{
    WADI_ASSERT_TRY(wadi_shape_has_mesh(shape) && tolerance > 0.0, error);
    MeshBuilder builder = {
        .map = wadi_affine_identity(), .view = view, .time = time, .tolerance = tolerance
    };
    *mesh = (WadiMesh){ 0 };
    WadiStatus status = add_shape(&builder, shape, error);
    if (status == WADI_OK) {
        status =
            wadi_mesh_create(mesh, builder.vertices.data, builder.vertices.count,
                             (const uint32_t(*)[3])builder.triangles.data, builder.triangles.count, error);
    }
    WADI_ARRAY_FREE(&builder.vertices);
    WADI_ARRAY_FREE(&builder.triangles);
    return status;
}
