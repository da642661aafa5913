/* Solids of a picture: colliders in their looks, and the sides of the domain as glass. */
#include "core/alloc.h"
#include "render/frame_scene_internal.h"
#include "surface/mesh/shape_surface.h"

static WadiRgb linear_of(WadiVec3 srgb)
{
    return wadi_vec3f(wadi_srgb_decode((float)srgb.x), wadi_srgb_decode((float)srgb.y),
                      wadi_srgb_decode((float)srgb.z));
}

/* Muted colours, sRGB, for colliders without one, in their order: solids that touch can be told apart. */
static const WadiVec3 default_colours[] = {
    { 0.45, 0.48, 0.52 }, { 0.63, 0.40, 0.31 }, { 0.76, 0.73, 0.66 },
    { 0.33, 0.47, 0.47 }, { 0.56, 0.45, 0.32 }, { 0.30, 0.31, 0.33 }
};

static WadiVec3 collider_colour(const WadiScene *scene, int i)
{
    const size_t count = sizeof default_colours / sizeof default_colours[0];
    const WadiVec3 own = scene->colliders[i].look.colour, all = scene->render.collider_colour;
    return own.x >= 0.0 ? own : all.x >= 0.0 ? all : default_colours[(size_t)i % count];
}

static WadiLook collider_look(const WadiScene *scene, int i, double size)
{
    const WadiSolidLookDef *def = &scene->colliders[i].look;
    if (def->is_glass) {
        WadiLook glass = wadi_look_glass();
        glass.colour = def->colour.x >= 0.0 ? linear_of(def->colour) : glass.colour;
        return glass;
    }
    WadiLook look = wadi_look_plain(linear_of(collider_colour(scene, i)));
    look.coat_roughness = (float)def->roughness;
    look.texture = (WadiLookTexture)def->texture;
    look.texture_size = (float)(def->texture_size > 0.0 ? def->texture_size : size / 12.0);
    look.second_colour =
        def->second_colour.x >= 0.0 ? linear_of(def->second_colour) : wadi_scalef(look.colour, 0.5f);
    return look;
}

/* Of checkers and bands, in parts of their size: sides often lie at simple fractions of it, where rounding
 * would choose between two colours. */
static const double PATTERN_SHIFT = 0.37;

/* Positions of the vertices at time 0, so that the texture moves with the solid. */
static WadiStatus attach_texture(const WadiFrameBuilder *s, WadiFrameSceneSolid *solid,
                                 const WadiShape *shape, WadiError *error)
{
    WADI_TRY(WADI_ARENA_NEW(&s->frame_scene->arena, &solid->texture, solid->mesh.vertex_count,
                            "texture of a collider", error));
    const WadiLook *look = &s->frame_scene->looks[solid->look];
    const bool has_borders =
        look->texture == WADI_LOOK_TEXTURE_CHECKER || look->texture == WADI_LOOK_TEXTURE_BANDS;
    const double shift = has_borders ? PATTERN_SHIFT * (double)look->texture_size : 0.0;
    bool is_moving = wadi_shape_is_moving(shape);
    for (size_t v = 0; v < solid->mesh.vertex_count; ++v) {
        WadiVec3 x = solid->mesh.vertices[v];
        x = is_moving ? wadi_shape_carry(shape, x, s->time, 0.0) : x;
        solid->texture[v][0] = (float)(x.x + shift);
        solid->texture[v][1] = (float)(x.y + shift);
        solid->texture[v][2] = (float)(x.z + shift);
    }
    return WADI_OK;
}

/* The rigid motion of a shape from t0 to t1, by the images of four points. */
static WadiAffine motion_of(const WadiShape *shape, WadiVec3 middle, double size, double t0, double t1)
{
    WadiAffine map = wadi_affine_identity();
    const WadiVec3 to = wadi_shape_carry(shape, middle, t0, t1);
    const WadiVec3 along[3] = { { size, 0, 0 }, { 0, size, 0 }, { 0, 0, size } };
    for (int axis = 0; axis < 3; ++axis) {
        const WadiVec3 end = wadi_shape_carry(shape, wadi_add(middle, along[axis]), t0, t1);
        const WadiVec3 column = wadi_scale(wadi_sub(end, to), 1.0 / size);
        map.m[0][axis] = column.x;
        map.m[1][axis] = column.y;
        map.m[2][axis] = column.z;
    }
    map.t = wadi_sub(to, wadi_affine_vector(&map, middle));
    return map;
}

