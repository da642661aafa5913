/* Velocities of the particles after gravity and the scene's forces: v* = v + dt a. */
#include "core/parallel.h"
#include "sph/sph.h"

enum { BLOCK = 4096 };

typedef struct Forces {
    const WadiSph *sph;
    WadiSphStep *step;
    WadiVec3 fall; /* m/s: by gravity in the step */
} Forces;

static void force_block(void *context, int64_t first, int64_t end)
{
    const Forces *f = context;
    const WadiWorld *world = f->sph->context.world;
    const WadiParticles *p = f->sph->context.particles;
    const int32_t base = f->step->sort.first;
    for (int64_t i = first; i < end; ++i) {
        const int64_t k = base + i;
        if (f->step->role[i] == WADI_SPH_GHOST) {
            f->step->velocity[i] = (WadiF4){ 0 };
            continue;
        }
        WadiVec3 v = { (double)p->vx[k], (double)p->vy[k], (double)p->vz[k] };
        WadiVec3 change = f->fall;
        if (world->scene->force_count > 0) {
            const WadiVec3 x = { p->x[k], p->y[k], p->z[k] };
            change = wadi_world_kick(world, x, v, f->step->time, f->step->dt).velocity;
        }
        v = wadi_add(v, change);
        f->step->velocity[i] = (WadiF4){ (float)v.x, (float)v.y, (float)v.z, 0.0f };
    }
}

WadiStatus wadi_sph_add_forces(const WadiSph *sph, WadiSphStep *step)
{
    Forces f = { .sph = sph,
                 .step = step,
                 .fall = wadi_scale(wadi_curve_value3(&sph->context.world->scene->gravity, step->time),
                                    step->dt) };
    wadi_parallel_for(step->count, BLOCK, force_block, &f);
    return WADI_OK;
}
