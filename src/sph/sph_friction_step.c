/* Sand in a step: friction at the pressure of the last step, then pressure. The pressure comes last, so that
 * what is left of the error is friction and not compression. Stresses are kept from step to step by the
 * particles: without that a pile would melt. [theory 11.5] */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/sph.h"
#include "sph/sph_stage.h"

enum { BLOCK = 4096, FIRST_POWER = 20, POWER = 10, POWER_STEPS = 200, FIRST_ROUNDS = 6, FIRST_CAP = 400 };

static const double EIGENVALUE_MARGIN = 1.1; /* the power method comes from below */

WadiStatus wadi_sph_add_friction_columns(WadiSph *sph, WadiError *error)
{
    WadiParticles *particles = sph->context.particles;
    if (!sph->materials.has_sand) {
        return WADI_OK;
    }
    static const char *const names[WADI_SPH_STRESSES] = { "stress_xx", "stress_yy", "stress_xy", "stress_yz",
                                                          "stress_zx" };
    for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
        WADI_TRY(
            wadi_particles_add_column(particles, names[c], WADI_TYPE_F32, &sph->stress_column[c], error));
    }
    return wadi_particles_add_vector(particles, "wall_stress", WADI_TYPE_F32, &sph->wall_column, error);
}

/* Velocities of a step with sand. */
typedef struct Sand {
    WadiSph *sph;
    WadiSphStep *step;
    WadiSphFriction friction; /* stresses in the columns of the particles, m/s meanwhile */
    float *bound;
    WadiSphWetting wetting; /* in a scene with pores */
    WadiSphColumns free;    /* v*: forces only. In the columns of the velocities */
    WadiSphColumns
        rubbed;          /* v* and friction; while friction is solved, v* and pressure. In those of `wall` */
    WadiSphColumns wall; /* columns, Pa: tractions, before and after the solve */
    WadiArenaMark mark;  /* what is newer serves friction alone */
    float pascal;        /* of a stress of 1 m/s */
} Sand;

static void set_yield(WadiSph *sph, const WadiSphStep *step)
{
    const WadiScene *scene = sph->context.world->scene;
    WadiMaterials *materials = &sph->materials;
    for (int m = 0; m < materials->count; ++m) {
        if (materials->is_sand[m]) {
            const WadiMaterial *material = &scene->materials[m];
            const WadiYield yield = wadi_yield_of_material(material, material->yield, step->time);
            materials->slope[m] = (float)yield.slide;
            materials->cohesion[m] = (float)(yield.cohesion * step->dt / (materials->density * sph->spacing));
        }
    }
}

static float bounding_pressure(const WadiSphStep *step, int32_t i)
{
    return step->rough == NULL ? wadi_sph_friction_pressure(&step->pairs, step->pressure, i)
                               : wadi_sph_friction_smooth(&step->pairs, step->pressure[i], step->rough[i],
                                                          step->lightness[i], i);
}

static void bound_block(void *context, int64_t first, int64_t end)
{
    const Sand *s = context;
    const WadiSphStep *step = s->step;
    const WadiMaterials *materials = &s->sph->materials;
    const uint8_t *material = s->sph->context.particles->material + step->sort.first;
    for (int64_t i = first; i < end; ++i) {
        if (wadi_sph_does_wait(step, i)) {
            s->bound[i] = INFINITY;
            continue;
        }
        float p = step->is_sand[i] ? bounding_pressure(step, (int32_t)i) : 0.0f; /* water has no friction */
        s->bound[i] = materials->slope[material[i]] * p + materials->cohesion[material[i]];
        if (s->sph->has_pores) {
            const float pore = step->pore[i] * (float)s->wetting.per_pascal;
            float slope, cohesion;
            wadi_sph_wetting_strength(&s->wetting, i, &slope, &cohesion);
            p = p > pore ? p - pore : 0.0f;
            s->bound[i] = slope * p + cohesion;
        }
        if (step->fixed != NULL && step->fixed[i] != 0) {
            s->bound[i] = INFINITY; /* keeps its stress */
        }
    }
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

static void scale_stresses(const Sand *s, float factor, int64_t first, int64_t end)
{
    for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
        float *stress = s->friction.stress[c];
#pragma omp simd
        for (int64_t i = first; i < end; ++i) {
            stress[i] *= factor;
        }
    }
}

