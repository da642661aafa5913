/* The stages of friction: what bounds the stress, the friction of the last step, and the solve. Stresses are
 * kept from step to step by the particles: without that a pile would melt. [theory 11.5] */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/sph.h"

enum { BLOCK = 4096 };

/* Largest numbers of iterations: of the first step, which has no stresses of a last one, and of bonded sand,
 * where what is left of a strain rate adds up. */
enum { FIRST_CAP = 400, BONDED_CAP = 30 };

WadiStatus wadi_sph_add_friction_columns(WadiSph *sph, WadiError *error)
{
    WadiParticles *particles = sph->context.particles;
    sph->bonds_column = -1;
    if (!sph->materials.has_sand) {
        return WADI_OK;
    }
    static const char *const names[WADI_SPH_STRESSES] = { "stress_xx", "stress_yy", "stress_xy", "stress_yz",
                                                          "stress_zx" };
    for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
        WADI_TRY(
            wadi_particles_add_column(particles, names[c], WADI_TYPE_F32, &sph->stress_column[c], error));
    }
    WADI_TRY(wadi_particles_add_vector(particles, "wall_stress", WADI_TYPE_F32, &sph->wall_column, error));
    return wadi_sph_add_bonds_column(sph, error);
}

typedef struct Bounds {
    const WadiSphStep *step;
    float per_pascal; /* unit of P a pascal */
} Bounds;

/* Friction counts the effective stress: the pressure less that of the water in the pores. */
static void bound_block(void *context, int64_t first, int64_t end)
{
    const Bounds *s = context;
    const WadiSphStep *step = s->step;
    const WadiSphSand *sand = &step->sand;
    for (int64_t i = first; i < end; ++i) {
        if (step->role[i] != WADI_SPH_ACTIVE) {
            sand->bound[i] = INFINITY; /* keeps its stress */
            continue;
        }
        const float p = sand->mean_pressure[i] - step->pore_pressure[i] * s->per_pascal;
        const float yield = sand->slope[i] * fmaxf(p, -sand->tension[i]) + sand->cohesion[i];
        sand->bound[i] = step->is_sand[i] ? yield : 0.0f; /* water has no friction */
    }
}

void wadi_sph_find_bounds(const WadiSph *sph, const WadiSphStep *step)
{
    Bounds bounds = { step, (float)(step->dt / (sph->materials.density * sph->spacing)) };
    wadi_parallel_for(step->count, BLOCK, bound_block, &bounds);
}

/* Splits the traction of a particle among its contacts c: t_c = w_c Q_c u, Q_c the projection to the wall's
 * plane, and u such that they add up to t. */
static void split_traction(const WadiSphWalls *walls, int32_t near, WadiVec3 t, WadiF4 *out)
{
    double m[3][3] = { { 1e-6, 0, 0 }, { 0, 1e-6, 0 }, { 0, 0, 1e-6 } };
    const int count = walls->contact_count[near];
    for (int c = 0; c < count; ++c) {
        const WadiSphContact *contact = &walls->contact[near][c];
        const double w = (double)(contact->friction * -contact->velocity[3]);
        for (int a = 0; a < 9; ++a) {
            const double n = (double)contact->normal[a / 3] * (double)contact->normal[a % 3];
            m[a / 3][a % 3] += w * ((a % 4 == 0) - n);
        }
    }
    const WadiVec3 x = { m[0][0], m[1][0], m[2][0] }, y = { m[0][1], m[1][1], m[2][1] };
    const WadiVec3 z = { m[0][2], m[1][2], m[2][2] };
    const WadiVec3 yz = wadi_cross(y, z);
    const double determinant = wadi_dot(x, yz);
    const WadiVec3 u = { wadi_dot(t, yz) / determinant, wadi_dot(t, wadi_cross(z, x)) / determinant,
                         wadi_dot(t, wadi_cross(x, y)) / determinant };
    for (int c = 0; c < count; ++c) {
        const WadiSphContact *contact = &walls->contact[near][c];
        const WadiVec3 n = { (double)contact->normal[0], (double)contact->normal[1],
                             (double)contact->normal[2] };
        const double w = (double)(contact->friction * -contact->velocity[3]);
        const WadiVec3 along = wadi_scale(wadi_add_scaled(u, n, -wadi_dot(u, n)), w);
        out[c] = (WadiF4){ (float)along.x, (float)along.y, (float)along.z, 0.0f };
    }
}

