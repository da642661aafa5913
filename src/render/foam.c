#include "render/foam.h"

#include <string.h>

/* sRGB. */
static const WadiTraceColour WHITE = { 245, 247, 248, 0 };

static bool has_array(const WadiState *state, const char *name)
{
    return wadi_state_find(state, name) != NULL;
}

/* White, and dust as the sand that it came from. */
static WadiStatus paint(WadiGrains *foam, const WadiCloud *cloud, const WadiFrameSceneDef *def,
                        WadiError *error)
{
    const WadiStateArray *material;
    WADI_TRY(wadi_state_expect(def->secondary, "material", WADI_TYPE_U8, 1, foam->count, &material, error));
    const uint8_t *of = material->data;
    for (size_t i = 0; i < foam->count; ++i) {
        foam->colour[i] = WHITE;
        if (of[i] < def->scene->material_count && def->scene->materials[of[i]].kind == WADI_MATERIAL_SAND) {
            const WadiGrainDef grains = wadi_frame_scene_grains(&def->scene->materials[of[i]].look);
            foam->colour[i] = wadi_grain_colour(&grains.palette, cloud->id[i], 0, 0.0f);
        }
    }
    return WADI_OK;
}

static WadiStatus paint_false(WadiFrameScene *frame_scene, const WadiCloud *cloud,
                              const WadiFrameSceneDef *def, WadiError *error)
{
    int32_t *particle;
    WADI_TRY(WADI_ARENA_NEW(&frame_scene->arena, &particle, (size_t)cloud->count, "foam", error));
    for (int32_t i = 0; i < cloud->count; ++i) {
        particle[i] = i;
    }
    return def->colours->fill(def->colours->user, cloud, def->secondary, particle, frame_scene->foam.colour,
                              error);
}

static void place(WadiFrameScene *frame_scene, const WadiCloud *cloud)
{
    for (int32_t i = 0; i < cloud->count; ++i) {
        const WadiVec3 x = wadi_sub(cloud->position[i], frame_scene->origin);
        float *sphere = frame_scene->foam.sphere[i];
        sphere[0] = (float)x.x;
        sphere[1] = (float)x.y;
        sphere[2] = (float)x.z;
        sphere[3] = 0.5f * cloud->spacing[i];
    }
}

static WadiStatus fill(WadiFrameScene *frame_scene, const WadiCloud *cloud, const WadiFrameSceneDef *def,
                       WadiError *error)
{
    const size_t count = (size_t)cloud->count;
    WadiGrains *foam = &frame_scene->foam;
    WADI_TRY(WADI_ARENA_NEW(&frame_scene->arena, &foam->sphere, count, "foam", error));
    WADI_TRY(WADI_ARENA_NEW(&frame_scene->arena, &foam->colour, count, "colours of foam", error));
    const WadiCloudAttribute *velocity = wadi_cloud_find(cloud, "velocity");
    if (def->scene->render.shutter > 0.0 && velocity != NULL && def->colours == NULL) {
        WADI_TRY(WADI_ARENA_NEW(&frame_scene->arena, &foam->velocity, count, "velocities of foam", error));
        memcpy(foam->velocity, velocity->values, count * sizeof *foam->velocity);
    }
    foam->count = count;
    place(frame_scene, cloud);
    WADI_TRY(def->colours != NULL ? paint_false(frame_scene, cloud, def, error)
                                  : paint(foam, cloud, def, error));
    WadiLook look = wadi_look_plain(wadi_grey(0.9f));
    look.coat = 0.0f;
    frame_scene->foam_look = frame_scene->look_count++;
    frame_scene->looks[frame_scene->foam_look] = look;
    return WADI_OK;
}

WadiStatus wadi_foam_add(WadiFrameScene *frame_scene, const WadiFrameSceneDef *def, WadiError *error)
{
    frame_scene->foam = (WadiGrains){ 0 };
    if (def->secondary == NULL || !has_array(def->secondary, "position") ||
        !def->scene->render.has_secondary || def->has_cut) {
        return WADI_OK;
    }
    WadiCloud cloud;
    WADI_TRY(wadi_cloud_from_frame(&cloud, def->secondary, -1, 0.0, error));
    WadiStatus status = cloud.count > 0 ? fill(frame_scene, &cloud, def, error) : WADI_OK;
    wadi_cloud_free(&cloud);
    return status;
}
