#include "render/frame_scene.h"

#include <string.h>

#include "core/alloc.h"
#include "core/check.h"
#include "render/bed_edge.h"
#include "render/foam.h"
#include "render/frame_scene_internal.h"
#include "render/solid_texture.h"
#include "surface/surface_frame.h"
#include "world/solver.h"

/* Radius of the mesh under stones, in spacings. */
static const double UNDERLAY_RADIUS = 0.35;
/* Spacings per grain below which grains are stones of their own instead of a part of the surface, and the
 * fraction of space that they fill. */
static const double STONE_RATIO = 2.5, STONE_FILL = 0.62;
/* Grains of a particle that flies alone. */
enum { LOOSE_MAX = 32 };
/* Spacings: shorter bumps of the surface are those of particles, not of sand or of viscous liquids. Sand that
 * coheres has edges and merlons. */
static const double SAND_BUMPS = 10.0, COHESIVE_BUMPS = 5.0, SYRUP_BUMPS = 14.0;
/* Passes on the function. */
enum { SYRUP_SMOOTHING = 6 };
/* Cells of the surface by which it reaches into the ground. */
static const double SUNK = 1.2;
/* Spacings: support radius of the function. A stream that accelerates tears into rings of particles. */
static const double SYRUP_SUPPORT = 3.0;

static void free_parts(WadiFrameScene *frame_scene)
{
    for (int p = 0; p < frame_scene->part_count; ++p) {
        wadi_surface_mesh_free(&frame_scene->parts[p].mesh);
    }
    for (int s = 0; s < frame_scene->solid_count; ++s) {
        wadi_mesh_free(&frame_scene->solids[s].mesh);
    }
    frame_scene->part_count = frame_scene->solid_count = frame_scene->look_count = 0;
}

void wadi_frame_scene_free(WadiFrameScene *frame_scene)
{
    free_parts(frame_scene);
    wadi_arena_free(&frame_scene->arena);
    *frame_scene = (WadiFrameScene){ 0 };
}

int wadi_frame_scene_add_look(WadiFrameScene *frame_scene, WadiLook look)
{
    frame_scene->looks[frame_scene->look_count] = look;
    return frame_scene->look_count++;
}

/* Pixels: finer grains are drawn this large, since a surface without any grain looks like wax. And spacings:
 * no grain of a surface is larger. */
static const double SEEN_GRAIN = 0.6, SEEN_LARGEST = 0.2;

static double seen_grain(const WadiFrameBuilder *s, const WadiMaterial *material)
{
    const double size = wadi_frame_scene_grain_size(material);
    const double spacing = s->def->world != NULL ? s->def->world->spacing : s->def->scene->cell_size;
    return fmax(size, fmin(SEEN_GRAIN * s->def->pixel, SEEN_LARGEST * spacing));
}

WadiLook wadi_frame_scene_material(const WadiFrameBuilder *s, const WadiMaterial *material)
{
    const WadiLookDef *def = &material->look;
    if (material->kind == WADI_MATERIAL_SAND) {
        return wadi_frame_scene_sand(def, def->style == WADI_STYLE_SURFACE ? 0.0 : seen_grain(s, material));
    }
    return wadi_frame_scene_liquid(material, s->size);
}

static WadiLookStyle style_of(const WadiFrameBuilder *s, const WadiMaterial *material)
{
    WadiLookStyle style = material->look.style;
    if (style == WADI_STYLE_HIDDEN) {
        return style;
    }
    if (s->def->colours != NULL) {
        return WADI_STYLE_BALLS;
    }
    bool is_sand = material->kind == WADI_MATERIAL_SAND;
    if (style == WADI_STYLE_AUTO) {
        const WadiSolverType *type = s->def->scene->solver_type;
        const bool has_grains = type != NULL && type->has_grains;
        style = !is_sand ? WADI_STYLE_SURFACE : has_grains ? WADI_STYLE_BALLS : WADI_STYLE_GRAINS;
    }
    /* A mesh shows nothing inside a cut. */
    bool is_mesh = style == WADI_STYLE_SURFACE || style == WADI_STYLE_TEXTURE;
    return s->def->has_cut && is_mesh ? (is_sand ? WADI_STYLE_GRAINS : WADI_STYLE_BALLS) : style;
}

