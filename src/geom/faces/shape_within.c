/* Distance to the solid itself where the combined distance of its parts is only a bound: beside outer edges,
 * and where a part ends in the open, such as the end of a cylinder that cuts a hole just beyond the face.
 *
 * The nearest point of the solid is on one, two or three of the faces near x, where it is the point nearest
 * to x of their common plane, curve or corner. All such points are tried, from the nearest face on; one
 * counts if there is solid beside it. Such a point is never nearer than the solid. [theory 11.3] */
#include <string.h>

#include "geom/faces/shape_faces.h"

enum { FACE_MAX = 16, JOIN_MAX = 3, ROUNDS = 24, NEWTON_ROUNDS = 8, DIRECTIONS = 14, REFUSED_MAX = 16 };

/* Of `within`. */
static const double FOOT_DEPTH = 0.01; /* below the foot of the bound there is solid: the bound is true */
static const double AROUND = 0.8;      /* from x to further starts */
static const double ON_FACE = 1e-7, ON_FIELD = 1e-4;
static const double BESIDE_FACE = 1e-6, BESIDE_FIELD = 1e-3;

static const double PARALLEL = 1e-4; /* sine between faces that do not meet */
static const double SAME_PLANE = 1.0 - 1e-9;
static const double ACROSS_MAX = 1e-3; /* sine between the way to x and the normals' span */

typedef struct Search {
    const WadiShape *shape;
    WadiVec3 x;
    double time, within;
    WadiFace face[FACE_MAX];
    WadiVec3 foot[FACE_MAX]; /* the point nearest to x on each face */
    int count;
    double best;
    WadiVec3 nearest;
    WadiVec3 refused[REFUSED_MAX]; /* points of a join without solid beside them, the last ones */
    int refused_count;
    double reached; /* m: nearest point of the join that is tried, with solid or not */
} Search;

/* Points common to up to three faces. */
typedef struct Join {
    const WadiFace *face[JOIN_MAX];
    int count;
    bool has_field, is_flat;
} Join;

/* The frame of a join at a point of it. */
typedef struct Tangent {
    WadiVec3 normal[JOIN_MAX]; /* of the faces */
    WadiVec3 along;            /* the way to x along all faces */
} Tangent;

/* Gram-Schmidt: e[k] is the unit part of normal[k] at right angles to those before it. Returns the part's
 * length. */
static double orthogonal_part(const WadiVec3 *normal, WadiVec3 *e, int k)
{
    e[k] = normal[k];
    for (int o = 0; o < k; ++o) {
        e[k] = wadi_add_scaled(e[k], e[o], -wadi_dot(normal[k], e[o]));
    }
    const double sine = wadi_norm(e[k]);
    e[k] = wadi_normalized_or(e[k], normal[k]);
    return sine;
}

/* Newton steps from y onto all faces of a join. false: they do not meet near x. */
static bool move_onto(const Search *s, const Join *join, WadiVec3 *y, Tangent *tangent)
{
    const double tolerance = (join->has_field ? ON_FIELD : ON_FACE) * s->within;
    for (int round = 0; round < NEWTON_ROUNDS; ++round) {
        WadiVec3 e[JOIN_MAX], step = { 0, 0, 0 };
        double farthest = 0.0;
        tangent->along = wadi_sub(s->x, *y);
        if (!(wadi_norm(tangent->along) < 4.0 * s->within)) {
            return false;
        }
        for (int k = 0; k < join->count; ++k) {
            double to = -wadi_face_sample(join->face[k], *y, s->time, &tangent->normal[k]);
            farthest = fmax(farthest, fabs(to));
            const double sine = orthogonal_part(tangent->normal, e, k);
            if (!(sine > PARALLEL)) {
                return false;
            }
            step = wadi_add_scaled(step, e[k], (to - wadi_dot(tangent->normal[k], step)) / sine);
            tangent->along = wadi_add_scaled(tangent->along, e[k], -wadi_dot(tangent->along, e[k]));
        }
        if (farthest <= tolerance) {
            return true;
        }
        *y = wadi_add(*y, step);
    }
    return false;
}

/* The point of a join nearest to x, found from y: steps along the faces towards x, as long as they end
 * nearer to it. */