static void load_block(void *context, int64_t first, int64_t end)
{
    const Sand *s = context;
    const float scale = 1.0f / s->pascal;
    scale_stresses(s, scale, first, end);
    for (int64_t i = first; i < end; ++i) {
        const int32_t near = wadi_sph_near(&s->step->walls, i);
        if (s->step->is_sand[i] && near >= 0) {
            const WadiVec3 t = { (double)(s->wall.x[i] * scale), (double)(s->wall.y[i] * scale),
                                 (double)(s->wall.z[i] * scale) };
            split_traction(&s->step->walls, near, t,
                           s->friction.traction + wadi_sph_first_contact(&s->step->walls, near));
        }
    }
}

static void store_block(void *context, int64_t first, int64_t end)
{
    const Sand *s = context;
    scale_stresses(s, s->pascal, first, end);
    for (int64_t i = first; i < end; ++i) {
        const int32_t near = wadi_sph_near(&s->step->walls, i);
        WadiF4 traction = { 0 };
        for (int n = 0; near >= 0 && n < s->step->walls.contact_count[near]; ++n) {
            traction += s->friction.traction[wadi_sph_first_contact(&s->step->walls, near) + (size_t)n];
        }
        wadi_sph_set_column_row(&s->wall, i, traction * s->pascal);
    }
}

static void keep_free_block(void *context, int64_t first, int64_t end)
{
    const Sand *s = context;
    for (int64_t i = first; i < end; ++i) {
        if (!wadi_sph_does_wait(s->step, i)) {
            wadi_sph_set_column_row(&s->free, i, s->step->velocity[i]);
        }
    }
}

/* Of velocities with friction and pressure, and those with one of both in `rubbed`: those with the other one.
 */
static WadiF4 other_part(const Sand *s, int64_t i)
{
    return wadi_sph_column_row(&s->free, i) + (s->step->velocity[i] - wadi_sph_column_row(&s->rubbed, i));
}

static void exchange_block(void *context, int64_t first, int64_t end)
{
    const Sand *s = context;
    for (int64_t i = first; i < end; ++i) {
        wadi_sph_set_column_row(&s->rubbed, i, other_part(s, i));
    }
}

/* The same for the last time: into `free`, which is not needed any more. */
static void exchange_last_block(void *context, int64_t first, int64_t end)
{
    const Sand *s = context;
    for (int64_t i = first; i < end; ++i) {
        if (!wadi_sph_does_wait(s->step, i)) {
            wadi_sph_set_column_row(&s->free, i, other_part(s, i));
        }
    }
}

static WadiStatus begin(Sand *s, WadiError *error)
{
    WadiSph *sph = s->sph;
    WadiSphStep *step = s->step;
    WadiArena *arena = sph->context.scratch;
    const size_t count = (size_t)step->count;
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &step->rough, count, "friction", error));
    s->mark = wadi_arena_mark(arena);
    WADI_TRY(wadi_sph_friction_create(&s->friction, &step->pairs, &step->walls, arena, error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &s->bound, count, "friction", error));
    s->pascal = (float)(sph->materials.density * sph->spacing / step->dt);
    const WadiParticles *p = sph->context.particles;
    for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
        s->friction.stress[c] = (float *)wadi_particles_column(p, sph->stress_column[c]) + step->sort.first;
    }
    s->wall.x = (float *)wadi_particles_column(p, sph->wall_column) + step->sort.first;
    s->wall.y = (float *)wadi_particles_column(p, sph->wall_column + 1) + step->sort.first;
    s->wall.z = (float *)wadi_particles_column(p, sph->wall_column + 2) + step->sort.first;
    s->free = wadi_sph_velocity_columns(sph, step);
    s->rubbed = s->wall;
    wadi_parallel_for(step->count, BLOCK, keep_free_block, s);
    wadi_parallel_for(step->count, BLOCK, load_block, s);
    wadi_sph_friction_fill_surface(step->density, &step->pairs, &step->walls, step->is_sand);
    for (int32_t i = 0; step->fixed != NULL && i < step->count; ++i) {
        step->density[i] = step->fixed[i] != 0 ? 1.0f : step->density[i];
    }
    return WADI_OK;
}

static void keep_rubbed_block(void *context, int64_t first, int64_t end)
{
    const Sand *s = context;
    for (int64_t i = first; i < end; ++i) {
        wadi_sph_set_column_row(&s->rubbed, i, s->step->velocity[i]);
    }
}

