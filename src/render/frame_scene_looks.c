/* Values of the scene keys `look` and `render`. */
#include "render/frame_scene.h"

typedef struct Preset {
    WadiGrainPalette palette;
    int grains;
    double fill, size_variation;
} Preset;

/* Colours chosen by eye from photographs. */
static const Preset presets[WADI_PRESET_COUNT] = {
    [WADI_PRESET_BEACH] = { { { { 226, 205, 168 }, { 205, 178, 134 }, { 240, 230, 208 }, { 122, 104, 84 } },
                              { 0.5f, 0.3f, 0.15f, 0.05f },
                              0.14f },
                            10,
                            0.6,
                            0.35 },
    [WADI_PRESET_DESERT] = { { { { 214, 152, 92 }, { 200, 132, 74 }, { 228, 176, 120 } },
                               { 0.5f, 0.3f, 0.2f },
                               0.1f },
                             14,
                             0.6,
                             0.25 },
    [WADI_PRESET_SOIL] = { { { { 92, 66, 46 }, { 70, 50, 36 }, { 118, 90, 66 }, { 150, 132, 108 } },
                             { 0.45f, 0.35f, 0.17f, 0.03f },
                             0.25f },
                           10,
                           0.65,
                           0.6 },
    [WADI_PRESET_GRAVEL] = { { { { 140, 138, 134 }, { 112, 110, 108 }, { 172, 168, 160 }, { 128, 112, 98 } },
                               { 0.4f, 0.25f, 0.2f, 0.15f },
                               0.18f },
                             3,
                             0.7,
                             0.45 },
    [WADI_PRESET_SUGAR] = { { { { 246, 246, 244 }, { 236, 238, 240 } }, { 0.7f, 0.3f }, 0.05f },
                            12,
                            0.55,
                            0.2 },
};

static uint8_t to_byte(double value)
{
    return (uint8_t)(fmin(fmax(value, 0.0), 1.0) * 255.0 + 0.5);
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

WadiCamera wadi_frame_scene_camera(const WadiScene *scene, WadiBox box, double time)
{
    const WadiCameraDef *def = &scene->render.camera;
    double aspect = (double)scene->render.width / scene->render.height;
    if (!def->is_given) {
        return wadi_camera_framing(box, aspect);
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