/* The columns of stresses and tractions, Pa. */
typedef struct Columns {
    const WadiSphStep *step;
    float *stress[WADI_SPH_STRESSES];
    float *wall[3];
    float pascal; /* of a stress of 1 m/s */
    float angle;  /* in a step, of a rotation of 1 m/s a spacing */
} Columns;

static Columns columns_of(const WadiSph *sph, const WadiSphStep *step)
{
    const WadiParticles *p = sph->context.particles;
    Columns c = { .step = step,
                  .pascal = (float)(sph->materials.density * sph->spacing / step->dt),
                  .angle = (float)(step->dt / sph->spacing) };
    for (int n = 0; n < WADI_SPH_STRESSES; ++n) {
        c.stress[n] = (float *)wadi_particles_column(p, sph->stress_column[n]) + step->sort.first;
    }
    for (int a = 0; a < 3; ++a) {
        c.wall[a] = (float *)wadi_particles_column(p, sph->wall_column + a) + step->sort.first;
    }
    return c;
}

/* Stresses turn with the sand by the angle `turn`: T + turn x T - T x turn. */
static void load_stress(const Columns *c, int64_t i, WadiF4 turn)
{
    float *const *to = c->step->sand.friction.stress;
    const float scale = 1.0f / c->pascal, x = turn[0], y = turn[1], z = turn[2];
    const float xx = c->stress[0][i], yy = c->stress[1][i], zz = -xx - yy;
    const float xy = c->stress[2][i], yz = c->stress[3][i], zx = c->stress[4][i];
    to[0][i] = scale * (xx + 2.0f * (y * zx - z * xy));
    to[1][i] = scale * (yy + 2.0f * (z * xy - x * yz));
    to[2][i] = scale * (xy + z * (xx - yy) - x * zx + y * yz);
    to[3][i] = scale * (yz + x * (yy - zz) - y * xy + z * zx);
    to[4][i] = scale * (zx + y * (zz - xx) - z * yz + x * xy);
}

static void load_block(void *context, int64_t first, int64_t end)
{
    const Columns *c = context;
    const WadiSphStep *step = c->step;
    const float scale = 1.0f / c->pascal;
    for (int64_t i = first; i < end; ++i) {
        load_stress(c, i, step->sand.chord[i].spin * c->angle);
        const int32_t near = wadi_sph_near(&step->walls, i);
        if (step->is_sand[i] && near >= 0) {
            const WadiVec3 t = { (double)(c->wall[0][i] * scale), (double)(c->wall[1][i] * scale),
                                 (double)(c->wall[2][i] * scale) };
            split_traction(&step->walls, near, t,
                           step->sand.friction.traction + wadi_sph_first_contact(&step->walls, near));
        }
    }
}

static void store_block(void *context, int64_t first, int64_t end)
{
    const Columns *c = context;
    const WadiSphStep *step = c->step;
    const WadiSphWalls *walls = &step->walls;
    for (int n = 0; n < WADI_SPH_STRESSES; ++n) {
        const float *from = step->sand.friction.stress[n];
        float *to = c->stress[n];
#pragma omp simd
        for (int64_t i = first; i < end; ++i) {
            to[i] = from[i] * c->pascal;
        }
    }
    for (int64_t i = first; i < end; ++i) {
        const int32_t near = wadi_sph_near(walls, i);
        WadiF4 traction = { 0 };
        for (int n = 0; near >= 0 && n < walls->contact_count[near]; ++n) {
            traction += step->sand.friction.traction[wadi_sph_first_contact(walls, near) + (size_t)n];
        }
        for (int a = 0; a < 3; ++a) {
            c->wall[a][i] = traction[a] * c->pascal;
        }
    }
}