/* Removes the spheres in front of the cut. */
static void cut_spheres(const WadiFrameBuilder *s, WadiGrains *grains)
{
    size_t kept = 0;
    WadiVec3 point = wadi_sub(s->def->cut_point, s->frame_scene->origin), normal = s->def->cut_normal;
    for (size_t g = 0; g < grains->count; ++g) {
        const float *x = grains->sphere[g];
        WadiVec3 from = wadi_sub(wadi_vec3((double)x[0], (double)x[1], (double)x[2]), point);
        if (wadi_dot(from, normal) > 0.0) {
            continue;
        }
        memmove(grains->sphere[kept], grains->sphere[g], sizeof grains->sphere[g]);
        grains->colour[kept] = grains->colour[g];
        if (grains->velocity != NULL) {
            memmove(grains->velocity[kept], grains->velocity[g], sizeof grains->velocity[g]);
        }
        ++kept;
    }
    grains->count = kept;
}

/* The cloud holds the particles of one material in the frame's order, so that counting gives the indices. */
static WadiStatus paint_balls(const WadiFrameBuilder *s, const WadiCloud *cloud, int material,
                              WadiGrains *balls, WadiError *error)
{
    const WadiStateArray *materials = NULL;
    WADI_TRY(wadi_state_expect(s->frame, "material", WADI_TYPE_U8, 1, SIZE_MAX, &materials, error));
    const uint8_t *of = materials->data;
    int32_t *particle, next = 0;
    WADI_TRY(WADI_ARENA_NEW(&s->frame_scene->arena, &particle, (size_t)cloud->count,
                            "particles of a material", error));
    for (size_t i = 0; i < materials->count; ++i) {
        if (of[i] == material) {
            particle[next++] = (int32_t)i;
        }
    }
    WADI_ASSERT(next == cloud->count);
    const WadiFrameSceneColours *colours = s->def->colours;
    return colours->fill(colours->user, cloud, s->frame, particle, balls->colour, error);
}

static WadiStatus make_balls(const WadiFrameBuilder *s, const WadiCloud *cloud, int material,
                             WadiGrains *balls, WadiError *error)
{
    WadiArena *arena = &s->frame_scene->arena;
    size_t count = (size_t)cloud->count;
    const WadiCloudAttribute *velocity = wadi_cloud_find(cloud, "velocity");
    WADI_TRY(WADI_ARENA_NEW(arena, &balls->sphere, count, "balls", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &balls->colour, count, "colours of balls", error));
    if (s->def->scene->render.shutter > 0.0 && velocity != NULL && count > 0) {
        WADI_TRY(WADI_ARENA_NEW(arena, &balls->velocity, count, "velocities of balls", error));
        memcpy(balls->velocity, velocity->values, count * sizeof *balls->velocity);
    }
    const WadiLookDef *look = &s->def->scene->materials[material].look;
    const WadiGrainDef grains = wadi_frame_scene_grains(look);
    balls->count = count;
    for (size_t i = 0; i < count; ++i) {
        WadiVec3 x = wadi_sub(cloud->position[i], s->frame_scene->origin);
        balls->sphere[i][0] = (float)x.x;
        balls->sphere[i][1] = (float)x.y;
        balls->sphere[i][2] = (float)x.z;
        balls->sphere[i][3] = 0.5f * (float)look->ball_size * cloud->spacing[i];
        balls->colour[i] = wadi_grain_colour(&grains.palette, cloud->id[i], 0, grains.wetness);
    }
    return s->def->colours != NULL ? paint_balls(s, cloud, material, balls, error) : WADI_OK;
}

