/* Values of the scene keys `look` and `render`. */
#include "render/frame_scene_internal.h"

/* Cloudier liquids are drawn as a surface that lets no light in. */
static const double OPAQUE_CLOUDINESS = 0.95;

/* m: gravel begins at 2 mm (ISO 14688); where the material's grains are smaller, this size is drawn. */
static const double GRAVEL_FINEST = 0.002, GRAVEL_SIZE = 0.008;

typedef struct Preset {
    WadiGrainPalette palette;
    int grains;
    double fill, size_variation;
    double sparkle;
} Preset;

/* Colours chosen by eye from photographs: minerals and their fractions. */
static const Preset presets[WADI_PRESET_COUNT] = {
    [WADI_PRESET_BEACH] = { .palette = { { { 216, 203, 178 },
                                           { 196, 177, 148 },
                                           { 240, 234, 222 },
                                           { 96, 86, 76 } },
                                         { 0.45f, 0.32f, 0.17f, 0.06f },
                                         0.16f },
                            .grains = 10,
                            .fill = 0.6,
                            .size_variation = 0.35,
                            .sparkle = 0.25 },
    [WADI_PRESET_DESERT] = { .palette = { { { 222, 192, 154 },
                                            { 208, 174, 134 },
                                            { 238, 216, 188 },
                                            { 134, 102, 80 } },
                                          { 0.48f, 0.32f, 0.17f, 0.03f },
                                          0.12f },
                             .grains = 14,
                             .fill = 0.6,
                             .size_variation = 0.25,
                             .sparkle = 0.35 },
    [WADI_PRESET_BLACK] = { .palette = { { { 44, 43, 45 },
                                           { 66, 63, 62 },
                                           { 30, 30, 32 },
                                           { 140, 128, 112 } },
                                         { 0.5f, 0.28f, 0.18f, 0.04f },
                                         0.25f },
                            .grains = 12,
                            .fill = 0.6,
                            .size_variation = 0.35,
                            .sparkle = 0.5 },
    [WADI_PRESET_SOIL] = { .palette = { { { 98, 76, 58 },
                                          { 76, 58, 44 },
                                          { 124, 100, 78 },
                                          { 160, 146, 126 } },
                                        { 0.45f, 0.35f, 0.17f, 0.03f },
                                        0.28f },
                           .grains = 10,
                           .fill = 0.65,
                           .size_variation = 0.6 },
    [WADI_PRESET_GRAVEL] = { .palette = { { { 146, 144, 140 },
                                            { 114, 112, 110 },
                                            { 180, 176, 168 },
                                            { 134, 116, 100 } },
                                          { 0.4f, 0.25f, 0.2f, 0.15f },
                                          0.18f },
                             .grains = 3,
                             .fill = 0.7,
                             .size_variation = 0.45 },
    [WADI_PRESET_SUGAR] = { .palette = { { { 248, 248, 247 }, { 240, 241, 243 } }, { 0.7f, 0.3f }, 0.03f },
                            .grains = 12,
                            .fill = 0.55,
                            .size_variation = 0.2,
                            .sparkle = 1.0 },
};

static uint8_t to_byte(double value)
{
    return (uint8_t)(fmin(fmax(value, 0.0), 1.0) * 255.0 + 0.5);
}

double wadi_frame_scene_grain_size(const WadiMaterial *material)
{
    const bool is_sand_drawn_as_gravel =
        material->look.preset == WADI_PRESET_GRAVEL && material->grain_size < GRAVEL_FINEST;
    return is_sand_drawn_as_gravel ? GRAVEL_SIZE : material->grain_size;
}

WadiGrainDef wadi_frame_scene_grains(const WadiLookDef *look)
{
    const Preset *preset = &presets[look->preset];
    WadiGrainDef def = { .per_particle = look->grains > 0 ? look->grains : preset->grains,
                         .fill = look->grain_fill > 0.0 ? look->grain_fill : preset->fill,
                         .size_variation =
                             look->size_variation >= 0.0 ? look->size_variation : preset->size_variation,
                         .palette = preset->palette,
                         .wetness = (float)look->wetness };
    if (look->colour.x >= 0.0) {
        def.palette = (WadiGrainPalette){ .colour = { { to_byte(look->colour.x), to_byte(look->colour.y),
                                                        to_byte(look->colour.z) } },
                                          .fraction = { 1.0f },
                                          .variation = preset->palette.variation };
    }
    if (look->variation >= 0.0) {
        def.palette.variation = (float)look->variation;
    }
    return def;
}

WadiLook wadi_frame_scene_sand(const WadiLookDef *def, double size)
{
    WadiGrainDef grains = wadi_frame_scene_grains(def);
    const WadiGrainPalette *palette = &grains.palette;
    WadiLook look = wadi_look_sand(wadi_grey(0.0f));
    look.grain_size = (float)size;
    look.variation = palette->variation;
    look.lumps = def->preset == WADI_PRESET_SOIL ? 1.6f : 1.0f;
    look.sparkle = (float)presets[def->preset].sparkle;
    for (int c = 0; c < WADI_GRAIN_COLOURS; ++c) {
        const uint8_t *colour = palette->colour[c];
        look.mineral[c] = wadi_srgb(colour[0], colour[1], colour[2]);
        look.fraction[c] = palette->fraction[c];
        look.colour = wadi_add_scaledf(look.colour, look.mineral[c], palette->fraction[c]);
    }
    return look;
}

