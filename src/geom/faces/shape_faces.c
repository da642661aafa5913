#include "geom/faces/shape_faces.h"

static const WadiVec3 up = { 0.0, 0.0, 1.0 };

/* Frame of a part: world -> frame, and metres in the world per metre of it, at least. */
typedef struct Frame {
    WadiAffine inverse;
    double stretch;
} Frame;

typedef struct Faces {
    WadiVec3 x;
    double time, within;
    WadiFace *face;
    int count, room;
} Faces;

static WadiAffine chained(const WadiAffine *first, const WadiAffine *then)
{
    WadiAffine out;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            out.m[i][j] = then->m[i][0] * first->m[0][j] + then->m[i][1] * first->m[1][j] +
                          then->m[i][2] * first->m[2][j];
        }
    }
    out.t = wadi_affine_point(then, first->t);
    return out;
}

/* Height above `from` along the axis of a cylinder or cone, and the direction away from the axis. */
static double split(const WadiPrimitive *c, WadiVec3 p, double *height, WadiVec3 *outward)
{
    const WadiVec3 from = wadi_sub(p, c->a);
    *height = wadi_dot(c->b, from);
    WadiVec3 radial = wadi_add_scaled(from, c->b, -*height);
    radial = wadi_add_scaled(radial, c->b, -wadi_dot(c->b, radial));
    const WadiVec3 other = fabs(c->b.x) < 0.6 ? wadi_vec3(1, 0, 0) : wadi_vec3(0, 1, 0);
    *outward = wadi_normalized_or(radial, wadi_normalized_or(wadi_cross(c->b, other), up));
    return wadi_norm(radial);
}

/* Signed distance to one side of a primitive, in its frame: 0 the side of a cylinder or cone, 1 and 2 its
 * ends; of a box 0 to 5. */
static double side_sample(const WadiPrimitive *c, int side, WadiVec3 p, WadiVec3 *normal)
{
    if (c->kind == WADI_SHAPE_BOX) {
        const double sign = side % 2 == 0 ? -1.0 : 1.0;
        const int axis = side / 2;
        *normal = wadi_vec3(axis == 0 ? sign : 0.0, axis == 1 ? sign : 0.0, axis == 2 ? sign : 0.0);
        return sign * wadi_component(wadi_sub(p, c->a), axis) - wadi_component(c->b, axis);
    }
    if (c->kind != WADI_SHAPE_CYLINDER && c->kind != WADI_SHAPE_CONE) {
        return wadi_primitive_sample(c, p, normal);
    }
    double h;
    WadiVec3 outward;
    const double r = split(c, p, &h, &outward);
    if (side > 0) {
        *normal = wadi_scale(c->b, side == 1 ? -1.0 : 1.0);
        return side == 1 ? -h : h - c->length;
    }
    const double narrowing = c->r0 - c->r1, slant = sqrt(c->length * c->length + narrowing * narrowing);
    *normal = wadi_add(wadi_scale(outward, c->length / slant), wadi_scale(c->b, narrowing / slant));
    return ((r - c->r0) * c->length + h * narrowing) / slant;
}

/* In the frame of the part. */
static double local_sample(const WadiFace *face, WadiVec3 p, double time, WadiVec3 *normal)
{
    if (face->field == NULL) {
        return side_sample(&face->primitive, face->side, p, normal);
    }
    const WadiSurfacePoint point = wadi_shape_sample(face->field, p, time);
    *normal = point.normal;
    return point.distance;
}

double wadi_face_sample(const WadiFace *face, WadiVec3 x, double time, WadiVec3 *normal)
{
    WadiVec3 local;
    const double d = local_sample(face, wadi_affine_point(&face->inverse, x), time, &local);
    const WadiVec3 gradient = wadi_affine_transposed_vector(&face->inverse, local);
    const double slope = wadi_norm(gradient);
    *normal = slope > 0.0 ? wadi_scale(gradient, 1.0 / slope) : up;
    return slope > 0.0 ? d / slope : d;
}

