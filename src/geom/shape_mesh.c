#include "geom/shape_mesh.h"

#include "core/array.h"
#include "core/check.h"
#include "geom/shape_internal.h"

enum { AROUND_MIN = 12, AROUND_MAX = 512, PROFILE_MAX = AROUND_MAX + 8 };

static const double PI = 3.14159265358979324;

typedef struct Corners {
    uint32_t corner[3];
} Corners;

/* Triangles as they come together. */
typedef struct Making {
    WADI_ARRAY(WadiVec3) vertices;
    WADI_ARRAY(Corners) triangles;
    WadiAffine map; /* of the shape that is being added, to the world */
    WadiBox view;
    double time, tolerance;
} Making;

bool wadi_shape_has_mesh(const WadiShape *shape)
{
    bool has_mesh = shape->kind <= WADI_SHAPE_UNION;
    for (int c = 0; c < shape->child_count && has_mesh; ++c) {
        has_mesh = wadi_shape_has_mesh(&shape->children[c]);
    }
    return has_mesh;
}

static WadiStatus reserve(Making *making, size_t vertices, size_t triangles, WadiError *error)
{
    const char *what = "triangles of a shape";
    WADI_TRY(WADI_ARRAY_RESERVE(&making->vertices, making->vertices.count + vertices, what, error));
    return WADI_ARRAY_RESERVE(&making->triangles, making->triangles.count + triangles, what, error);
}

static double map_determinant(const WadiAffine *map)
{
    WadiVec3 row[3];
    for (int r = 0; r < 3; ++r) {
        row[r] = wadi_vec3(map->m[r][0], map->m[r][1], map->m[r][2]);
    }
    return wadi_dot(row[0], wadi_cross(row[1], row[2]));
}

static void add_vertex(Making *making, WadiVec3 x)
{
    making->vertices.data[making->vertices.count++] = wadi_affine_point(&making->map, x);
}

/* Corners counterclockwise from outside in the shape's own frame; a map that mirrors turns them round. */
static void add_triangle(Making *making, size_t a, size_t b, size_t c)
{
    uint32_t *to = making->triangles.data[making->triangles.count++].corner;
    bool is_mirrored = map_determinant(&making->map) < 0.0;
    to[0] = (uint32_t)a;
    to[1] = (uint32_t)(is_mirrored ? c : b);
    to[2] = (uint32_t)(is_mirrored ? b : c);
}

static WadiStatus add_box(Making *making, WadiVec3 middle, WadiVec3 half, WadiError *error)
{
    static const uint8_t side[6][4] = { { 0, 4, 6, 2 }, { 1, 3, 7, 5 }, { 0, 1, 5, 4 },
                                        { 2, 6, 7, 3 }, { 0, 2, 3, 1 }, { 4, 5, 7, 6 } };
    WADI_TRY(reserve(making, 8, 12, error));
    size_t first = making->vertices.count;
    for (int n = 0; n < 8; ++n) {
        WadiVec3 sign = { (n & 1) != 0 ? 1 : -1, (n & 2) != 0 ? 1 : -1, (n & 4) != 0 ? 1 : -1 };
        add_vertex(making, wadi_add(middle, wadi_mul(sign, half)));
    }
    for (int s = 0; s < 6; ++s) {
        add_triangle(making, first + side[s][0], first + side[s][1], first + side[s][2]);
        add_triangle(making, first + side[s][0], first + side[s][2], first + side[s][3]);
    }
    return WADI_OK;
}

/* A profile turned about an axis: (distance from the axis, place along it), from its foot to its top, the outside on its right
 * hand. Points on the axis become one vertex each; a closed profile (a torus) has none. */
typedef struct Profile {
    double r[PROFILE_MAX], z[PROFILE_MAX];
    int count;
    bool is_closed;
} Profile;

static void add_point(Profile *profile, double r, double z)
{
    WADI_ASSERT_ELSE(profile->count < PROFILE_MAX, return );
    profile->r[profile->count] = r;
    profile->z[profile->count++] = z;
}

