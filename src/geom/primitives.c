#include "geom/primitives.h"

#include "core/check.h"

static const WadiVec3 up = { 0.0, 0.0, 1.0 };

static double positive(double value)
{
    return value > 0.0 ? value : 0.0;
}

WadiPrimitive wadi_primitive_make(WadiShapeKind kind, const WadiVec3 *p)
{
    WadiPrimitive made = { .kind = kind, .a = p[0] };
    switch (kind) {
    case WADI_SHAPE_BOX:
        made.a = wadi_scale(wadi_add(p[0], p[1]), 0.5);
        made.b = wadi_max(wadi_scale(wadi_sub(p[1], p[0]), 0.5), wadi_vec3(0, 0, 0));
        break;
    case WADI_SHAPE_SPHERE: made.r0 = positive(p[1].x); break;
    case WADI_SHAPE_ELLIPSOID: made.b = wadi_max(p[1], wadi_vec3(1e-100, 1e-100, 1e-100)); break;
    case WADI_SHAPE_CYLINDER:
    case WADI_SHAPE_CONE:
    case WADI_SHAPE_CAPSULE: {
        WadiVec3 along = wadi_sub(p[1], p[0]);
        made.length = wadi_norm(along);
        made.b = wadi_normalized_or(along, up);
        made.r0 = positive(p[2].x);
        made.r1 = kind == WADI_SHAPE_CONE ? positive(p[3].x) : made.r0;
        break;
    }
    case WADI_SHAPE_TORUS:
        made.b = wadi_normalized_or(p[1], up);
        made.r0 = positive(p[2].x);
        made.r1 = positive(p[3].x);
        break;
    case WADI_SHAPE_HALF_SPACE: made.b = wadi_normalized_or(p[1], up); break;
    default: WADI_ASSERT(!"not a primitive");
    }
    return made;
}

const char *wadi_primitive_problem(WadiShapeKind kind, const WadiVec3 *p)
{
    switch (kind) {
    case WADI_SHAPE_BOX:
        return p[0].x < p[1].x && p[0].y < p[1].y && p[0].z < p[1].z ? NULL
                                                                     : "max must exceed min in x, y and z";
    case WADI_SHAPE_SPHERE: return p[1].x > 0.0 ? NULL : "radius must be greater than zero";
    case WADI_SHAPE_ELLIPSOID:
        return p[1].x > 0.0 && p[1].y > 0.0 && p[1].z > 0.0 ? NULL : "all radii must be greater than zero";
    case WADI_SHAPE_CYLINDER:
    case WADI_SHAPE_CONE:
    case WADI_SHAPE_CAPSULE:
        if (!(wadi_norm(wadi_sub(p[1], p[0])) > 0.0) && kind != WADI_SHAPE_CAPSULE) {
            return "from and to must differ";
        }
        if (kind != WADI_SHAPE_CONE) {
            return p[2].x > 0.0 ? NULL : "radius must be greater than zero";
        }
        return p[2].x >= 0.0 && p[3].x >= 0.0 && p[2].x + p[3].x > 0.0
                   ? NULL
                   : "radius and top_radius must not be negative, and one must be greater than zero";
    case WADI_SHAPE_TORUS:
        if (!(wadi_norm(p[1]) > 0.0)) {
            return "axis must not be zero";
        }
        if (!(p[3].x > 0.0)) {
            return "tube must be greater than zero";
        }
        return p[2].x >= p[3].x ? NULL : "radius must be at least tube";
    case WADI_SHAPE_HALF_SPACE: return wadi_norm(p[1]) > 0.0 ? NULL : "normal must not be zero";
    default: return NULL;
    }
}

static double box_sample(WadiVec3 half, WadiVec3 p, WadiVec3 *normal)
{
    WadiVec3 sign = { copysign(1.0, p.x), copysign(1.0, p.y), copysign(1.0, p.z) };
    WadiVec3 q = wadi_sub(wadi_abs(p), half);
    WadiVec3 beyond = wadi_max(q, wadi_vec3(0, 0, 0));
    double outside = wadi_norm(beyond);
    if (outside > 0.0) {
        *normal = wadi_mul(sign, wadi_scale(beyond, 1.0 / outside));
        return outside;
    }
    if (q.x > q.y && q.x > q.z) {
        *normal = wadi_vec3(sign.x, 0, 0);
        return q.x;
    }
    if (q.y > q.z) {
        *normal = wadi_vec3(0, sign.y, 0);
        return q.y;
    }
    *normal = wadi_vec3(0, 0, sign.z);
    return q.z;
}