/* Velocities with the friction of the last step. */
static WadiStatus add_last_friction(const Sand *s, const WadiSphFrictionIn *in)
{
    wadi_sph_friction_apply(s->step->velocity, s->step->velocity, &s->friction, in);
    wadi_parallel_for(s->step->count, BLOCK, keep_rubbed_block, (void *)s);
    return WADI_OK;
}

static WadiStatus measure(WadiSph *sph, const WadiSphFrictionIn *in, WadiError *error)
{
    const bool is_due = sph->steps % POWER_STEPS == 0 && sph->measured_friction != sph->steps;
    if (sph->largest_friction > 0.0 && !is_due) {
        return WADI_OK;
    }
    double largest;
    sph->measured_friction = sph->steps;
    const int iterations = sph->largest_friction > 0.0 ? POWER : FIRST_POWER;
    WADI_TRY(wadi_sph_friction_largest(in, iterations, &largest, sph->context.scratch, error));
    sph->largest_friction = fmax(0.8 * sph->largest_friction, EIGENVALUE_MARGIN * largest);
    return WADI_OK;
}

void wadi_sph_find_bounds(WadiSph *sph, WadiSphStep *step, float *bound)
{
    Sand s = { .sph = sph, .step = step, .bound = bound };
    set_yield(sph, step);
    if (sph->has_pores) {
        wadi_sph_wetting_begin(&s.wetting, sph, step);
    }
    wadi_parallel_for(step->count, BLOCK, bound_block, &s);
}

static WadiStatus rub(Sand *s, WadiSphFrictionIn *in, bool is_last, WadiError *error)
{
    WadiSph *sph = s->sph;
    WadiSphStep *step = s->step;
    in->largest = sph->largest_friction;
    wadi_sph_find_bounds(sph, step, s->bound);
    wadi_parallel_for(step->count, BLOCK, exchange_block, s);
    WadiSphFrictionReport report;
    WADI_TRY(wadi_sph_friction_solve(step->velocity, &s->rubbed, &s->friction, in, &report,
                                     sph->context.scratch, error));
    sph->largest_friction = report.largest;
    step->friction_solves += 1;
    step->friction_iterations += report.iterations;
    wadi_parallel_for(step->count, BLOCK, is_last ? exchange_last_block : exchange_block, s);
    step->wanted = is_last ? s->free : s->rubbed;
    return WADI_OK;
}

/* Stresses to the particles; the pressure then has the memory. */
static WadiStatus end(const Sand *s)
{
    wadi_parallel_for(s->step->count, BLOCK, store_block, (void *)s);
    wadi_arena_release_temporaries(s->sph->context.scratch, s->mark);
    return WADI_OK;
}

WadiStatus wadi_sph_solve_sand(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    const bool is_first = sph->steps == 0;
    const int rounds = is_first ? FIRST_ROUNDS : def->friction_rounds;
    Sand s = { .sph = sph, .step = step };
    const WadiArenaMark mark = wadi_arena_mark(sph->context.scratch);
    WadiSphFrictionIn in = { .pairs = &step->pairs,
                             .walls = &step->walls,
                             .is_sand = step->is_sand,
                             .waits = step->waits,
                             .lightness = step->lightness,
                             .pressure = step->pressure,
                             .tolerance =
                                 def->tolerance * step->dt * sph->spacing / (sph->unit_time * sph->unit_time),
                             .max_iterations = is_first ? FIRST_CAP : def->friction_iterations };
    RUN("friction", measure(sph, &in, error));
    RUN("friction", begin(&s, error));
    in.bound = s.bound;
    RUN("friction", add_last_friction(&s, &in));
    if (is_first) {
        RUN("pressure", wadi_sph_solve_pressure(sph, step, error));
    } else {
        RUN("pressure", wadi_sph_apply_pressure(sph, step, error));
    }
    for (int n = 0; n < rounds; ++n) {
        const bool is_last = n + 1 == rounds;
        RUN("friction", rub(&s, &in, is_last, error));
        if (is_last) {
            RUN("friction", end(&s));
        }
        RUN("pressure", wadi_sph_solve_pressure(sph, step, error));
        step->wanted = (WadiSphColumns){ 0 };
    }
    step->rough = NULL;
    wadi_arena_release_temporaries(sph->context.scratch, mark);
    return WADI_OK;
}