/* What the shutter sees of a moving solid. A jump of its keyframes is no motion: it is not blurred. */
static WadiStatus attach_motion(const WadiFrameBuilder *s, WadiFrameSceneSolid *solid, const WadiShape *shape,
                                WadiError *error)
{
    const double open = s->def->scene->render.shutter / s->def->scene->fps;
    const double before = s->time - 0.5 * open, after = s->time + 0.5 * open;
    if (!(open > 0.0) || s->def->colours != NULL || !wadi_shape_is_moving(shape) ||
        wadi_shape_jump_count(shape, before, after) > 0) {
        return WADI_OK;
    }
    const size_t count = solid->mesh.vertex_count;
    WADI_TRY(WADI_ARENA_NEW(&s->frame_scene->arena, &solid->velocity, count, "motion of a collider", error));
    double largest = 0.0;
    for (size_t v = 0; v < count; ++v) {
        const WadiVec3 x = solid->mesh.vertices[v];
        const WadiVec3 way =
            wadi_sub(wadi_shape_carry(shape, x, s->time, after), wadi_shape_carry(shape, x, s->time, before));
        const WadiVec3 velocity = wadi_is_finite(way) ? wadi_scale(way, 1.0 / open) : wadi_vec3(0, 0, 0);
        solid->velocity[v][0] = (float)velocity.x;
        solid->velocity[v][1] = (float)velocity.y;
        solid->velocity[v][2] = (float)velocity.z;
        largest = fmax(largest, wadi_norm(velocity));
    }
    if (largest == 0.0) {
        solid->velocity = NULL;
        return WADI_OK;
    }
    WadiShapeMotion unused;
    solid->is_rigid = wadi_shape_rigid_motion(shape, before, after, &unused);
    if (solid->is_rigid) {
        const WadiBox box = wadi_mesh_bounds(&solid->mesh);
        const WadiVec3 middle = wadi_scale(wadi_add(box.min, box.max), 0.5);
        solid->opening = motion_of(shape, middle, s->size, s->time, before);
        solid->closing = motion_of(shape, middle, s->size, s->time, after);
    }
    return WADI_OK;
}

/* Of the size of the view. */
static const double APART = 3e-5;

static bool do_overlap(WadiBox a, WadiBox b)
{
    return a.min.x <= b.max.x && a.min.y <= b.max.y && a.min.z <= b.max.z && b.min.x <= a.max.x &&
           b.min.y <= a.max.y && b.min.z <= a.max.z;
}

/* More for each earlier solid that it may touch. */
static double inset_of(const WadiFrameBuilder *s, int solid)
{
    const WadiFrameSceneSolid *solids = s->frame_scene->solids;
    const WadiBox box = wadi_mesh_bounds(&solids[solid].mesh);
    int touching = 0;
    for (int i = 0; i < solid; ++i) {
        touching += do_overlap(box, wadi_mesh_bounds(&solids[i].mesh)) ? 1 : 0;
    }
    return APART * s->size * touching;
}

static WadiStatus add_collider(WadiFrameBuilder *s, int i, WadiError *error)
{
    const WadiColliderDef *collider = &s->def->scene->colliders[i];
    const WadiShape *shape = s->def->world->collider_shapes[i];
    WadiFrameScene *frame_scene = s->frame_scene;
    WadiFrameSceneSolid *solid = &frame_scene->solids[frame_scene->solid_count];
    /* Without a domain, the part of an unbounded shape that is drawn follows the particles. */
    *solid = (WadiFrameSceneSolid){ .name = collider->name,
                                    .is_moving = wadi_shape_is_moving(shape) || !s->def->scene->has_domain };
    WADI_TRY(wadi_shape_surface(&solid->mesh, shape, s->time, s->view, s->size / WADI_FRAME_DETAIL,
                                &frame_scene->arena, error));
    solid->inset = inset_of(s, frame_scene->solid_count);
    frame_scene->solid_count += 1;
    double size = wadi_norm(wadi_box_size(wadi_mesh_bounds(&solid->mesh)));
    solid->look = wadi_frame_scene_add_look(
        frame_scene, collider_look(s->def->scene, i, isfinite(size) && size > 0.0 ? size : s->size));
    if (collider->look.texture != WADI_TEXTURE_NONE && !collider->look.is_glass) {
        WADI_TRY(attach_texture(s, solid, shape, error));
    }
    return attach_motion(s, solid, shape, error);
}

/* The box whose sides are drawn as glass, slightly outside of the domain. */
static WadiBox glass_box(const WadiFrameBuilder *s)
{
    WadiBox box = wadi_box_grown(s->def->scene->domain, WADI_FRAME_CLEARANCE * s->size);
    const double height = s->def->walls_height;
    box.max.z = height > 0.0 ? fmin(box.min.z + height, box.max.z) : box.max.z;
    return box;
}

/* Adds one side of the box as a sheet. */
static WadiStatus add_sheet(WadiFrameBuilder *s, WadiBox box, int axis, bool is_high, int look,
                            WadiError *error)
{
    WadiVec3 corner[4];
    for (int n = 0; n < 4; ++n) {
        double at[3];
        at[axis] = wadi_component(is_high ? box.max : box.min, axis);
        int u = (axis + 1) % 3, v = (axis + 2) % 3;
        at[u] = wadi_component(n == 1 || n == 2 ? box.max : box.min, u);
        at[v] = wadi_component(n >= 2 ? box.max : box.min, v);
        corner[n] = wadi_vec3(at[0], at[1], at[2]);
    }
    static const uint32_t triangles[2][3] = { { 0, 1, 2 }, { 0, 2, 3 } };
    WadiFrameSceneSolid *solid = &s->frame_scene->solids[s->frame_scene->solid_count];
    *solid = (WadiFrameSceneSolid){ .look = look };
    WADI_TRY(wadi_mesh_create(&solid->mesh, corner, 4, triangles, 2, error));
    s->frame_scene->solid_count += 1;
    return WADI_OK;
}