/* A unit vector at right angles to the unit vector `axis`. */
static WadiVec3 perpendicular(WadiVec3 axis)
{
    WadiVec3 other = fabs(axis.x) < 0.6 ? wadi_vec3(1, 0, 0) : wadi_vec3(0, 1, 0);
    return wadi_normalized_or(wadi_cross(axis, other), up);
}

/* Split p into its height along the unit `axis` and its radius; `outward` is the unit radial direction. */
static double split(WadiVec3 axis, WadiVec3 p, double *height, WadiVec3 *outward)
{
    *height = wadi_dot(axis, p);
    WadiVec3 radial = wadi_add_scaled(p, axis, -*height);
    double radius = wadi_norm(radial);
    if (radius < 1e-3 * fabs(*height)) {
        /* Near the axis the radial part of p is mostly rounding error: make it orthogonal again, or pick
         * any direction. */
        radial = wadi_add_scaled(radial, axis, -wadi_dot(axis, radial));
    }
    *outward = radius > 1e-14 * fabs(*height) ? wadi_normalized_or(radial, perpendicular(axis))
                                              : perpendicular(axis);
    return radius;
}

static WadiVec3 join(WadiVec3 outward, double radial, WadiVec3 axis, double along)
{
    return wadi_add(wadi_scale(outward, radial), wadi_scale(axis, along));
}

static double cylinder_sample(const WadiPrimitive *c, WadiVec3 p, WadiVec3 *normal)
{
    double h;
    WadiVec3 outward;
    double r = split(c->b, p, &h, &outward);
    double middle = 0.5 * c->length, side = h < middle ? -1.0 : 1.0;
    double dr = r - c->r0, dh = fabs(h - middle) - middle;
    if (dr > 0.0 && dh > 0.0) {
        double d = sqrt(dr * dr + dh * dh);
        *normal = join(outward, dr / d, c->b, side * dh / d);
        return d;
    }
    *normal = dr > dh ? outward : wadi_scale(c->b, side);
    return fmax(dr, dh);
}

/* In the half-plane (r, h) the frustum is a convex quadrilateral: the distance to the nearest of its three
 * outer edges. */
static double cone_sample(const WadiPrimitive *c, WadiVec3 p, WadiVec3 *normal)
{
    double h;
    WadiVec3 outward;
    double r = split(c->b, p, &h, &outward);
    const double from[3][2] = { { 0.0, 0.0 }, { c->r0, 0.0 }, { c->r1, c->length } };
    const double to[3][2] = { { c->r0, 0.0 }, { c->r1, c->length }, { 0.0, c->length } };
    double slant = sqrt(c->length * c->length + (c->r0 - c->r1) * (c->r0 - c->r1));
    slant = slant > 0.0 ? slant : 1.0;
    const double edge_normal[3][2] = { { 0.0, -1.0 },
                                       { c->length / slant, (c->r0 - c->r1) / slant },
                                       { 0.0, 1.0 } };
    double best = INFINITY, best_offset[2] = { 0, 0 };
    int best_edge = 1;
    bool is_inside = true;
    for (int i = 0; i < 3; ++i) {
        double ex = to[i][0] - from[i][0], ey = to[i][1] - from[i][1];
        double px = r - from[i][0], py = h - from[i][1];
        double squared = ex * ex + ey * ey;
        double t = squared > 0.0 ? fmin(fmax((px * ex + py * ey) / squared, 0.0), 1.0) : 0.0;
        double ox = px - t * ex, oy = py - t * ey, d = ox * ox + oy * oy;
        if (px * edge_normal[i][0] + py * edge_normal[i][1] > 0.0) {
            is_inside = false;
        }
        if (d < best) {
            best = d;
            best_edge = i;
            best_offset[0] = ox;
            best_offset[1] = oy;
        }
    }
    double d = sqrt(best);
    if (is_inside || !(d > 0.0)) {
        *normal = join(outward, edge_normal[best_edge][0], c->b, edge_normal[best_edge][1]);
        return is_inside ? -d : d;
    }
    *normal = join(outward, best_offset[0] / d, c->b, best_offset[1] / d);
    return d;
}

static double capsule_sample(const WadiPrimitive *c, WadiVec3 p, WadiVec3 *normal)
{
    double h = fmin(fmax(wadi_dot(c->b, p), 0.0), c->length);
    WadiVec3 offset = wadi_add_scaled(p, c->b, -h);
    *normal = wadi_normalized_or(offset, perpendicular(c->b));
    return wadi_norm(offset) - c->r0;
}