/* Grains filled into all particles: where a cut shows the inside, or grains are as large as particles. */
static WadiStatus fill_grains(const WadiFrameBuilder *s, const WadiCloud *cloud, const WadiGrainDef *def,
                              WadiGrains *grains, WadiError *error)
{
    WadiArena *arena = &s->frame_scene->arena;
    WadiBins bins;
    WADI_TRY(wadi_bins_build(&bins, cloud, WADI_GRAIN_SUPPORT, arena, error));
    return wadi_grains_make(grains, cloud, &bins, s->frame_scene->origin, def, arena, error);
}

/* Whether an opaque ground is drawn at the floor of the domain. */
static bool has_ground_as_floor(const WadiFrameBuilder *s)
{
    const WadiScene *scene = s->def->scene;
    const WadiRenderSettings *def = &scene->render;
    return scene->has_domain && def->ground != WADI_GROUND_NONE && def->ground != WADI_GROUND_WATER &&
           (!isfinite(def->ground_height) || def->ground_height == scene->domain.min.z);
}

/* The surface of a bed that goes on is not clipped at the sides of the domain. */
static void open_sides(const WadiFrameBuilder *s, WadiFieldDef *field)
{
    if (s->def->has_bed && field->is_clipped) {
        field->clip.min.x = field->clip.min.y = -INFINITY;
        field->clip.max.x = field->clip.max.y = INFINITY;
    }
}

static WadiStatus make_mesh(const WadiFrameBuilder *s, const WadiMaterial *material, const WadiCloud *cloud,
                            bool is_underlay, WadiSurfaceMesh *mesh, WadiError *error)
{
    WadiArena *arena = &s->frame_scene->arena;
    WadiSurfaceFrameDef def = wadi_surface_frame_def(s->def->scene);
    def.are_walls_open = false;
    if (is_underlay) {
        def.field.method = WADI_SURFACE_ZHU_BRIDSON;
        def.field.radius = UNDERLAY_RADIUS;
        def.field.offset = 0.0;
        def.field.volume_slack[0] = def.field.volume_slack[1] = 0.0;
        def.field.smoothing = 2;
    }
    if (wadi_curve_value_or_zero(&material->viscosity, s->time) >= WADI_SYRUP_VISCOSITY) {
        /* Gaps between the particles of a stream are not air. */
        def.bumps = SYRUP_BUMPS;
        def.has_no_voids = true;
        def.field.smoothing = def.field.smoothing > SYRUP_SMOOTHING ? def.field.smoothing : SYRUP_SMOOTHING;
        def.field.support = fmax(def.field.support, SYRUP_SUPPORT);
    }
    if (def.field.is_clipped && has_ground_as_floor(s)) {
        /* It touches the ground: its lower edge, beveled by marching cubes, is below it. */
        def.field.sunk = WADI_FRAME_CLEARANCE * s->size + SUNK * def.field.cell;
        def.field.clip.min.z -= def.field.sunk;
    }
    if (material->kind == WADI_MATERIAL_SAND) {
        /* Moving the surface everywhere to conserve the volume would let the grains of still sand flicker. */
        def.field.volume_slack[0] = def.field.volume_slack[1] = 0.0;
        def.has_sharp_edges = true;
        const bool coheres = wadi_curve_value_or_zero(&material->cohesion, s->time) > 0.0 ||
                             (material->where_pores.text[0] != 0 && material->pores.cohesion_wet > 0.0);
        def.bumps = coheres ? COHESIVE_BUMPS : SAND_BUMPS;
        open_sides(s, &def.field);
    }
    WadiStageTimes times = { 0 };
    WadiSurfaceFrame made;
    WadiArenaMark mark = wadi_arena_mark(arena);
    WadiStatus status = wadi_surface_frame_build(&made, cloud, &def, arena, &times, error);
    wadi_arena_release(arena, mark);
    *mesh = made.surface;
    return status;
}