/* The distance after which water has its colour: that of real water, 3 m, for a pool or a beach; a bath is
 * tinted a little more than in nature, or it would look like air, and an ocean less, or it would be ink. */
static double default_clarity(double size, bool is_syrup)
{
    return is_syrup ? 0.15 * size : fmin(2.0 * size, fmax(3.0, size / 6.0));
}

static WadiRgb linear_of(WadiVec3 srgb)
{
    return wadi_vec3f(wadi_srgb_decode((float)srgb.x), wadi_srgb_decode((float)srgb.y),
                      wadi_srgb_decode((float)srgb.z));
}

WadiLook wadi_frame_scene_liquid(const WadiMaterial *material, double size)
{
    const WadiLookDef *def = &material->look;
    bool has_colour = def->colour.x >= 0.0;
    bool is_syrup = !has_colour && wadi_curve_value(&material->viscosity, 0.0) >= WADI_SYRUP_VISCOSITY;
    double depth = def->clarity > 0.0 ? def->clarity : default_clarity(size, is_syrup);
    WadiLook look = wadi_look_water(depth);
    /* White light has this colour after the distance `clarity`. */
    WadiRgb left = is_syrup ? wadi_srgb(240, 158, 36) : has_colour ? linear_of(def->colour) : wadi_grey(1.0f);
    if (is_syrup || has_colour) {
        float absorbed[3] = { left.x, left.y, left.z };
        for (int c = 0; c < 3; ++c) {
            absorbed[c] = (float)(-log((double)wadi_maxf(absorbed[c], 1e-4f)) / depth);
        }
        look.absorption = wadi_vec3f(absorbed[0], absorbed[1], absorbed[2]);
    }
    if (def->cloudiness >= OPAQUE_CLOUDINESS) { /* as milk: light does not come back from far */
        WadiRgb body = has_colour ? left : wadi_srgb(250, 246, 236);
        return (WadiLook){
            .kind = WADI_LOOK_PLAIN, .colour = body, .coat = 1.0f, .coat_roughness = 0.12f, .index = 1.35f
        };
    }
    /* Only a sea has haze of its own. */
    double own = is_syrup ? 0.12 : 0.3 * fmin(fmax((size - 1.0) / 4.0, 0.0), 1.0);
    double cloudy = def->cloudiness / (1.0 - def->cloudiness);
    look.haze = (float)((own + 6.0 * cloudy) / depth);
    WadiRgb clear = is_syrup ? wadi_vec3f(0.3f, 0.1f, 0.008f) : wadi_vec3f(0.016f, 0.065f, 0.08f);
    WadiRgb white = has_colour || is_syrup ? wadi_scalef(left, 0.6f) : wadi_grey(0.6f);
    look.haze_colour = wadi_lerpf(clear, white, (float)(6.0 * cloudy / (own + 6.0 * cloudy + 1e-9)));
    return look;
}

/* Diameter of the lens over the distance of what is sharp: what is very far away is blurred over 1.3 % of the
 * picture's height, the front and the back of what is framed over a few pixels of a thousand. */
static const double LENS = 1.0 / 125.0;

WadiCamera wadi_frame_scene_camera(const WadiScene *scene, WadiBox box, double time)
{
    const WadiCameraDef *def = &scene->render.camera;
    double aspect = (double)scene->render.width / scene->render.height;
    if (!def->is_given) {
        WadiCamera camera = wadi_camera_framing(box, aspect);
        camera.lens_radius = 0.5 * LENS * wadi_norm(wadi_sub(camera.target, camera.eye));
        return camera;
    }
    return (WadiCamera){ .eye = wadi_curve_value3(&def->from, time),
                         .target = wadi_curve_value3(&def->to, time),
                         .up = wadi_curve_value3(&def->up, time),
                         .view_angle = wadi_curve_value(&def->angle, time),
                         .lens_radius = 0.5 * wadi_curve_value(&def->aperture, time),
                         .focus = wadi_curve_value(&def->focus, time) };
}

WadiLightDef wadi_frame_scene_light(const WadiScene *scene, const WadiCamera *camera, const WadiHdr *map)
{
    const WadiRenderLightDef *def = &scene->render.light;
    WadiLightDef light = wadi_default_light_def();
    WadiVec3 sun = wadi_camera_sun(camera);
    double azimuth =
        def->sun_direction < -360.0 ? atan2(sun.y, sun.x) : def->sun_direction * 0.0174532925199433;
    double height = def->sun_height * 0.0174532925199433;
    light.sun = wadi_vec3(cos(height) * cos(azimuth), cos(height) * sin(azimuth), sin(height));
    light.sun_angle = def->sun_size;
    light.turbidity = def->haze;
    light.clouds = def->clouds;
    light.surround = map != NULL                           ? WADI_SURROUND_MAP
                     : def->surround == WADI_RENDER_STUDIO ? WADI_SURROUND_UNIFORM
                                                           : WADI_SURROUND_SKY;
    light.map = map;
    light.turn = def->turn;
    light.colour = wadi_grey((float)def->sky);
    /* A map contains its own sun; an explicit factor adds another. */
    WadiRgb sun_colour =
        light.surround == WADI_SURROUND_SKY ? wadi_grey(1.0f) : wadi_sky_sun(light.sun, def->haze);
    light.sun_light =
        map != NULL && !def->is_given ? wadi_grey(0.0f) : wadi_scalef(sun_colour, (float)def->sun);
    return light;
}
