/* `sph: {published: ...}`: what the papers report of their methods, and what follows from their rules without
 * a run. */
#include <stdlib.h>
#include <string.h>

#include "scene_sim.h"
#include "sim/sim.h"

static void show(const char *text, int frames)
{
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    for (int f = 0; f < frames; ++f) {
        run_frames(sim, 1);
        double energy[2]={0}, top = 0, front = 0, pmax=0, den=0, speed=0;
        const float *pr = (const float *)column_of(p, "pressure");
        for (int32_t i = 0; i < p->count; ++i) {
            const double square = (double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]);
            energy[0] += 0.5*square/p->count; energy[1]+=9.81*p->z[i]/p->count;
            speed=fmax(speed,sqrt(square));
            top = fmax(top, p->z[i]), front = fmax(front, p->x[i]); pmax=fmax(pmax,(double)pr[i]);
        }
        (void)den;
        print_message("%d: n %d kin %.4f pot %.4f top %.4f front %.4f p %.0f speed %.2f steps %ld water %.4g\n", f+1, p->count, energy[0], energy[1], top, front, pmax, speed, (long)sim->steps, wadi_sim_mass_drift(sim, WADI_MATERIAL_WATER));
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}
static void trial(void **unused)
{
    (void)unused;
    const char *file = getenv("TRIAL");
    FILE *in = fopen(file, "r");
    char text[4000] = {0};
    (void)!fread(text, 1, 3999, in);
    fclose(in);
    show(text, atoi(getenv("FRAMES")));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(trial) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