/* Grains that are nearly as large as the particles: as many to a particle as fill it, at least one, over a
 * mesh that closes the gaps. */
static WadiStatus make_stones(const WadiFrameBuilder *s, WadiFrameScenePart *part, const WadiCloud *cloud,
                              double ratio, WadiGrainDef def, WadiError *error)
{
    double cube = ratio * ratio * ratio;
    def.per_particle = (int)fmin(fmax(rint(STONE_FILL * 1.90985931710274 * cube), 1.0), WADI_GRAIN_MAX);
    /* the volume of that many grains of the given size, no larger than fits the particle */
    def.fill = fmin(def.per_particle / (1.90985931710274 * cube), 1.1);
    WADI_TRY(fill_grains(s, cloud, &def, &part->grains, error));
    return make_mesh(s, &s->def->scene->materials[part->material], cloud, true, &part->mesh, error);
}

/* The grains that `wadi secondary` has made, over a mesh that closes the gaps. */
static WadiStatus make_fine(const WadiFrameBuilder *s, WadiFrameScenePart *part, const WadiCloud *cloud,
                            const WadiGrainDef *def, WadiError *error)
{
    WadiCloud fine;
    WADI_TRY(wadi_cloud_from_frame(&fine, s->def->fine_grains, part->material, 0.0, error));
    WadiStatus status =
        wadi_grains_single(&part->grains, &fine, s->frame_scene->origin, def, &s->frame_scene->arena, error);
    wadi_cloud_free(&fine);
    WADI_TRY(status);
    return s->def->has_cut
               ? WADI_OK
               : make_mesh(s, &s->def->scene->materials[part->material], cloud, true, &part->mesh, error);
}

static WadiStatus make_sand(const WadiFrameBuilder *s, WadiFrameScenePart *part, const WadiCloud *cloud,
                            const WadiMaterial *material, WadiError *error)
{
    WadiArena *arena = &s->frame_scene->arena;
    WadiGrainDef def = wadi_frame_scene_grains(&material->look);
    def.has_velocity = s->def->scene->render.shutter > 0.0;
    const double size = wadi_frame_scene_grain_size(material);
    double ratio = cloud->spacing_max / size;
    part->is_angular = true;
    if (s->def->fine_grains != NULL && wadi_state_find(s->def->fine_grains, "position") != NULL) {
        return make_fine(s, part, cloud, &def, error);
    }
    if (s->def->has_cut) {
        return fill_grains(s, cloud, &def, &part->grains, error);
    }
    if (ratio < STONE_RATIO && cloud->count > 0) {
        return make_stones(s, part, cloud, ratio, def, error);
    }
    WadiCloud bulk, loose, extended;
    WadiBox everywhere = { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
    const WadiBox walls = s->def->scene->has_domain ? s->def->scene->domain : everywhere;
    float *drop;
    WADI_TRY(wadi_sand_split(&bulk, &loose, &drop, cloud, walls, arena, error));
    if (s->def->has_bed) {
        const WadiBed bed = { s->def->scene->domain, s->def->bed_height, s->def->bed_wetness };
        WADI_TRY(wadi_bed_extend(&extended, &bulk, &bed, arena, error));
        bulk = extended;
    }
    WADI_TRY(make_mesh(s, material, &bulk, false, &part->mesh, error));
    WADI_TRY(wadi_sand_owners(&part->owners, &bulk, part->mesh.mesh.vertices, part->mesh.mesh.vertex_count,
                              s->frame_scene->origin, arena, error));
    int most = material->look.grains > 0 ? material->look.grains : LOOSE_MAX;
    WadiLooseDef scattered = { .size = size,
                               .smallest = 0.7 * s->def->pixel,
                               .floor = walls.min.z,
                               .drop = drop,
                               .count_max = s->def->grains_max > 0 && s->def->grains_max < most
                                                ? s->def->grains_max
                                                : most,
                               .palette = def.palette,
                               .wetness = def.wetness,
                               .has_velocity = def.has_velocity };
    return wadi_loose_grains(&part->grains, &loose, s->frame_scene->origin, &scattered, arena, error);
}

static WadiStatus paint_mesh(const WadiFrameBuilder *s, WadiFrameScenePart *part,
                             const WadiMaterial *material, double spacing, WadiError *error)
{
    const float *texture = wadi_surface_mesh_attribute(&part->mesh, "texture", 3);
    size_t count = part->mesh.mesh.vertex_count;
    if (texture == NULL && count > 0) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "material %s: the look `texture` needs frames that have that attribute; "
                         "run the scene again with `texture: true`, or take another look.style",
                         material->name);
    }
    WadiGrainDef grains = wadi_frame_scene_grains(&material->look);
    double grain = spacing / cbrt((double)grains.per_particle);
    WADI_TRY(WADI_ARENA_NEW(&s->frame_scene->arena, &part->mesh_colour, count, "colours of a mesh", error));
    for (size_t v = 0; v < count; ++v) {
        const float *t = texture + 3 * v;
        part->mesh_colour[v] = wadi_solid_texture(
            &grains.palette, wadi_scale(wadi_vec3((double)t[0], (double)t[1], (double)t[2]), 1.0 / grain));
    }
    return WADI_OK;
}