WadiSphFrictionIn wadi_sph_friction_in(const WadiSph *sph, const WadiSphStep *step)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    const bool has_bonds = step->sand.has_bonds;
    const int most =
        has_bonds && def->friction_iterations < BONDED_CAP ? BONDED_CAP : def->friction_iterations;
    return (WadiSphFrictionIn){ .pairs = &step->pairs,
                                .walls = &step->walls,
                                .is_sand = step->is_sand,
                                .role = step->role,
                                .moment = step->sand.moment,
                                .chord = step->sand.chord,
                                .inverse_density = step->inverse_density,
                                .pressure = step->pressure,
                                .bound = step->sand.bound,
                                .slope = step->sand.slope,
                                .tension = step->sand.tension,
                                .lift = step->solve.tension,
                                .largest = sph->largest_friction,
                                .tolerance = (has_bonds ? WADI_SPH_BONDED_TOLERANCE : 1.0) * def->tolerance *
                                             step->dt * sph->spacing / (sph->unit_time * sph->unit_time),
                                .max_iterations = sph->steps == 0 ? FIRST_CAP : most };
}

WadiStatus wadi_sph_measure_friction(WadiSph *sph, const WadiSphStep *step, WadiError *error)
{
    if (wadi_sph_knows_eigenvalue(sph, sph->largest_friction)) {
        return WADI_OK;
    }
    double largest;
    const WadiSphFrictionIn in = wadi_sph_friction_in(sph, step);
    WADI_TRY(wadi_sph_friction_largest(&in, WADI_SPH_POWER, &largest, sph->context.scratch, error));
    sph->largest_friction = WADI_SPH_POWER_MARGIN * largest;
    return WADI_OK;
}

static void forces_block(void *context, int64_t first, int64_t end)
{
    const WadiSphStep *step = context;
    for (int64_t i = first; i < end; ++i) {
        step->sand.v_forces[i] = step->sand.v_pressure[i] = wadi_sph_xyz(step->velocity[i]);
    }
}

WadiStatus wadi_sph_make_sand(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    WadiArena *arena = sph->context.scratch;
    WadiSphSand *sand = &step->sand;
    const size_t count = (size_t)step->count;
    WADI_TRY(wadi_sph_friction_create(&sand->friction, &step->pairs, &step->walls, arena, error));
    for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
        WADI_TRY(WADI_ARENA_NEW(arena, &sand->friction.stress[c], count, "friction", error));
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &sand->moment, count, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &sand->chord, count, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &sand->slope, count, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &sand->cohesion, count, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &sand->tension, count, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &sand->mean_pressure, count, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &sand->bound, count, "friction", error));
    memset(sand->chord, 0, count * sizeof *sand->chord);
    memset(sand->mean_pressure, 0, count * sizeof *sand->mean_pressure);
    wadi_sph_find_strength(sph, step);
    return WADI_OK;
}

typedef struct Chords {
    const WadiSphStep *step;
    float scale; /* dt / dx, spacings a m/s */
} Chords;

/* Bonded sand that turns along straight paths is strained by dt/2 (omega^2 - omega omega) [theory 2.3]. Other
 * sand has the rotation 0. */
static void chord_block(void *context, int64_t first, int64_t end)
{
    const Chords *c = context;
    for (int64_t i = first; i < end; ++i) {
        WadiSphStrain *d = &c->step->sand.chord[i];
        const float *m = c->step->sand.moment[i].moment, x = d->spin[0], y = d->spin[1], z = d->spin[2];
        const float xx = y * y + z * z, yy = z * z + x * x, zz = x * x + y * y, half = 0.5f * c->scale;
        const float rate[3] = { half * (xx * m[0] - x * y * m[3] - x * z * m[5]),
                                half * (yy * m[1] - x * y * m[3] - y * z * m[4]),
                                half * (zz * m[2] - x * z * m[5] - y * z * m[4]) };
        const float xy = xx * m[3] - x * y * m[1] - x * z * m[4] + yy * m[3] - x * y * m[0] - y * z * m[5];
        const float yz = yy * m[4] - x * y * m[5] - y * z * m[2] + zz * m[4] - x * z * m[3] - y * z * m[1];
        const float zx = zz * m[5] - x * z * m[0] - y * z * m[3] + xx * m[5] - x * y * m[4] - x * z * m[2];
        const float all = rate[0] + rate[1] + rate[2], third = all * (1.0f / 3.0f);
        *d = (WadiSphStrain){ { rate[0] - third, rate[1] - third, 0.5f * half * xy, 0.5f * half * yz,
                                0.5f * half * zx },
                              all,
                              d->spin };
        c->step->solve.chord[i] = d->rate;
    }
}

