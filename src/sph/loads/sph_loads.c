/* Forces on solids: what their contacts add to the momenta of the particles in a step, with the opposite
 * sign. [theory 11.3] */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/loads/sph_wall_push.h"
#include "sph/pairs/sph_lanes.h"
#include "sph/sph.h"

enum { BLOCK = 2048, SOLIDS = WADI_SPH_CONTACT_MAX };

/* Sizes: solids so near to where a particle was stopped are those that stopped it. */
static const double TOUCHING = 0.5;

/* What a contact adds to the momentum of its particle: along its normal, and across. */
typedef struct Impulse {
    WadiF4 pressure, friction;
} Impulse;

typedef struct Loads {
    const WadiSph *sph;
    const WadiSphStep *step;
    Impulse *impulse; /* per contact */
} Loads;

static bool are_wanted(const WadiSph *sph)
{
    return sph->context.loads != NULL && sph->context.loads->is_reported;
}

WadiStatus wadi_sph_begin_loads(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const size_t contacts = wadi_sph_contacts(&step->walls);
    WADI_TRY(
        WADI_ARENA_NEW(sph->context.scratch, &step->loads.adhesion, contacts, "forces on solids", error));
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &step->loads.drag, contacts, "forces on solids", error));
    memset(step->loads.adhesion, 0, contacts * sizeof *step->loads.adhesion);
    memset(step->loads.drag, 0, contacts * sizeof *step->loads.drag);
    return WADI_OK;
}

static void impulse_block(void *context, int64_t first, int64_t end)
{
    const Loads *l = context;
    const WadiSphStep *step = l->step;
    const WadiSphWalls *walls = &step->walls;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const int32_t near = wadi_sph_near(walls, i);
        if (near < 0 || walls->contact_count[near] == 0) {
            continue;
        }
        const size_t at = wadi_sph_first_contact(walls, near);
        const int count = walls->contact_count[near];
        const bool is_pressed = step->solve.is_idle[i] == 0;
        WadiF4 push = { 0 }, part[WADI_SPH_CONTACT_MAX] = { { 0 } };
        if (is_pressed) {
            wadi_sph_wall_push(&step->pairs, walls, near, step->pressure[i], &push);
            wadi_sph_split_push(walls->contact[near], count, step->pressure[i], push, part);
        }
        for (int c = 0; c < count; ++c) {
            Impulse *impulse = &l->impulse[at + (size_t)c];
            impulse->pressure = step->loads.adhesion[at + (size_t)c] - part[c] * step->volume[i];
            impulse->friction = step->loads.drag[at + (size_t)c];
            if (step->is_sand[i]) {
                impulse->friction += step->sand.friction.traction[at + (size_t)c] * step->volume[i];
            }
        }
    }
}

static WadiVec3 vec_of(WadiF4 v)
{
    return (WadiVec3){ (double)v[0], (double)v[1], (double)v[2] };
}

/* Adds an impulse on a particle at x, in units of the impulses, to the force on a solid. */
static WadiStatus add(WadiSph *sph, const WadiSphStep *step, WadiTile tile, int solid, WadiVec3 x,
                      WadiVec3 pressure, WadiVec3 friction, WadiError *error)
{
    const double unit = -sph->materials.density * sph->context.world->particle_volume / step->dt;
    WadiSolidLoad *load = NULL;
    WADI_TRY(wadi_sleep_loads_of(&sph->sleep_loads, tile, solid, &load, error));
    const WadiVec3 arm = wadi_sub(x, sph->context.loads->pivot[solid]);
    wadi_solid_load_press(load, arm, wadi_scale(pressure, unit));
    wadi_solid_load_rub(load, arm, wadi_scale(friction, unit));
    return WADI_OK;
}

static int load_of(int32_t solid)
{
    return solid < 0 ? wadi_load_of_side(-1 - solid) : wadi_load_of_collider(solid);
}

static WadiVec3 position_of(const WadiSph *sph, const WadiSphStep *step, int32_t i)
{
    const WadiParticles *p = sph->context.particles;
    const int32_t k = step->sort.first + i;
    return (WadiVec3){ p->x[k], p->y[k], p->z[k] };
}

/* With the particles of a tile one after the other. */
static WadiStatus add_particle(WadiSph *sph, const WadiSphStep *step, const Impulse *impulse, WadiTile tile,
                               int32_t i, WadiError *error)
{
    const int32_t near = wadi_sph_near(&step->walls, i);
    if (near < 0 || step->role[i] != WADI_SPH_ACTIVE) {
        return WADI_OK;
    }
    const WadiVec3 x = position_of(sph, step, i);
    for (int c = 0; c < step->walls.contact_count[near]; ++c) {
        const Impulse *of = &impulse[wadi_sph_first_contact(&step->walls, near) + (size_t)c];
        const int solid = load_of(step->walls.contact[near][c].solid);
        WADI_TRY(add(sph, step, tile, solid, x, vec_of(of->pressure), vec_of(of->friction), error));
    }
    return WADI_OK;
}