/* Single grains as stones of about the volume of their spheres: those lie within the radius that is given. */
static void make_stony(WadiFrameScenePart *part)
{
    static const float circumscribed = 1.15f;
    part->is_angular = true;
    for (size_t g = 0; g < part->grains.count; ++g) {
        part->grains.sphere[g][3] *= circumscribed;
    }
}

static WadiStatus fill_part(WadiFrameBuilder *s, WadiFrameScenePart *part, const WadiCloud *cloud,
                            WadiError *error)
{
    const WadiMaterial *material = &s->def->scene->materials[part->material];
    bool is_sand = material->kind == WADI_MATERIAL_SAND;
    WadiCloud edged;
    switch (part->style) {
    case WADI_STYLE_BALLS:
        WADI_TRY(make_balls(s, cloud, part->material, &part->grains, error));
        if (is_sand && material->look.style == WADI_STYLE_AUTO && s->def->colours == NULL) {
            make_stony(part);
        }
        break;
    case WADI_STYLE_GRAINS:
        WADI_TRY(is_sand ? make_sand(s, part, cloud, material, error)
                         : make_balls(s, cloud, part->material, &part->grains, error));
        break;
    case WADI_STYLE_TEXTURE:
        WADI_TRY(make_mesh(s, material, cloud, false, &part->mesh, error));
        WADI_TRY(paint_mesh(s, part, material, cloud->spacing_max, error));
        break;
    case WADI_STYLE_SURFACE:
        if (!is_sand) {
            WADI_TRY(wadi_frame_scene_edge(s, cloud, &edged, error));
            cloud = &edged;
        }
        WADI_TRY(make_mesh(s, material, cloud, false, &part->mesh, error));
        break;
    default: break;
    }
    if (s->def->has_cut) {
        cut_spheres(s, &part->grains);
    }
    return WADI_OK;
}

static WadiStatus add_part(WadiFrameBuilder *s, int material, WadiError *error)
{
    WadiFrameScene *frame_scene = s->frame_scene;
    const WadiMaterial *of = &s->def->scene->materials[material];
    WadiFrameScenePart *part = &frame_scene->parts[frame_scene->part_count];
    *part = (WadiFrameScenePart){ .material = material, .style = style_of(s, of) };
    frame_scene->part_count += 1;
    WadiLook look = wadi_frame_scene_material(s, of);
    part->mesh_look = wadi_frame_scene_add_look(frame_scene, look);
    /* Balls of water are opaque: there would be too many surfaces to see through. */
    bool is_ball = part->style == WADI_STYLE_BALLS;
    WadiLook plain =
        wadi_look_plain(of->look.colour.x >= 0.0 ? wadi_vec3f(wadi_srgb_decode((float)of->look.colour.x),
                                                              wadi_srgb_decode((float)of->look.colour.y),
                                                              wadi_srgb_decode((float)of->look.colour.z))
                                                 : wadi_vec3f(0.2f, 0.45f, 0.7f));
    part->look = wadi_frame_scene_add_look(
        frame_scene, is_ball && (of->kind != WADI_MATERIAL_SAND || s->def->colours != NULL) ? plain : look);
    if (part->style == WADI_STYLE_HIDDEN) {
        return WADI_OK;
    }
    WadiCloud cloud;
    WADI_TRY(wadi_cloud_from_frame(&cloud, s->frame, material, 0.0, error));
    WadiStatus status = fill_part(s, part, &cloud, error);
    wadi_cloud_free(&cloud);
    return status;
}