static double torus_sample(const WadiPrimitive *c, WadiVec3 p, WadiVec3 *normal)
{
    double h;
    WadiVec3 outward;
    double dr = split(c->b, p, &h, &outward) - c->r0;
    double d = sqrt(dr * dr + h * h);
    *normal = d > 0.0 ? join(outward, dr / d, c->b, h / d) : c->b;
    return d - c->r1;
}

double wadi_primitive_sample(const WadiPrimitive *primitive, WadiVec3 x, WadiVec3 *normal)
{
    WadiVec3 p = wadi_sub(x, primitive->a);
    switch (primitive->kind) {
    case WADI_SHAPE_BOX: return box_sample(primitive->b, p, normal);
    case WADI_SHAPE_SPHERE: *normal = wadi_normalized_or(p, up); return wadi_norm(p) - primitive->r0;
    case WADI_SHAPE_ELLIPSOID: return wadi_ellipsoid_distance(primitive->b, p, normal);
    case WADI_SHAPE_CYLINDER: return cylinder_sample(primitive, p, normal);
    case WADI_SHAPE_CONE: return cone_sample(primitive, p, normal);
    case WADI_SHAPE_CAPSULE: return capsule_sample(primitive, p, normal);
    case WADI_SHAPE_TORUS: return torus_sample(primitive, p, normal);
    default: *normal = primitive->b; return wadi_dot(primitive->b, p);
    }
}

double wadi_primitive_distance(const WadiPrimitive *primitive, WadiVec3 x)
{
    WadiVec3 p = wadi_sub(x, primitive->a), unused;
    switch (primitive->kind) {
    case WADI_SHAPE_BOX: {
        WadiVec3 q = wadi_sub(wadi_abs(p), primitive->b);
        double inside = fmax(q.x, fmax(q.y, q.z));
        return inside <= 0.0 ? inside : wadi_norm(wadi_max(q, wadi_vec3(0, 0, 0)));
    }
    case WADI_SHAPE_SPHERE: return wadi_norm(p) - primitive->r0;
    case WADI_SHAPE_ELLIPSOID: return wadi_ellipsoid_distance(primitive->b, p, NULL);
    case WADI_SHAPE_HALF_SPACE: return wadi_dot(primitive->b, p);
    default: return wadi_primitive_sample(primitive, x, &unused);
    }
}

/* Half the extent, along each coordinate axis, of a disc of this radius at right angles to the unit
 * `axis`. */
static WadiVec3 disc_extent(WadiVec3 axis, double radius)
{
    return wadi_vec3(radius * sqrt(positive(1.0 - axis.x * axis.x)),
                     radius * sqrt(positive(1.0 - axis.y * axis.y)),
                     radius * sqrt(positive(1.0 - axis.z * axis.z)));
}

static WadiBox box_around(WadiVec3 center, WadiVec3 half)
{
    return (WadiBox){ wadi_sub(center, half), wadi_add(center, half) };
}

static WadiBox half_space_bounds(WadiVec3 point, WadiVec3 normal)
{
    WadiBox all = { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
    int zeros = (normal.x == 0.0) + (normal.y == 0.0) + (normal.z == 0.0);
    if (zeros == 2) {
        double *max = normal.x != 0.0 ? &all.max.x : normal.y != 0.0 ? &all.max.y : &all.max.z;
        double *min = normal.x != 0.0 ? &all.min.x : normal.y != 0.0 ? &all.min.y : &all.min.z;
        double at = wadi_dot(point, wadi_abs(normal));
        *(normal.x + normal.y + normal.z > 0.0 ? max : min) = at;
    }
    return all;
}

WadiBox wadi_primitive_bounds(const WadiPrimitive *primitive)
{
    const WadiPrimitive *p = primitive;
    WadiVec3 ball = { p->r0, p->r0, p->r0 };
    WadiVec3 end = wadi_add_scaled(p->a, p->b, p->length);
    switch (p->kind) {
    case WADI_SHAPE_BOX:
    case WADI_SHAPE_ELLIPSOID: return box_around(p->a, p->b);
    case WADI_SHAPE_SPHERE: return box_around(p->a, ball);
    case WADI_SHAPE_CYLINDER:
    case WADI_SHAPE_CONE:
        return wadi_box_union(box_around(p->a, disc_extent(p->b, p->r0)),
                              box_around(end, disc_extent(p->b, p->r1)));
    case WADI_SHAPE_CAPSULE: return wadi_box_union(box_around(p->a, ball), box_around(end, ball));
    case WADI_SHAPE_TORUS: return wadi_box_grown(box_around(p->a, disc_extent(p->b, p->r0)), p->r1);
    default: return half_space_bounds(p->a, p->b);
    }
}
