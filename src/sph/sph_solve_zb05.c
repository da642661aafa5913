/* Sand by the local stop rule and rigid clusters, for comparison: pressure, yield, sliding stress, clusters,
 * pressure again. Nothing is kept but the pressure. [LD09 s. 3.2; theory 11.5] */
#include <math.h>
#include <string.h>

#include "sph/friction/sph_clusters.h"
#include "sph/sph.h"
#include "sph/sph_stage.h"

/* Coulomb's friction of sliding particles at walls: at most what stops them. */
static void apply_wall_friction(WadiF4 *velocity, const uint8_t *is_rigid, const WadiSphFrictionIn *in)
{
    for (int32_t i = 0; i < in->pairs->count; ++i) {
        const int32_t near = in->is_sand[i] && !is_rigid[i] ? wadi_sph_near(in->walls, i) : -1;
        for (int c = 0; near >= 0 && c < in->walls->contact_count[near]; ++c) {
            const WadiSphContact *contact = &in->walls->contact[near][c];
            WadiF4 slip = velocity[i] - contact->velocity;
            const WadiF4 n = contact->normal;
            slip -= n * (slip[0] * n[0] + slip[1] * n[1] + slip[2] * n[2]);
            slip[3] = 0.0f;
            const float size = sqrtf(slip[0] * slip[0] + slip[1] * slip[1] + slip[2] * slip[2]);
            const float bound =
                contact->friction * in->pressure[i] * -contact->velocity[3] * in->inverse_density[i];
            velocity[i] -= slip * (size > bound ? bound / size : 1.0f);
        }
    }
}

static WadiStatus stop_and_slide(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    WadiArena *arena = sph->context.scratch;
    const size_t count = (size_t)step->count;
    WadiSphSand *sand = &step->sand;
    WadiSphClusters clusters;
    uint8_t *is_rigid = NULL;
    WADI_TRY(wadi_sph_make_sand(sph, step, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &is_rigid, count, "clusters", error));
    for (int32_t i = 0; i < step->count; ++i) {
        sand->mean_pressure[i] = wadi_sph_friction_pressure(&step->pairs, step->pressure, i);
    }
    wadi_sph_find_bounds(sph, step);
    const WadiSphFrictionIn in = wadi_sph_friction_in(sph, step);
    wadi_sph_clusters_yield(is_rigid, &sand->friction, sand->chord, step->velocity, &in);
    wadi_sph_friction_apply(step->velocity, step->velocity, &sand->friction, &in);
    apply_wall_friction(step->velocity, is_rigid, &in);
    WADI_TRY(wadi_sph_clusters_find(&clusters, is_rigid, step->velocity, &in, arena, error));
    wadi_sph_clusters_move(step->velocity, &clusters, &in);
    return WADI_OK;
}

/* The clusters move as they are and compress what lies between them: a second pressure solve, from none,
 * corrects the velocities. The pressure of the step is that of the first. */
WadiStatus wadi_sph_solve_zb05(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    float *correction = NULL;
    RUN("viscosity", wadi_sph_apply_viscosity(sph, step, error));
    RUN("pressure", wadi_sph_begin_pressure(sph, step, error));
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &correction, (size_t)step->count, "clusters", error));
    memset(correction, 0, (size_t)step->count * sizeof *correction);
    RUN("pressure", wadi_sph_save_v_star(step));
    RUN("pressure", wadi_sph_add_pressure(sph, step, step->pressure));
    RUN("pressure", wadi_sph_solve_pressure(sph, step, step->pressure, error));
    RUN("friction", stop_and_slide(sph, step, error));
    RUN("pressure", wadi_sph_save_v_star(step));
    RUN("pressure", wadi_sph_add_pressure(sph, step, correction));
    RUN("pressure", wadi_sph_solve_pressure(sph, step, correction, error));
    return WADI_OK;
}
