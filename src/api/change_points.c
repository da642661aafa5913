/* Particles from arrays. A change is a line of text, so that what is applied is what is recorded: the
 * particles are written as base64. */
#include <string.h>

#include "api/change.h"
#include "core/alloc.h"
#include "wadi/surface.h"

_Static_assert(sizeof(WadiPoint) == 40, "records have no padding");

static WadiStatus check(const WadiSim *sim, const WadiParticleData *particles, WadiError *error)
{
    const WadiParticleData known = wadi_default_particle_data();
    if (particles == NULL || particles->cookie != known.cookie) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "the WadiParticleData was not made by wadi_default_particle_data");
    }
    if (particles->count > 0 && particles->position == NULL) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "position is NULL");
    }
    if (particles->radius != NULL || particles->spacing != 0.0 || particles->attribute_count != 0) {
        return wadi_fail(
            error, WADI_ERR_ARGUMENT,
            "radius, spacing and attributes are not for simulations: particles have the spacing of "
            "the scene, %g m; leave them NULL and 0",
            sim->world->spacing);
    }
    return particles->count <= (size_t)INT32_MAX
               ? WADI_OK
               : wadi_fail(error, WADI_ERR_ARGUMENT, "%zu particles are too many", particles->count);
}

static void append_points(WadiText *text, const WadiParticleData *particles)
{
    enum { AT_ONCE = 3 * 64 }; /* a multiple of 3, so that no group of base64 is padded but the last */
    WadiPoint points[AT_ONCE];
    for (size_t first = 0; first < particles->count; first += AT_ONCE) {
        const size_t count = particles->count - first < AT_ONCE ? particles->count - first : AT_ONCE;
        for (size_t n = 0; n < count; ++n) {
            const size_t i = first + n;
            points[n] = (WadiPoint){ .material = particles->material != NULL ? particles->material[i] : 0 };
            memcpy(points[n].x, particles->position + 3 * i, sizeof points[n].x);
            if (particles->velocity != NULL) {
                memcpy(points[n].v, particles->velocity + 3 * i, sizeof points[n].v);
            }
        }
        wadi_text_append_base64(text, points, count * sizeof *points);
    }
}

WadiStatus wadi_sim_add_points(WadiSim *sim, const WadiParticleData *particles, int64_t *added,
                               WadiError *error)
{
    WadiText text = { 0 };
    if (added != NULL) {
        *added = 0;
    }
    WADI_TRY(wadi_sim_check_state(sim, error));
    WADI_TRY(check(sim, particles, error));
    if (particles->count == 0) {
        return WADI_OK;
    }
    append_points(&text, particles);
    WadiStatus status = wadi_text_status(&text, error);
    if (status == WADI_OK) {
        status = wadi_change_apply_kind(sim, "points", wadi_text_cstr(&text), true, added, error);
    }
    wadi_text_free(&text);
    return status;
}

/* Materials without particles so far: a solver has columns for those that are used. */
static WadiStatus use_materials(WadiSim *sim, const WadiPoint *points, size_t count, uint8_t *is_new,
                                WadiError *error)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t m = points[i].material;
        if (sim->scene->materials[m].is_unused) {
            WADI_TRY(wadi_change_use_material(sim, (int)m, true, error));
            is_new[m] = 1;
        }
    }
    return WADI_OK;
}

static WadiStatus insert(WadiSim *sim, const WadiPoint *points, size_t count, int64_t *added,
                         WadiError *error)
{
    uint8_t is_new[UINT8_MAX + 1] = { 0 };
    WADI_TRY(wadi_sim_check_points(sim, points, count, error));
    WadiStatus status = use_materials(sim, points, count, is_new, error);
    if (status == WADI_OK) {
        status = wadi_sim_insert_points(sim, points, count, added, error);
    }
    for (int m = 0; m < sim->scene->material_count && status != WADI_OK; ++m) {
        if (is_new[m]) {
            (void)wadi_change_use_material(sim, m, false, NULL);
        }
    }
    return status;
}

WadiStatus wadi_change_add_points(WadiSim *sim, const char *base64, int64_t *added, WadiError *error)
{
    const size_t length = strlen(base64), capacity = length / 4 * 3 + 3;
    WadiPoint *points = NULL;
    size_t size = 0;
    *added = 0;
    WADI_TRY(wadi_alloc_unset((void **)&points, capacity, 1, "particles to add", error));
    WadiStatus status = WADI_OK;
    if (!wadi_text_read_base64(base64, length, (unsigned char *)points, &size) ||
        size % sizeof *points != 0) {
        status = wadi_fail(error, WADI_ERR_FORMAT, "points: the text is damaged");
    }
    if (status == WADI_OK) {
        status = insert(sim, points, size / sizeof *points, added, error);
    }
    wadi_free(points, capacity, 1);
    return status;
}
