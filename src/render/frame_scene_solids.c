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

static WadiStatus add_collider(WadiFrameBuilder *s, int i, WadiError *error)
{
    const WadiColliderDef *collider = &s->def->scene->colliders[i];
    const WadiShape *shape = s->def->world->collider_shapes[i];
    WadiFrameScene *frame_scene = s->frame_scene;
    WadiFrameSceneSolid *solid = &frame_scene->solids[frame_scene->solid_count];
    *solid = (WadiFrameSceneSolid){ .name = collider->name };
    WADI_TRY(wadi_shape_surface(&solid->mesh, shape, s->time, s->view, s->size / WADI_FRAME_DETAIL,
                                &frame_scene->arena, error));
    frame_scene->solid_count += 1;
    double size = wadi_norm(wadi_box_size(wadi_mesh_bounds(&solid->mesh)));
    solid->look = wadi_frame_scene_add_look(
        frame_scene, collider_look(s->def->scene, i, isfinite(size) && size > 0.0 ? size : s->size));
    if (collider->look.texture != WADI_TEXTURE_NONE && !collider->look.is_glass) {
        WADI_TRY(attach_texture(s, solid, shape, error));
    }
    return WADI_OK;
}

/* Adds one side of the domain as a sheet, slightly outside. */
static WadiStatus add_sheet(WadiFrameBuilder *s, int axis, bool is_high, int look, WadiError *error)
{
    WadiBox box = wadi_box_grown(s->def->scene->domain, WADI_FRAME_CLEARANCE * s->size);
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
            WADI_TRY(add_sheet(s, side / 2, side % 2 == 1, look, error));
        }
    }
    return WADI_OK;
}