/* Steps around a circle of this radius that keep the chords within the tolerance; a multiple of four. */
static int steps_around(const Making *making, double radius)
{
    double smallest, largest;
    wadi_affine_stretch(&making->map, &smallest, &largest);
    double part = fmin(making->tolerance / fmax(radius * largest, 1e-300), 1.0);
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

static WadiStatus add_turned(Making *making, WadiVec3 foot, WadiVec3 axis, const Profile *profile, int around,
                             WadiError *error)
{
    WadiVec3 across = fabs(axis.x) < 0.6 ? wadi_vec3(1, 0, 0) : wadi_vec3(0, 1, 0);
    WadiVec3 u = wadi_normalized_or(wadi_cross(across, axis), wadi_vec3(0, 1, 0)), v = wadi_cross(axis, u);
    size_t rings = (size_t)profile->count;
    WADI_TRY(reserve(making, rings * (size_t)around, 2 * rings * (size_t)around, error));
    size_t start[PROFILE_MAX];
    for (int p = 0; p < profile->count; ++p) {
        start[p] = making->vertices.count;
        for (int a = 0; a < (profile->r[p] > 0.0 ? around : 1); ++a) {
            double angle = 2.0 * PI * a / around;
            WadiVec3 x = wadi_add_scaled(foot, axis, profile->z[p]);
            x = wadi_add_scaled(x, u, profile->r[p] * cos(angle));
            add_vertex(making, wadi_add_scaled(x, v, profile->r[p] * sin(angle)));
        }
    }
    for (int p = 0; p < profile->count - (profile->is_closed ? 0 : 1); ++p) {
        int q = (p + 1) % profile->count;
        for (int a = 0; a < around; ++a) {
            size_t here = (size_t)a, next = (size_t)((a + 1) % around);
            bool is_foot = !(profile->r[p] > 0.0), is_top = !(profile->r[q] > 0.0);
            size_t p0 = start[p] + (is_foot ? 0 : here), p1 = start[p] + (is_foot ? 0 : next);
            size_t q0 = start[q] + (is_top ? 0 : here), q1 = start[q] + (is_top ? 0 : next);
            if (!is_foot) {
                add_triangle(making, p0, p1, is_top ? q0 : q1);
            }
            if (!is_top) {
                add_triangle(making, p0, q1, q0);
            }
        }
    }
    return WADI_OK;
}

static WadiStatus add_round(Making *making, const WadiPrimitive *p, WadiError *error)
{
    Profile profile = { 0 };
    int around = steps_around(making, fmax(p->r0, p->r1));
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
        around = steps_around(making, p->r0 + p->r1);
        int steps = steps_around(making, p->r1);
        add_arc(&profile, p->r0, 0.0, p->r1, -PI, PI, steps);
        profile.count -= 1; /* the last point is the first */
        profile.is_closed = true;
        break;
    }
    default: add_arc(&profile, 0.0, 0.0, p->r0, -PI / 2, PI / 2, around / 2); break;
    }
    WadiVec3 axis = p->kind == WADI_SHAPE_SPHERE ? wadi_vec3(0, 0, 1) : p->b;
    return add_turned(making, p->a, axis, &profile, around, error);
}

static WadiStatus add_ellipsoid(Making *making, const WadiPrimitive *p, WadiError *error)
{
    /* A unit ball through a map that stretches it. */
    WadiAffine outer = making->map, stretch = wadi_affine_identity();
    double radii[3] = { p->b.x, p->b.y, p->b.z };
    for (int axis = 0; axis < 3; ++axis) {
        for (int row = 0; row < 3; ++row) {
            stretch.m[row][axis] = outer.m[row][axis] * radii[axis];
        }
    }
    stretch.t = wadi_affine_point(&outer, p->a);
    making->map = stretch;
    WadiPrimitive ball = { .kind = WADI_SHAPE_SPHERE, .r0 = 1.0 };
    WadiStatus status = add_round(making, &ball, error);
    making->map = outer;
    return status;
}