static WadiStatus particle_bounds(const WadiState *frame, WadiBox *box, WadiError *error)
{
    const WadiStateArray *x = NULL;
    WADI_TRY(wadi_state_expect(frame, "position", WADI_TYPE_F64, 3, SIZE_MAX, &x, error));
    *box = wadi_box_empty();
    const double *p = x->data;
    for (size_t i = 0; i < x->count; ++i, p += 3) {
        *box = wadi_box_add_point(*box, wadi_vec3(p[0], p[1], p[2]));
    }
    return WADI_OK;
}

static WadiStatus fill_frame_scene(WadiFrameBuilder *s, WadiError *error)
{
    const WadiScene *scene = s->def->scene;
    WadiFrameScene *frame_scene = s->frame_scene;
    size_t materials = (size_t)scene->material_count, colliders = (size_t)scene->collider_count;
    WADI_TRY(
        WADI_ARENA_NEW(&frame_scene->arena, &frame_scene->parts, materials, "parts of a picture", error));
    size_t layout = s->def->is_layout ? wadi_layout_count(scene) : 0;
    WADI_TRY(WADI_ARENA_NEW(&frame_scene->arena, &frame_scene->solids,
                            colliders + WADI_FRAME_SHEETS_MAX + layout, "solids of a picture", error));
    WADI_TRY(WADI_ARENA_NEW(&frame_scene->arena, &frame_scene->looks, 2 * materials + colliders + 3 + layout,
                            "looks of a picture", error));
    for (int m = 0; m < scene->material_count; ++m) {
        WADI_TRY(add_part(s, m, error));
    }
    WADI_TRY(wadi_frame_scene_add_solids(s, error));
    if (s->def->is_layout) {
        WADI_TRY(wadi_frame_scene_add_layout(s, error));
    }
    WADI_TRY(wadi_foam_add(frame_scene, s->def, error));
    return wadi_frame_scene_set_ground(s, error);
}

WadiStatus wadi_frame_scene_build(WadiFrameScene *frame_scene, const WadiFrameSceneDef *def,
                                  const WadiState *frame, double time, WadiError *error)
{
    free_parts(frame_scene);
    WADI_TRY(wadi_arena_reset(&frame_scene->arena, error));
    WADI_TRY(particle_bounds(frame, &frame_scene->bounds, error));
    WadiBox view = def->scene->has_domain ? def->scene->domain : frame_scene->bounds;
    if (wadi_box_is_empty(view) || !isfinite(wadi_norm(wadi_box_size(view)))) {
        view = (WadiBox){ { -0.5, -0.5, -0.5 }, { 0.5, 0.5, 0.5 } };
    }
    WadiFrameBuilder s = {
        .frame_scene = frame_scene, .def = def, .frame = frame, .time = time, .view = view
    };
    s.size = fmax(wadi_norm(wadi_box_size(view)), 1e-6);
    frame_scene->origin = wadi_scale(wadi_add(view.min, view.max), 0.5);
    WadiStatus status = fill_frame_scene(&s, error);
    if (status != WADI_OK) {
        free_parts(frame_scene);
    }
    return status;
}