static bool find_point(const Search *s, const Join *join, WadiVec3 *y, WadiVec3 normal[JOIN_MAX])
{
    Tangent tangent;
    if (!move_onto(s, join, y, &tangent)) {
        return false;
    }
    double distance = wadi_norm(wadi_sub(s->x, *y)), pace = 1.0;
    memcpy(normal, tangent.normal, sizeof tangent.normal);
    WadiVec3 along = tangent.along;
    for (int round = 0; round < ROUNDS && join->count < JOIN_MAX; ++round) {
        if (wadi_norm(along) <= ACROSS_MAX * distance || !(pace > 1e-3)) {
            break;
        }
        WadiVec3 next = wadi_add_scaled(*y, along, pace);
        if (!move_onto(s, join, &next, &tangent) || !(wadi_norm(wadi_sub(s->x, next)) < distance)) {
            pace *= 0.5; /* a full step is too long on a curved face */
            continue;
        }
        *y = next;
        distance = wadi_norm(wadi_sub(s->x, next));
        along = tangent.along;
        memcpy(normal, tangent.normal, sizeof tangent.normal);
    }
    return true;
}

/* The n-th of the directions to the faces and corners of a cube, turned so that no shape has its axes. */
static WadiVec3 direction(int n)
{
    const double a = n < 6 ? (n / 2 == 0) * (n % 2 * 2 - 1.0) : (n & 1) * 1.154 - 0.577;
    const double b = n < 6 ? (n / 2 == 1) * (n % 2 * 2 - 1.0) : (n >> 1 & 1) * 1.154 - 0.577;
    const double c = n < 6 ? (n / 2 == 2) * (n % 2 * 2 - 1.0) : (n >> 2 & 1) * 1.154 - 0.577;
    return (WadiVec3){ 0.8 * a - 0.36 * b + 0.48 * c, 0.6 * a + 0.48 * b - 0.64 * c, 0.8 * b + 0.6 * c };
}

/* Whether there is solid beside a point of a join: in one of the wedges between its faces. */
static bool is_solid_beside(const Search *s, const Join *join, WadiVec3 y, const WadiVec3 normal[JOIN_MAX])
{
    const double by = (join->has_field ? BESIDE_FIELD : BESIDE_FACE) * s->within + 1e-12 * wadi_norm(y);
    WadiVec3 e[JOIN_MAX];
    double sine[JOIN_MAX];
    for (int k = 0; k < join->count; ++k) {
        sine[k] = orthogonal_part(normal, e, k);
    }
    for (int wedge = 0; wedge < 1 << join->count; ++wedge) {
        /* As far from each face: in a sharp wedge this is farther along it. */
        WadiVec3 to = { 0, 0, 0 };
        for (int k = 0; k < join->count; ++k) {
            const double from = (wedge >> k & 1) == 0 ? -by : by;
            to = wadi_add_scaled(to, e[k], (from - wadi_dot(normal[k], to)) / sine[k]);
        }
        if (wadi_shape_contains(s->shape, wadi_add(y, to), s->time)) {
            return true;
        }
    }
    /* At an edge of a mesh or the tip of a cone one normal is not enough. */
    for (int k = 0; k < join->count; ++k) {
        if (join->face[k]->has_tip) {
            const WadiVec3 inward = wadi_normalized_or(wadi_sub(join->face[k]->middle, y), normal[k]);
            if (wadi_shape_contains(s->shape, wadi_add_scaled(y, inward, by), s->time)) {
                return true;
            }
        }
    }
    for (int n = 0; n < DIRECTIONS && join->has_field; ++n) {
        if (wadi_shape_contains(s->shape, wadi_add_scaled(y, direction(n), by), s->time)) {
            return true;
        }
    }
    return false;
}

/* Several starts can lead to one point, and with a mesh it is expensive to refuse it. */
static bool is_refused(Search *s, const Join *join, WadiVec3 y, const WadiVec3 normal[JOIN_MAX])
{
    const double same = ON_FIELD * s->within;
    for (int n = 0; n < REFUSED_MAX && n < s->refused_count && join->has_field; ++n) {
        if (wadi_norm(wadi_sub(s->refused[n], y)) < same) {
            return true;
        }
    }
    if (is_solid_beside(s, join, y, normal)) {
        return false;
    }
    if (join->has_field) {
        s->refused[s->refused_count++ % REFUSED_MAX] = y;
    }
    return true;
}

/* Whether the join has a point near `start`. */
static bool try_from(Search *s, const Join *join, WadiVec3 start)
{
    WadiVec3 normal[JOIN_MAX], y = start;
    if (!find_point(s, join, &y, normal)) {
        return false;
    }
    const double distance = wadi_norm(wadi_sub(s->x, y));
    s->reached = fmin(s->reached, distance);
    if (distance < s->best && !is_refused(s, join, y, normal)) {
        s->best = distance;
        s->nearest = y;
    }
    return true;
}