/* A square in the plane, given in world coordinates because its size follows the view. */
static WadiStatus add_half_space(Making *making, const WadiPrimitive *p, WadiError *error)
{
    WADI_TRY(reserve(making, 4, 2, error));
    WadiAffine inverse;
    WadiVec3 point = wadi_affine_point(&making->map, p->a), normal = p->b;
    if (wadi_affine_inverse(&making->map, &inverse)) {
        normal = wadi_affine_transposed_vector(&inverse, p->b);
    }
    normal = wadi_normalized_or(normal, wadi_vec3(0, 0, 1));
    WadiVec3 middle = wadi_scale(wadi_add(making->view.min, making->view.max), 0.5);
    double reach = 1.5 * wadi_norm(wadi_box_size(making->view));
    WadiVec3 foot = wadi_add_scaled(middle, normal, -wadi_dot(wadi_sub(middle, point), normal));
    WadiVec3 across = fabs(normal.x) < 0.6 ? wadi_vec3(1, 0, 0) : wadi_vec3(0, 1, 0);
    WadiVec3 u = wadi_normalized_or(wadi_cross(across, normal), wadi_vec3(0, 1, 0)),
             v = wadi_cross(normal, u);
    WadiAffine map = making->map;
    making->map = wadi_affine_identity();
    size_t first = making->vertices.count;
    for (int n = 0; n < 4; ++n) {
        WadiVec3 x = wadi_add_scaled(foot, u, n == 1 || n == 2 ? reach : -reach);
        add_vertex(making, wadi_add_scaled(x, v, n >= 2 ? reach : -reach));
    }
    add_triangle(making, first, first + 1, first + 2);
    add_triangle(making, first, first + 2, first + 3);
    making->map = map;
    return WADI_OK;
}

/* `facing` -1: the triangles face inward. */
static WadiStatus add_mesh(Making *making, const WadiMesh *mesh, double facing, WadiError *error)
{
    WADI_TRY(reserve(making, mesh->vertex_count, mesh->triangle_count, error));
    size_t first = making->vertices.count;
    for (size_t n = 0; n < mesh->vertex_count; ++n) {
        add_vertex(making, mesh->vertices[n]);
    }
    for (size_t n = 0; n < mesh->triangle_count; ++n) {
        const uint32_t *corner = mesh->triangles[n];
        int swap = facing < 0.0 ? 1 : 0;
        add_triangle(making, first + corner[0], first + corner[1 + swap], first + corner[2 - swap]);
    }
    return WADI_OK;
}

static WadiStatus add_sequence(Making *making, const WadiMeshSequence *sequence, WadiError *error)
{
    WadiMesh mesh;
    double facing;
    WADI_TRY(wadi_mesh_sequence_at(sequence, making->time, &mesh, &facing, error));
    WadiStatus status = add_mesh(making, &mesh, facing, error);
    wadi_mesh_free(&mesh);
    return status;
}

static WadiAffine map_of(const WadiAffine *outer, const WadiAffine *inner)
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

static WadiStatus add_shape(Making *making, const WadiShape *shape, WadiError *error)
{
    WadiPlacement place;
    WadiPrimitive scratch;
    WadiAffine outer = making->map;
    if (shape->placing != WADI_PLACING_IDENTITY) {
        making->map = map_of(&outer, &wadi_shape_placement(shape, making->time, &place)->map);
    }
    const WadiPrimitive *p = wadi_shape_kind_is_primitive(shape->kind)
                                 ? wadi_shape_primitive(shape, making->time, &scratch)
                                 : NULL;
    WadiStatus status = WADI_OK;
    if (p != NULL) {
        status = p->kind == WADI_SHAPE_BOX          ? add_box(making, p->a, p->b, error)
                 : p->kind == WADI_SHAPE_ELLIPSOID  ? add_ellipsoid(making, p, error)
                 : p->kind == WADI_SHAPE_HALF_SPACE ? add_half_space(making, p, error)
                                                    : add_round(making, p, error);
    } else if (shape->sequence != NULL) {
        status = add_sequence(making, shape->sequence, error);
    } else if (shape->solid != NULL) {
        status = add_mesh(making, &shape->solid->mesh, shape->solid->facing, error);
    }
    for (int c = 0; c < shape->child_count && status == WADI_OK; ++c) {
        status = add_shape(making, &shape->children[c], error);
    }
    making->map = outer;
    return status;
}

WadiStatus wadi_shape_mesh(WadiMesh *mesh, const WadiShape *shape, double time, WadiBox view,
                           double tolerance, WadiError *error)
{
    WADI_ASSERT_TRY(wadi_shape_has_mesh(shape) && tolerance > 0.0, error);
    Making making = { .map = wadi_affine_identity(), .view = view, .time = time, .tolerance = tolerance };
    *mesh = (WadiMesh){ 0 };
    WadiStatus status = add_shape(&making, shape, error);
    if (status == WADI_OK) {
        status = wadi_mesh_create(mesh, making.vertices.data, making.vertices.count,
                                  (const uint32_t(*)[3])making.triangles.data, making.triangles.count, error);
    }
    WADI_ARRAY_FREE(&making.vertices);
    WADI_ARRAY_FREE(&making.triangles);
    return status;
}
