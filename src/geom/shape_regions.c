/* Queries of regions instead of points: bounds, support functions, uniform balls, lattices. */
#include "geom/shape_internal.h"

/* Zero coefficients are skipped: zero times an infinite side would be NaN. */
static WadiBox map_box(const WadiAffine *map, WadiBox box)
{
    const double low[3] = { box.min.x, box.min.y, box.min.z }, high[3] = { box.max.x, box.max.y, box.max.z };
    double min[3] = { map->t.x, map->t.y, map->t.z }, max[3] = { map->t.x, map->t.y, map->t.z };
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            double m = map->m[i][j];
            if (m != 0.0) {
                min[i] += m > 0.0 ? m * low[j] : m * high[j];
                max[i] += m > 0.0 ? m * high[j] : m * low[j];
            }
        }
    }
    return (WadiBox){ { min[0], min[1], min[2] }, { max[0], max[1], max[2] } };
}

static WadiBox local_level_bounds(const WadiShape *shape, double time, double level)
{
    if (wadi_shape_kind_is_primitive(shape->kind)) {
        WadiPrimitive scratch;
        WadiBox box = wadi_primitive_bounds(wadi_shape_primitive(shape, time, &scratch));
        return wadi_box_grown(box, level);
    }
    if (shape->solid != NULL || shape->sequence != NULL) {
        double half = wadi_shape_half_thickness(shape, time);
        if (shape->sequence != NULL) {
            return wadi_box_grown(wadi_mesh_sequence_bounds(shape->sequence, time), level + half);
        }
        WadiBox box = half > 0.0 ? shape->solid->bounds : shape->solid->inside_bounds;
        return wadi_box_grown(box, level + half);
    }
    if (shape->kind == WADI_SHAPE_SMOOTH_UNION) {
        /* Each smooth minimum lowers the distance by at most k/4. */
        level += 0.25 * wadi_curve_value(&shape->parameter[0], time) * (shape->child_count - 1);
    }
    WadiBox box = wadi_shape_level_bounds(&shape->children[0], time, level);
    for (int i = 1; i < shape->child_count && shape->kind != WADI_SHAPE_DIFFERENCE; ++i) {
        WadiBox other = wadi_shape_level_bounds(&shape->children[i], time, level);
        box = shape->kind == WADI_SHAPE_INTERSECTION ? wadi_box_intersection(box, other)
                                                     : wadi_box_union(box, other);
    }
    return box;
}

WadiBox wadi_shape_level_bounds(const WadiShape *shape, double time, double level)
{
    if (shape->placing == WADI_PLACING_IDENTITY) {
        return local_level_bounds(shape, time, level);
    }
    WadiPlacement scratch;
    const WadiPlacement *at = wadi_shape_placement(shape, time, &scratch);
    WadiBox box = local_level_bounds(shape, time, level / at->stretch);
    return wadi_box_is_empty(box) ? box : map_box(&at->map, box);
}

WadiBox wadi_shape_bounds(const WadiShape *shape, double time)
{
    return shape->is_moving ? wadi_shape_level_bounds(shape, time, 0.0) : shape->bounds;
}

/* Of a placement x = M p + t: h(d) = h_local(M^T d) + d.t. */
static double primitive_support(const WadiPrimitive *primitive, WadiVec3 d)
{
    const WadiVec3 a = primitive->a, b = primitive->b;
    const double size = wadi_norm(d), from = wadi_dot(a, d), along = wadi_dot(b, d);
    const double across = wadi_norm(wadi_add_scaled(d, b, -along)), to = from + primitive->length * along;
    switch (primitive->kind) {
    case WADI_SHAPE_BOX: return from + wadi_dot(b, wadi_abs(d));
    case WADI_SHAPE_SPHERE: return from + primitive->r0 * size;
    case WADI_SHAPE_ELLIPSOID: return from + wadi_norm(wadi_mul(b, d));
    case WADI_SHAPE_CYLINDER: return fmax(from, to) + primitive->r0 * across;
    case WADI_SHAPE_CONE: return fmax(from + primitive->r0 * across, to + primitive->r1 * across);
    case WADI_SHAPE_CAPSULE: return fmax(from, to) + primitive->r0 * size;
    case WADI_SHAPE_TORUS: return from + primitive->r0 * across + primitive->r1 * size;
    default: break;
    }
    const double rounding = 1e-12;
    return along > 0.0 && across <= rounding * size ? from : (double)INFINITY; /* half space */
}

static double mesh_support(const WadiMesh *mesh, WadiVec3 d)
{
    double most = -INFINITY;
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        for (int k = 0; k < 3; ++k) {
            most = fmax(most, wadi_dot(d, mesh->vertices[mesh->triangles[t][k]]));
        }
    }
    return most;
}

static double sequence_support(const WadiMeshSequence *sequence, WadiVec3 d, double time)
{
    const WadiBox box = wadi_mesh_sequence_bounds(sequence, time);
    double facing, most = fmax(d.x * box.min.x, d.x * box.max.x) + fmax(d.y * box.min.y, d.y * box.max.y) +
                          fmax(d.z * box.min.z, d.z * box.max.z);
    WadiMesh mesh = { 0 };
    if (wadi_mesh_sequence_at(sequence, time, &mesh, &facing, NULL) == WADI_OK) {
        most = mesh_support(&mesh, d);
    }
    wadi_mesh_free(&mesh);
    return most;
}