/* Starts around x, on the analytic faces of a join; one for each plane that a mesh has there, and none that
 * is too far to matter. */
static void try_around(Search *s, const Join *join)
{
    WadiVec3 plane[DIRECTIONS]; /* normal of the mesh at a start */
    double offset[DIRECTIONS];
    for (int n = 0; n < DIRECTIONS; ++n) {
        WadiVec3 start = wadi_add_scaled(s->x, direction(n), AROUND * s->within), normal;
        const WadiFace *field = NULL;
        for (int k = 0; k < join->count; ++k) {
            if (join->face[k]->field == NULL) {
                const double d = wadi_face_sample(join->face[k], start, s->time, &normal);
                start = wadi_add_scaled(start, normal, -d);
            } else {
                field = join->face[k];
            }
        }
        bool is_new = wadi_norm(wadi_sub(start, s->x)) < 1.5 * s->best;
        plane[n] = (WadiVec3){ 0, 0, 0 };
        if (is_new && field != NULL) {
            const double d = wadi_face_sample(field, start, s->time, &plane[n]);
            offset[n] = wadi_dot(plane[n], wadi_sub(start, s->x)) - d;
            for (int o = 0; o < n && is_new; ++o) {
                is_new = !(wadi_dot(plane[n], plane[o]) > SAME_PLANE) ||
                         fabs(offset[n] - offset[o]) > ON_FIELD * s->within;
            }
        }
        if (is_new) {
            try_from(s, join, start);
        }
    }
}

static void try_join(Search *s, const int *index, int count)
{
    Join join = { .count = count, .is_flat = true };
    int curved = 0;
    for (int k = 0; k < count; ++k) {
        join.face[k] = &s->face[index[k]];
        join.has_field |= join.face[k]->field != NULL;
        join.is_flat &= join.face[k]->is_plane;
        curved += !join.face[k]->is_plane;
    }
    s->refused_count = 0;
    s->reached = HUGE_VAL;
    bool is_found = try_from(s, &join, s->x);
    for (int k = 0; k < count && count > 1 && !join.is_flat; ++k) {
        is_found |= try_from(s, &join, s->foot[index[k]]);
    }
    /* Meshes, curves between curved faces and curves through planes can have several nearest points. */
    if (join.has_field || (!join.is_flat && (!is_found || curved > 1 || count == JOIN_MAX))) {
        try_around(s, &join);
    }
}

/* A point of three faces is no nearer than the nearest one of each two. */
static void search_joins(Search *s)
{
    double near[FACE_MAX][FACE_MAX]; /* m: to the join of two faces */
    for (int i = 0; i < s->count && s->face[i].nearest < s->best; ++i) {
        WadiVec3 normal;
        const double d = wadi_face_sample(&s->face[i], s->x, s->time, &normal);
        s->foot[i] = wadi_add_scaled(s->x, normal, -d);
        try_join(s, (int[]){ i }, 1);
        for (int j = 0; j < i && s->face[i].nearest < s->best; ++j) {
            try_join(s, (int[]){ i, j }, 2);
            near[i][j] = s->reached;
            for (int k = 0; k < j && near[i][j] < s->best; ++k) {
                if (near[i][k] < s->best && near[j][k] < s->best) {
                    try_join(s, (int[]){ i, j, k }, 3);
                }
            }
        }
    }
}

WadiSurfacePoint wadi_shape_sample_within(const WadiShape *shape, WadiVec3 x, double time, double within)
{
    WadiSurfacePoint bound = wadi_shape_sample_from_outside(shape, x, time);
    if (!shape->is_cut || !(bound.distance >= 0.0) || !(bound.distance < within)) {
        return bound;
    }
    const WadiVec3 below = wadi_add_scaled(x, bound.normal, -bound.distance - FOOT_DEPTH * within);
    if (wadi_shape_contains(shape, below, time)) {
        return bound;
    }
    Search s = { .shape = shape, .x = x, .time = time, .within = within, .best = within };
    s.count = wadi_shape_faces(shape, x, time, within, s.face, FACE_MAX);
    search_joins(&s);
    const bool is_found = s.best < within;
    bound.distance = fmax(bound.distance, s.best);
    if (is_found) {
        bound.normal = wadi_normalized_or(wadi_sub(x, s.nearest), bound.normal);
        bound.velocity =
            shape->is_moving ? wadi_shape_sample(shape, s.nearest, time).velocity : bound.velocity;
    }
    return bound;
}