enum { EDGES_MAX = 8 };
/* Width of the edges of glass walls, relative to the size of the scene. */
static const double EDGE_WIDTH = 0.0028;

/* A bar from a to b with the vertices of a box. */
static void add_bar(WadiVec3 *vertices, uint32_t (*triangles)[3], int bar, WadiVec3 a, WadiVec3 b,
                    double width)
{
    static const uint32_t faces[12][3] = { { 0, 2, 1 }, { 1, 2, 3 }, { 4, 5, 6 }, { 5, 7, 6 },
                                           { 0, 1, 4 }, { 1, 5, 4 }, { 2, 6, 3 }, { 3, 6, 7 },
                                           { 0, 4, 2 }, { 2, 4, 6 }, { 1, 3, 5 }, { 3, 7, 5 } };
    WadiBox box = wadi_box_grown((WadiBox){ wadi_min(a, b), wadi_max(a, b) }, 0.5 * width);
    for (int n = 0; n < 8; ++n) {
        vertices[8 * bar + n] =
            wadi_vec3((n & 1) != 0 ? box.max.x : box.min.x, (n & 2) != 0 ? box.max.y : box.min.y,
                      (n & 4) != 0 ? box.max.z : box.min.z);
    }
    for (int f = 0; f < 12; ++f) {
        for (int k = 0; k < 3; ++k) {
            triangles[12 * bar + f][k] = faces[f][k] + 8 * (uint32_t)bar;
        }
    }
}

/* The upright and the upper edges of the glass walls: glass seen along its length is green. */
static WadiStatus add_edges(WadiFrameBuilder *s, WadiError *error)
{
    static const int ring[5][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 }, { 0, 0 } };
    static const int side_of[4] = { 2, 1, 3, 0 }; /* y_min, x_max, y_max, x_min */
    WadiBox box = glass_box(s);
    WadiVec3 vertices[8 * EDGES_MAX], corner[5];
    uint32_t triangles[12 * EDGES_MAX][3];
    const double width = EDGE_WIDTH * s->size;
    for (int n = 0; n < 5; ++n) {
        corner[n] = wadi_vec3(ring[n][0] != 0 ? box.max.x : box.min.x,
                              ring[n][1] != 0 ? box.max.y : box.min.y, box.max.z);
    }
    int bars = 0;
    for (int n = 0; n < 4; ++n) {
        const bool here = (s->def->scene->closed_sides >> side_of[n] & 1) != 0,
                   before = (s->def->scene->closed_sides >> side_of[(n + 3) % 4] & 1) != 0;
        if (here) {
            add_bar(vertices, triangles, bars++, corner[n], corner[n + 1], width);
        }
        if (here || before) {
            WadiVec3 foot = wadi_vec3(corner[n].x, corner[n].y, box.min.z);
            add_bar(vertices, triangles, bars++, foot, corner[n], width);
        }
    }
    if (bars == 0) {
        return WADI_OK;
    }
    WadiLook look = wadi_look_plain(wadi_srgb(124, 152, 144));
    look.coat = 1.0f;
    look.coat_roughness = 0.15f;
    look.casts_no_shadow = true; /* a drawing of the domain, not a thing in it */
    WadiFrameSceneSolid *solid = &s->frame_scene->solids[s->frame_scene->solid_count];
    *solid = (WadiFrameSceneSolid){ .look = wadi_frame_scene_add_look(s->frame_scene, look) };
    WADI_TRY(wadi_mesh_create(&solid->mesh, vertices, 8 * (size_t)bars, (const uint32_t(*)[3])triangles,
                              12 * (size_t)bars, error));
    s->frame_scene->solid_count += 1;
    return WADI_OK;
}

WadiStatus wadi_frame_scene_add_solids(WadiFrameBuilder *s, WadiError *error)
{
    const WadiScene *scene = s->def->scene;
    bool has_colliders = scene->render.has_colliders && s->def->world != NULL;
    for (int i = 0; has_colliders && i < scene->collider_count; ++i) {
        WADI_TRY(add_collider(s, i, error));
    }
    if (scene->render.walls != WADI_RENDER_WALLS_GLASS || !scene->has_domain) {
        return WADI_OK;
    }
    int look = wadi_frame_scene_add_look(s->frame_scene, wadi_look_glass());
    for (int side = 0; side < 4; ++side) { /* no floor and ceiling */
        if ((scene->closed_sides >> side & 1) != 0) {
            WADI_TRY(add_sheet(s, glass_box(s), side / 2, side % 2 == 1, look, error));
        }
    }
    return add_edges(s, error);
}

WadiStatus wadi_frame_scene_add_pit(WadiFrameBuilder *s, WadiBox pit, WadiLook look, WadiError *error)
{
    const int of = wadi_frame_scene_add_look(s->frame_scene, look);
    for (int side = 0; side < 4; ++side) {
        WADI_TRY(add_sheet(s, pit, side / 2, side % 2 == 1, of, error));
    }
    return WADI_OK;
}