static double local_support(const WadiShape *shape, WadiVec3 d, double time)
{
    if (wadi_shape_kind_is_primitive(shape->kind)) {
        WadiPrimitive scratch;
        return primitive_support(wadi_shape_primitive(shape, time, &scratch), d);
    }
    if (shape->solid != NULL || shape->sequence != NULL) {
        return wadi_shape_half_thickness(shape, time) * wadi_norm(d) +
               (shape->solid != NULL ? mesh_support(&shape->solid->mesh, d)
                                     : sequence_support(shape->sequence, d, time));
    }
    double most = wadi_shape_support(&shape->children[0], d, time);
    for (int i = 1; i < shape->child_count && shape->kind != WADI_SHAPE_DIFFERENCE; ++i) {
        const double other = wadi_shape_support(&shape->children[i], d, time);
        most = shape->kind == WADI_SHAPE_INTERSECTION ? fmin(most, other) : fmax(most, other);
    }
    if (shape->kind == WADI_SHAPE_SMOOTH_UNION) { /* each smooth minimum lowers the distance by at most k/4 */
        most += 0.25 * wadi_curve_value(&shape->parameter[0], time) * (shape->child_count - 1) * wadi_norm(d);
    }
    return most;
}

double wadi_shape_support(const WadiShape *shape, WadiVec3 direction, double time)
{
    WadiPlacement scratch;
    const WadiPlacement *at = wadi_shape_placement(shape, time, &scratch);
    return local_support(shape, wadi_affine_transposed_vector(&at->map, direction), time) +
           wadi_dot(direction, at->map.t);
}

bool wadi_shape_is_uniform(const WadiShape *shape, WadiVec3 center, double radius, double time)
{
    if (!(fabs(wadi_shape_distance(shape, center, time)) > radius)) {
        return false;
    }
    if (wadi_shape_kind_is_primitive(shape->kind)) {
        return true;
    }
    WadiPlacement scratch;
    if (shape->placing != WADI_PLACING_IDENTITY) {
        const WadiPlacement *at = wadi_shape_placement(shape, time, &scratch);
        center = wadi_affine_point(&at->inverse, center);
        radius /= at->stretch;
    }
    /* A closed mesh changes sign at its surface only. */
    if (shape->solid != NULL) {
        return wadi_shape_half_thickness(shape, time) > 0.0 || shape->solid->topology.is_oriented ||
               wadi_mesh_solid_is_uniform(shape->solid, center, radius);
    }
    if (shape->sequence != NULL) {
        return true;
    }
    for (int i = 0; i < shape->child_count; ++i) {
        const WadiShape *child = &shape->children[i];
        bool can_jump = !wadi_shape_kind_is_primitive(child->kind);
        /* The surface of a child need not be one of the whole; only changes of sign without a surface
         * matter. */
        if (can_jump && fabs(wadi_shape_distance(child, center, time)) > radius &&
            !wadi_shape_is_uniform(child, center, radius, time)) {
            return false;
        }
    }
    return true;
}

void wadi_shape_lattice(const WadiShape *shape, WadiVec3 origin, const WadiVec3 step[3], int n, double limit,
                        double time, double *distance)
{
    int count = n * n * n;
    if (shape->solid != NULL) {
        WadiPlacement scratch;
        const WadiPlacement *at = wadi_shape_placement(shape, time, &scratch);
        WadiVec3 local_step[3];
        for (int a = 0; a < 3; ++a) {
            local_step[a] = wadi_affine_vector(&at->inverse, step[a]);
        }
        wadi_mesh_solid_lattice(shape->solid, wadi_affine_point(&at->inverse, origin), local_step, n,
                                wadi_shape_half_thickness(shape, time), limit / at->stretch, distance);
        for (int p = 0; p < count; ++p) {
            distance[p] *= at->stretch;
        }
        return;
    }
    for (int p = 0; p < count; ++p) {
        int i = p % n, j = p / n % n, k = p / (n * n);
        WadiVec3 x = wadi_add_scaled(origin, step[0], i);
        x = wadi_add_scaled(x, step[1], j);
        x = wadi_add_scaled(x, step[2], k);
        distance[p] = fmin(fmax(wadi_shape_distance(shape, x, time), -limit), limit);
    }
}

double wadi_shape_free_fraction(const WadiShape *shape, WadiVec3 x, WadiVec3 displacement, double time,
                                double skin, WadiVec3 *normal)
{
    bool is_solid_mesh = shape->solid != NULL && !(wadi_shape_half_thickness(shape, time) > 0.0);
    if (!is_solid_mesh || shape->has_moving_parameters) {
        return -1.0;
    }
    WadiPlacement scratch;
    const WadiPlacement *at = wadi_shape_placement(shape, time, &scratch);
    bool is_placed = shape->placing != WADI_PLACING_IDENTITY;
    WadiVec3 p = is_placed ? wadi_affine_point(&at->inverse, x) : x;
    WadiVec3 w = is_placed ? wadi_affine_vector(&at->inverse, displacement) : displacement;
    double stretch = is_placed ? at->stretch : 1.0;
    if (skin < 4.0 * stretch * wadi_mesh_tree_error(shape->solid->tree, p)) {
        return -1.0;
    }
    double fraction;
    if (!wadi_mesh_tree_hit(shape->solid->tree, p, w, &fraction, normal)) {
        return 1.0;
    }
    if (is_placed) {
        *normal = wadi_normalized_or(wadi_affine_transposed_vector(&at->inverse, *normal), *normal);
    }
    /* The skin is measured along the normal, the displacement is oblique to it. */
    double across = -wadi_dot(*normal, displacement);
    return across > 0.0 ? fmax(fraction - skin / across, 0.0) : 0.0;
}