/* After the solves: the numbers of the pairs become the pressures again. */
WadiStatus wadi_sph_add_loads(WadiSph *sph, const WadiSphStep *step, WadiError *error)
{
    const WadiTileSort *sort = &step->sort;
    Loads l = { .sph = sph, .step = step };
    if (!are_wanted(sph)) {
        return WADI_OK;
    }
    for (int32_t i = 0; i < step->count; ++i) {
        wadi_sph_set_number(&step->pairs, i, step->pressure[i]);
    }
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &l.impulse, wadi_sph_contacts(&step->walls),
                            "forces on solids", error));
    wadi_parallel_for(step->count, BLOCK, impulse_block, &l);
    WADI_TRY(wadi_sleep_loads_begin(&sph->sleep_loads, &sph->sleep, error));
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        for (int32_t i = sort->tile_start[t]; i < sort->tile_start[t + 1]; ++i) {
            WADI_TRY(add_particle(sph, step, l.impulse, sort->tiles.tiles[t], i - sort->first, error));
        }
    }
    return WADI_OK;
}

/* The solids within `within` of x as contacts; the nearest one, if there is none so near. */
static int find_touching(const WadiSph *sph, WadiVec3 x, double time, double within,
                         WadiSphContact out[SOLIDS])
{
    const WadiSolids *solids = &sph->context.world->solids;
    WadiSurfacePoint nearest = { .distance = (double)INFINITY };
    int32_t nearest_solid = 0;
    int count = 0;
    for (int n = -6; n < solids->count; ++n) {
        if (n < 0 && (solids->closed_sides >> (-1 - n) & 1) == 0) {
            continue;
        }
        const WadiSurfacePoint s = n < 0 ? wadi_solids_wall(solids, -1 - n, x)
                                         : wadi_shape_sample_from_outside(solids->solids[n].shape, x, time);
        if (s.distance < within && count < SOLIDS) {
            out[count++] =
                (WadiSphContact){ .normal = { (float)s.normal.x, (float)s.normal.y, (float)s.normal.z, 0.0f },
                                  .solid = n };
        } else if (s.distance < nearest.distance) {
            nearest = s;
            nearest_solid = n;
        }
    }
    if (count == 0 && nearest.distance < (double)INFINITY) {
        const WadiVec3 n = nearest.normal;
        out[count++] = (WadiSphContact){ .normal = { (float)n.x, (float)n.y, (float)n.z, 0.0f },
                                         .solid = nearest_solid };
    }
    return count;
}

/* The velocity that a particle lost in the move, where solids stopped it. */
static WadiStatus add_stop(WadiSph *sph, const WadiSphStep *step, WadiTile tile, int32_t i, WadiError *error)
{
    const WadiParticles *p = sph->context.particles;
    const int32_t k = step->sort.first + i;
    const WadiF4 v = step->velocity[i];
    const WadiF4 change = { p->vx[k] - v[0], p->vy[k] - v[1], p->vz[k] - v[2], 0.0f };
    const bool is_stopped = change[0] != 0.0f || change[1] != 0.0f || change[2] != 0.0f;
    if (step->role[i] != WADI_SPH_ACTIVE || !is_stopped) {
        return WADI_OK;
    }
    WadiSphContact contact[SOLIDS];
    WadiF4 part[WADI_SPH_CONTACT_MAX] = { { 0 } };
    const WadiVec3 x = position_of(sph, step, i);
    const int count = find_touching(sph, x, step->time + step->dt,
                                    TOUCHING * (double)step->size[i] * sph->spacing, contact);
    wadi_sph_split_push(contact, count, 0.0f, change * (step->volume[i] / step->inverse_density[i]), part);
    for (int c = 0; c < count; ++c) {
        const WadiVec3 all = vec_of(part[c]), n = vec_of(contact[c].normal);
        const WadiVec3 along = wadi_scale(n, wadi_dot(n, all));
        WADI_TRY(add(sph, step, tile, load_of(contact[c].solid), x, along, wadi_sub(all, along), error));
    }
    return WADI_OK;
}

/* After the move, before particles appear or vanish. */
WadiStatus wadi_sph_end_loads(WadiSph *sph, const WadiSphStep *step, WadiError *error)
{
    const WadiTileSort *sort = &step->sort;
    if (!are_wanted(sph)) {
        return WADI_OK;
    }
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        for (int32_t i = sort->tile_start[t]; i < sort->tile_start[t + 1]; ++i) {
            WADI_TRY(add_stop(sph, step, sort->tiles.tiles[t], i - sort->first, error));
        }
    }
    wadi_sleep_loads_sum(&sph->sleep_loads, step->dt, sph->context.loads);
    return WADI_OK;
}
