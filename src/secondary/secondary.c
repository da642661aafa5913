#include "secondary/secondary.h"

#include <math.h>
#include <string.h>

/* Pa s. More viscous water closes over air without breaking: no foam on honey. */
static const double VISCOSITY_MAX = 0.05;

void wadi_secondary_free(WadiSecondary *secondary)
{
    WADI_ARRAY_FREE(&secondary->list);
}

/* m/s: real water draws in no air below this; dust needs as much. */
static const double SLOWEST = 1.0;
/* Over sqrt(g L), the Froude number of the scene, where that is slower; and of `fast` over `slow`. */
static const double FROUDE = 0.2, RANGE = 4.0;

void wadi_secondary_speeds(const WadiScene *scene, bool is_sand, double *slow, double *fast)
{
    const WadiSecondaryDef *def = &scene->secondary;
    double scale = SLOWEST;
    if (!is_sand && scene->has_domain) {
        const WadiVec3 size = wadi_box_size(scene->domain);
        const double length = cbrt(size.x * size.y * size.z),
                     gravity = wadi_norm(wadi_curve_value3(&scene->gravity, 0.0));
        const double wave = FROUDE * sqrt(gravity * length);
        scale = wave > 0.0 ? fmin(wave, SLOWEST) : SLOWEST;
    }
    if (def->fast >= 0.0) {
        scale = fmin(scale, def->fast / RANGE);
    }
    *slow = def->slow >= 0.0 ? def->slow : scale;
    *fast = def->fast >= 0.0 ? def->fast : RANGE * fmax(*slow, 1e-3 * SLOWEST);
}

void wadi_secondary_pick(const WadiScene *scene, double time, bool is_sand, bool picks[256])
{
    memset(picks, 0, 256 * sizeof *picks);
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        picks[m] = is_sand ? material->kind == WADI_MATERIAL_SAND
                           : material->kind == WADI_MATERIAL_WATER &&
                                 wadi_curve_value_or_zero(&material->viscosity, time) < VISCOSITY_MAX;
    }
}

WadiStatus wadi_secondary_step(WadiSecondary *secondary, const WadiWorld *world,
                               const WadiSecondaryStep *step, WadiArena *arena, WadiError *error)
{
    WADI_TRY(wadi_secondary_move(secondary, world, step, arena, error));
    for (int is_sand = 0; is_sand < 2; ++is_sand) {
        const double amount = is_sand ? world->scene->secondary.dust : world->scene->secondary.amount;
        if (amount > 0.0) {
            WADI_TRY(wadi_arena_reset(arena, error));
            WADI_TRY(wadi_secondary_make(secondary, world, step, is_sand != 0, arena, error));
        }
    }
    return WADI_OK;
}

WadiStatus wadi_secondary_save(const WadiSecondary *secondary, WadiState *state, WadiError *error)
{
    const size_t count = secondary->list.count;
    double *x;
    float *v, *radius, *life;
    uint32_t *id;
    uint8_t *material, *kind;
    wadi_state_clear(state);
    WADI_TRY(wadi_state_add(state, "position", WADI_TYPE_F64, 3, count, (void **)&x, error));
    WADI_TRY(wadi_state_add(state, "velocity", WADI_TYPE_F32, 3, count, (void **)&v, error));
    WADI_TRY(wadi_state_add(state, "id", WADI_TYPE_U32, 1, count, (void **)&id, error));
    WADI_TRY(wadi_state_add(state, "material", WADI_TYPE_U8, 1, count, (void **)&material, error));
    WADI_TRY(wadi_state_add(state, "radius", WADI_TYPE_F32, 1, count, (void **)&radius, error));
    WADI_TRY(wadi_state_add(state, "kind", WADI_TYPE_U8, 1, count, (void **)&kind, error));
    WADI_TRY(wadi_state_add(state, "life", WADI_TYPE_F32, 1, count, (void **)&life, error));
    for (size_t i = 0; i < count; ++i) {
        const WadiSecondaryParticle *p = &secondary->list.data[i];
        x[3 * i] = p->x.x;
        x[3 * i + 1] = p->x.y;
        x[3 * i + 2] = p->x.z;
        memcpy(v + 3 * i, p->v, sizeof p->v);
        id[i] = p->id;
        material[i] = p->material;
        radius[i] = p->radius;
        kind[i] = p->kind;
        life[i] = p->life;
    }
    return WADI_OK;
}

WadiStatus wadi_secondary_load(WadiSecondary *secondary, const WadiState *state, WadiError *error)
{
    const WadiStateArray *x, *v, *id, *material, *radius, *kind, *life;
    WADI_TRY(wadi_state_expect(state, "position", WADI_TYPE_F64, 3, SIZE_MAX, &x, error));
    const size_t count = x->count;
    WADI_TRY(wadi_state_expect(state, "velocity", WADI_TYPE_F32, 3, count, &v, error));
    WADI_TRY(wadi_state_expect(state, "id", WADI_TYPE_U32, 1, count, &id, error));
    WADI_TRY(wadi_state_expect(state, "material", WADI_TYPE_U8, 1, count, &material, error));
    WADI_TRY(wadi_state_expect(state, "radius", WADI_TYPE_F32, 1, count, &radius, error));
    WADI_TRY(wadi_state_expect(state, "kind", WADI_TYPE_U8, 1, count, &kind, error));
    WADI_TRY(wadi_state_expect(state, "life", WADI_TYPE_F32, 1, count, &life, error));
    WADI_TRY(WADI_ARRAY_RESERVE(&secondary->list, count, "foam", error));
    secondary->list.count = count;
    for (size_t i = 0; i < count; ++i) {
        const double *at = (const double *)x->data + 3 * i;
        WadiSecondaryParticle *p = &secondary->list.data[i];
        *p = (WadiSecondaryParticle){ .x = wadi_vec3(at[0], at[1], at[2]),
                                      .radius = ((const float *)radius->data)[i],
                                      .life = ((const float *)life->data)[i],
                                      .id = ((const uint32_t *)id->data)[i],
                                      .kind = ((const uint8_t *)kind->data)[i],
                                      .material = ((const uint8_t *)material->data)[i] };
        memcpy(p->v, (const float *)v->data + 3 * i, sizeof p->v);
        if (p->kind > WADI_SECONDARY_DUST || !isfinite(p->life) || !(p->radius > 0.0f)) {
            secondary->list.count = 0;
            return wadi_fail(error, WADI_ERR_FORMAT, "particle %u: kind %d, life %g s, radius %g m", p->id,
                             p->kind, (double)p->life, (double)p->radius);
        }
    }
    return WADI_OK;
}