/* Inserts by distance. Planes are exact, other distances are bounds where the frame is stretched. */
static void add_face(Faces *faces, WadiFace face, double stretch)
{
    WadiVec3 normal;
    face.nearest = face.is_plane
                       ? fabs(wadi_face_sample(&face, faces->x, faces->time, &normal))
                       : stretch * fabs(local_sample(&face, wadi_affine_point(&face.inverse, faces->x),
                                                     faces->time, &normal));
    if (!(face.nearest < faces->within) ||
        (faces->count == faces->room && !(face.nearest < faces->face[faces->room - 1].nearest))) {
        return;
    }
    int at = faces->count < faces->room ? faces->count++ : faces->room - 1;
    for (; at > 0 && face.nearest < faces->face[at - 1].nearest; --at) {
        faces->face[at] = faces->face[at - 1];
    }
    faces->face[at] = face;
}

static void add_primitive(Faces *faces, const WadiShape *shape, const Frame *frame)
{
    WadiPrimitive scratch;
    const WadiPrimitive *primitive = wadi_shape_primitive(shape, faces->time, &scratch);
    const double d =
        frame->stretch * wadi_primitive_distance(primitive, wadi_affine_point(&frame->inverse, faces->x));
    if (!(fabs(d) < faces->within)) {
        return;
    }
    const bool is_box = shape->kind == WADI_SHAPE_BOX;
    const bool has_ends = shape->kind == WADI_SHAPE_CYLINDER || shape->kind == WADI_SHAPE_CONE;
    WadiFace face = { .inverse = frame->inverse, .primitive = *primitive };
    WadiAffine map;
    if (shape->kind == WADI_SHAPE_CONE && primitive->r0 * primitive->r1 == 0.0 &&
        wadi_affine_inverse(&frame->inverse, &map)) {
        face.has_tip = true;
        face.middle =
            wadi_affine_point(&map, wadi_add_scaled(primitive->a, primitive->b, 0.5 * primitive->length));
    }
    for (face.side = 0; face.side < (is_box ? 6 : has_ends ? 3 : 1); ++face.side) {
        face.is_plane = is_box || (has_ends && face.side > 0) || shape->kind == WADI_SHAPE_HALF_SPACE;
        add_face(faces, face, frame->stretch);
    }
}

/* Ellipsoids can have several points that are nearest to their neighbourhood, as meshes do. */
static bool is_field(const WadiShape *shape)
{
    return shape->kind == WADI_SHAPE_ELLIPSOID || shape->kind == WADI_SHAPE_SMOOTH_UNION ||
           (shape->kind >= WADI_SHAPE_HEIGHTMAP && shape->kind < WADI_SHAPE_UNION);
}

static void add_shape(Faces *faces, const WadiShape *shape, const Frame *parent)
{
    const WadiVec3 p = wadi_affine_point(&parent->inverse, faces->x);
    if (!wadi_shape_may_be_nearer(shape, p, faces->within / parent->stretch)) {
        return;
    }
    if (is_field(shape)) {
        add_face(faces, (WadiFace){ .inverse = parent->inverse, .field = shape }, parent->stretch);
        return;
    }
    Frame frame = *parent;
    if (shape->placing != WADI_PLACING_IDENTITY) {
        WadiPlacement scratch;
        const WadiPlacement *at = wadi_shape_placement(shape, faces->time, &scratch);
        frame.inverse = chained(&parent->inverse, &at->inverse);
        frame.stretch = parent->stretch * at->stretch;
    }
    if (wadi_shape_kind_is_primitive(shape->kind)) {
        add_primitive(faces, shape, &frame);
    }
    for (int i = 0; i < shape->child_count; ++i) {
        add_shape(faces, &shape->children[i], &frame);
    }
}

int wadi_shape_faces(const WadiShape *shape, WadiVec3 x, double time, double within, WadiFace *face, int room)
{
    Faces faces = { x, time, within, face, 0, room };
    const Frame world = { wadi_affine_identity(), 1.0 };
    add_shape(&faces, shape, &world);
    return faces.count;
}
