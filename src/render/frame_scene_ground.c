/* What everything stands on. */
#include "render/bed_edge.h"
#include "render/frame_scene_internal.h"

/* The first sand of the scene, or NULL. */
static const WadiMaterial *first_sand(const WadiScene *scene)
{
    for (int m = 0; m < scene->material_count; ++m) {
        if (scene->materials[m].kind == WADI_MATERIAL_SAND) {
            return &scene->materials[m];
        }
    }
    return NULL;
}

/* The first sand of the scene, or beach sand. */
static WadiLook ground_sand(const WadiFrameBuilder *s)
{
    WadiLookDef beach = { .colour = { -1.0, -1.0, -1.0 }, .variation = -1.0 };
    const WadiMaterial *sand = first_sand(s->def->scene);
    return sand != NULL ? wadi_frame_scene_material(s, sand) : wadi_frame_scene_sand(&beach, 0.0005);
}

/* m: 1, 2 or 5 times a power of ten, about a quarter of the scene's size, and no larger than real ones. */
static double slab_side(double size)
{
    const double wanted = fmin(0.25 * size, 1.0), power = pow(10.0, floor(log10(wanted) + 1e-9)),
                 digit = wanted / power;
    return power * (digit < 1.5 ? 1.0 : digit < 3.5 ? 2.0 : digit < 7.5 ? 5.0 : 10.0);
}

/* m, of the scene: smaller ones stand on something of one colour, as on a table. */
static const double TABLE = 0.7;

/* Without sides and without weight, nothing stands on anything. */
static bool is_in_space(const WadiScene *scene)
{
    return !scene->has_domain && wadi_norm(wadi_curve_value3(&scene->gravity, 0.0)) == 0.0;
}

static WadiGroundKey ground_of(const WadiFrameBuilder *s)
{
    const WadiGroundKey ground = s->def->scene->render.ground;
    return ground != WADI_GROUND_AUTO   ? ground
           : is_in_space(s->def->scene) ? WADI_GROUND_NONE
           : s->size < TABLE            ? WADI_GROUND_PLAIN
                                        : WADI_GROUND_SLABS;
}

static WadiLook ground_look(const WadiFrameBuilder *s)
{
    const WadiRenderSettings *def = &s->def->scene->render;
    WadiVec3 c = def->ground_colour;
    WadiRgb colour =
        wadi_vec3f(wadi_srgb_decode((float)c.x), wadi_srgb_decode((float)c.y), wadi_srgb_decode((float)c.z));
    WadiLook look = wadi_look_plain(colour);
    look.coat = 0.0f;
    switch (s->def->has_bed ? WADI_GROUND_SAND : ground_of(s)) {
    case WADI_GROUND_SLABS:
        if (s->def->colours != NULL) { /* nothing but the numbers has a pattern */
            return look;
        }
        look.texture = WADI_LOOK_TEXTURE_SLABS;
        look.texture_size = (float)slab_side(s->size);
        look.second_colour = wadi_scalef(colour, 0.45f);
        return look;
    case WADI_GROUND_CHECKER:
        look.texture = WADI_LOOK_TEXTURE_CHECKER;
        look.texture_size = (float)(0.1 * s->size);
        look.second_colour = wadi_scalef(colour, 0.5f);
        return look;
    case WADI_GROUND_SAND: return ground_sand(s);
    case WADI_GROUND_WATER:
        look = wadi_look_sea();
        look.waves = (float)(0.08 * s->size);
        return look;
    default: return look;
    }
}

/* The horizon of a small scene is soft: the ground fades within this many times its size, and within this
 * many m at most. */
static const double AIR = 100.0, AIR_CLEAREST = 2500.0;

/* Spacings below the bed's uppermost particles: the sand goes down into the plain beyond the rim. */
static const double BELOW = 0.4;

/* A plain of sand at the height of the scene's bed; the domain lies in a pit of it. */
static WadiStatus set_bed(WadiFrameBuilder *s, WadiError *error)
{
    WadiTraceGround *ground = &s->frame_scene->ground;
    ground->has_pit = true;
    ground->pit = wadi_box_grown(s->def->scene->domain, WADI_BED_RIM * s->def->bed_spacing);
    ground->pit.min.z = ground->height;
    ground->pit.max.z = ground->height = s->def->bed_height - BELOW * s->def->bed_spacing;
    ground->wetness = (float)s->def->bed_wetness;
    return wadi_frame_scene_add_pit(s, ground->pit, ground->look, error);
}

WadiStatus wadi_frame_scene_set_ground(WadiFrameBuilder *s, WadiError *error)
{
    const WadiRenderSettings *def = &s->def->scene->render;
    bool has_floor = s->def->scene->has_domain;
    double height = isfinite(def->ground_height) ? def->ground_height
                    : has_floor                  ? s->def->scene->domain.min.z
                                                 : s->view.min.z;
    s->frame_scene->ground = (WadiTraceGround){ .is_present = ground_of(s) != WADI_GROUND_NONE,
                                                .height = height - WADI_FRAME_CLEARANCE * s->size,
                                                .look = ground_look(s) };
    s->frame_scene->air = fmin(AIR * s->size, AIR_CLEAREST);
    const WadiMaterial *sand = def->ground == WADI_GROUND_SAND ? first_sand(s->def->scene) : NULL;
    s->frame_scene->ground.wetness = sand != NULL ? (float)sand->look.wetness : 0.0f;
    return s->def->has_bed && has_floor ? set_bed(s, error) : WADI_OK;
}