WadiStatus wadi_sph_begin_friction(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    WadiArena *arena = sph->context.scratch;
    const size_t count = (size_t)step->count;
    WADI_TRY(wadi_sph_make_sand(sph, step, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->sand.v_forces, count, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->sand.v_pressure, count, "friction", error));
    Columns columns = columns_of(sph, step);
    wadi_parallel_for(step->count, BLOCK, forces_block, step);
    if (sph->bonds_column >= 0) {
        const WadiSphFrictionIn in = wadi_sph_friction_in(sph, step);
        wadi_sph_friction_strain(step->sand.chord, step->velocity, &in);
        wadi_parallel_for(step->count, BLOCK, chord_block,
                          &(Chords){ step, (float)(step->dt / sph->spacing) });
    }
    wadi_parallel_for(step->count, BLOCK, load_block, &columns);
    wadi_sph_friction_fill_surface(step->density, &step->pairs, &step->walls, step->is_sand);
    for (int32_t i = 0; i < step->count; ++i) {
        step->density[i] = step->role[i] == WADI_SPH_GHOST ? 1.0f : step->density[i];
    }
    return WADI_OK;
}

WadiStatus wadi_sph_add_last_friction(const WadiSph *sph, WadiSphStep *step)
{
    const WadiSphFrictionIn in = wadi_sph_friction_in(sph, step);
    wadi_sph_friction_apply(step->velocity, step->velocity, &step->sand.friction, &in);
    return WADI_OK;
}

/* Velocities with forces and friction are in v*, with forces and both in `velocity`. */
static void remove_friction_block(void *context, int64_t first, int64_t end)
{
    const WadiSphStep *step = context;
    const WadiSphSand *sand = &step->sand;
    for (int64_t i = first; i < end; ++i) {
        const float laplacian = step->solve.laplacian[i];
        sand->v_pressure[i] = wadi_sph_xyz(sand->v_forces[i] + (step->velocity[i] - step->solve.v_star[i]));
        sand->mean_pressure[i] = wadi_sph_friction_smooth(&step->pairs, step->pressure[i], laplacian,
                                                          step->inverse_density[i], (int32_t)i);
    }
}

static void remove_pressure_block(void *context, int64_t first, int64_t end)
{
    const WadiSphStep *step = context;
    const WadiSphSand *sand = &step->sand;
    for (int64_t i = first; i < end; ++i) {
        step->solve.v_star[i] = wadi_sph_xyz(sand->v_forces[i] + (step->velocity[i] - sand->v_pressure[i]));
    }
}

static void join_mean_block(void *context, int64_t first, int64_t end)
{
    const WadiSphStep *step = context;
    for (int64_t i = first; i < end; ++i) {
        step->pressure[i] = fmaxf(step->pressure[i] - step->sand.friction.mean[i], -step->solve.tension[i]);
        step->sand.friction.mean[i] = 0.0f;
    }
}

WadiStatus wadi_sph_solve_friction(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    wadi_parallel_for(step->count, BLOCK, remove_friction_block, step);
    wadi_sph_find_bounds(sph, step);
    const WadiSphFrictionIn in = wadi_sph_friction_in(sph, step);
    WadiSphFrictionReport report;
    WADI_TRY(wadi_sph_friction_solve(step->velocity, step->sand.v_pressure, &step->sand.friction, &in,
                                     &report, sph->context.scratch, error));
    sph->largest_friction = report.largest;
    step->friction_solves += 1;
    step->friction_iterations += report.iterations;
    if (sph->bonds_column < 0) {
        wadi_parallel_for(step->count, BLOCK, remove_pressure_block, step);
        return WADI_OK;
    }
    /* The isotropic stress becomes part of the pressure that the next solve begins with. */
    wadi_parallel_for(step->count, BLOCK, join_mean_block, step);
    wadi_sph_friction_apply(step->solve.v_star, step->sand.v_forces, &step->sand.friction, &in);
    memcpy(step->velocity, step->solve.v_star, (size_t)step->count * sizeof *step->velocity);
    const WadiSphPressureIn pressure = wadi_sph_pressure_in(sph, step);
    wadi_sph_pressure_apply(step->velocity, step->pressure, &pressure);
    return WADI_OK;
}

WadiStatus wadi_sph_store_stresses(const WadiSph *sph, const WadiSphStep *step)
{
    Columns columns = columns_of(sph, step);
    wadi_parallel_for(step->count, BLOCK, store_block, &columns);
    wadi_sph_update_bonds(sph, step);
    return WADI_OK;
}
