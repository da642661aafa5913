/* Forces on solids of sph: sums against weight and momentum, which are known without a run. */
#include <string.h>

#include "scene_sim.h"
#include "sim/sim.h"

static WadiVec3 vec_of(const double v[3])
{
    return wadi_vec3(v[0], v[1], v[2]);
}

/* Of a solid by its name. */
static WadiSolidForce force_on(const WadiSim *sim, const char *name)
{
    WadiSolidForce f = { .name = "" };
    for (int i = 0; i < wadi_sim_solid_count(sim); ++i) {
        WadiError error;
        CHECK_OK(wadi_sim_solid_force(sim, i, &f, &error), error);
        if (strcmp(f.name, name) == 0) {
            return f;
        }
    }
    fail_msg("no solid %s", name);
    return f;
}

/* N, of the material on all solids. */
static WadiVec3 total_force(const WadiSim *sim)
{
    WadiVec3 sum = { 0, 0, 0 };
    for (int i = 0; i < wadi_sim_solid_count(sim); ++i) {
        WadiError error;
        WadiSolidForce f;
        CHECK_OK(wadi_sim_solid_force(sim, i, &f, &error), error);
        sum = wadi_add(sum, wadi_add(vec_of(f.pressure), vec_of(f.friction)));
    }
    return sum;
}

/* A column of doubles; NULL: the scene does not need it. */
static const double *find_doubles(const WadiParticles *p, const char *name)
{
    for (int c = 0; c < p->column_count; ++c) {
        if (strcmp(p->column[c].name, name) == 0) {
            return p->column[c].data;
        }
    }
    return NULL;
}

/* kg, of particle i: as large as it is; water as full as it is, sand with the water in it. */
static double mass_of(const WadiSim *sim, int32_t i)
{
    const WadiParticles *p = &sim->particles;
    const WadiMaterial *m = &sim->scene->materials[p->material[i]];
    const double *size = find_doubles(p, "volume"), *water = find_doubles(p, "water");
    const double rest = m->density * (size != NULL ? size[i] : 1.0), wet = water != NULL ? 1000.0 * water[i] : 0.0;
    const bool is_sand = m->kind == WADI_MATERIAL_SAND;
    return sim->world->particle_volume * (is_sand ? rest + wet : water != NULL ? wet : rest);
}

static double total_mass(const WadiSim *sim)
{
    double sum = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        sum += mass_of(sim, i);
    }
    return sum;
}

static WadiVec3 momentum_of(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    WadiVec3 sum = { 0, 0, 0 };
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        sum = wadi_add_scaled(sum, v, mass_of(sim, i));
    }
    return sum;
}

static WadiVec3 position_of(const WadiSim *sim, int32_t i)
{
    const WadiParticles *p = &sim->particles;
    return (WadiVec3){ p->x[i], p->y[i], p->z[i] };
}

/* kg m: masses times positions. */
static WadiVec3 moment_of(const WadiSim *sim)
{
    WadiVec3 sum = { 0, 0, 0 };
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        sum = wadi_add_scaled(sum, position_of(sim, i), mass_of(sim, i));
    }
    return sum;
}

/* About the origin. */
static WadiVec3 angular_of(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    WadiVec3 sum = { 0, 0, 0 };
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        sum = wadi_add_scaled(sum, wadi_cross(position_of(sim, i), v), mass_of(sim, i));
    }
    return sum;
}

typedef struct Tank {
    const char *cell, *gravity, *materials, *bodies, *extra;
} Tank;

static WadiScene *tank_scene(const Tank *t)
{
    char text[2000];
    snprintf(text, sizeof text,
             "{wadi: 1, name: tank, solver: sph, cell_size: %s, fps: 24, frames: 60, gravity: [%s],"
             " domain: {min: [0, 0, 0], max: [0.8, 0.4, 0.4], walls: {friction: 0.5}},"
             " materials: {%s}, bodies: [%s] %s}",
             t->cell, t->gravity, t->materials, t->bodies, t->extra);
    return load_scene(text);
}


/* Over a run, the worst step and all of it: what gravity gives less what the solids take and the momentum
 * that is left, over the weight. Of angular momentum about the origin the same, over `arm` more. */
static void check_balance(const Tank *def, WadiVec3 g, int frames)
{
    WadiScene *scene = tank_scene(def);
    WadiSim *sim = start_sim(scene, 0);
    double worst = 0.0, sum = 0.0;
    WadiVec3 turned = { 0, 0, 0 };
    double torque = 0.0;
    while (sim->frame < frames) {
        WadiError error;
        const WadiVec3 before = momentum_of(sim), turn = angular_of(sim);
        const WadiVec3 moment = wadi_cross(moment_of(sim), g);
        const double mass = total_mass(sim);
        CHECK_OK(wadi_sim_step(sim, &error), error);
        const double dt = sim->loads.step_time;
        WadiVec3 balance = wadi_scale(g, mass * dt), about = wadi_scale(moment, dt);
        for (int i = 0; i < sim->loads.count; ++i) {
            const WadiSolidLoad *l = &sim->loads.step[i];
            const WadiVec3 force = wadi_add(l->pressure, l->friction);
            balance = wadi_sub(balance, force);
            about = wadi_sub(about, wadi_add(l->pressure_torque, l->friction_torque));
            about = wadi_sub(about, wadi_cross(sim->loads.pivot[i], force));
        }
        balance = wadi_sub(balance, wadi_sub(momentum_of(sim), before));
        about = wadi_sub(about, wadi_sub(angular_of(sim), turn));
        worst = fmax(worst, wadi_norm(balance) / (wadi_norm(g) * mass * dt));
        turned = wadi_add(turned, about);
        torque += wadi_norm(g) * mass * dt * 0.4;
        sum += dt;
    }
    printf("worst %g, turn %g asleep %d\n", worst, wadi_norm(turned) / torque, (int)wadi_sim_sleeping_particles(sim));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}
static void show(const WadiSim *sim)
{
    for (int i = 0; i < wadi_sim_solid_count(sim); ++i) {
        WadiError error;
        WadiSolidForce f;
        CHECK_OK(wadi_sim_solid_force(sim, i, &f, &error), error);
        printf("   %-6s p %8.3f %8.3f %8.3f f %8.3f %8.3f %8.3f pt %8.4f %8.4f %8.4f ft %8.4f %8.4f %8.4f\n", f.name, f.pressure[0], f.pressure[1], f.pressure[2], f.friction[0], f.friction[1], f.friction[2], f.pressure_torque[0], f.pressure_torque[1], f.pressure_torque[2], f.friction_torque[0], f.friction_torque[1], f.friction_torque[2]);
    }
}
static void look(const char *name, const Tank *t, int frames, int every)
{
    WadiScene *scene = tank_scene(t);
    WadiSim *sim = start_sim(scene, 0);
    printf("%s: weight %g\n", name, 9.81 * total_mass(sim));
    for (int n = 0; n < frames; n += every) {
        run_frames(sim, every);
        const WadiVec3 f = total_force(sim);
        printf(" frame %d total %g %g %g n %d asleep %d\n", n + every, f.x, f.y, f.z, sim->particles.count, (int)wadi_sim_sleeping_particles(sim));
        show(sim);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void test_x(void **state)
{
    (void)state;
    (void)force_on;
    const char *dam = "{material: m, shape: {box: {min: [0, 0, 0], max: [0.3, 0.4, 0.3]}}}";
    const char *pool = "{material: m, shape: {box: {min: [0, 0, 0], max: [0.8, 0.4, 0.3]}}}";
    const char *ball = ", colliders: [{name: ball, friction: 0.4, shape: {sphere: {center: [0.5, 0.2, 0.06], radius: 0.1}}}]";
    const char *paddle = ", colliders: [{name: ball, friction: 0.4, shape: {box: {center: [0, 0, 0], size: [0.3, 0.3, 0.06]}, translate: [0.45, 0.2, 0.16], rotate: {keys: [[0, [0, 0, 0]], [1, [0, 300, 0]]]}}}]";
    const WadiVec3 g = wadi_vec3(0, 0, -9.81);
    const char *c = "0.04", *gd = "0, 0, -9.81";
    const char *sand = "m: {kind: sand, friction_angle: 33, density: 1600}";
    check_balance(&(Tank){ c, gd, "m: {kind: water}", dam, ball }, g, 17);
    check_balance(&(Tank){ c, gd, "m: {kind: water, viscosity: 20}", dam, ball },g, 17);
    check_balance(&(Tank){ c, gd, sand, dam, ball },g, 17);
    check_balance(&(Tank){ c, gd, "m: {kind: sand, friction_angle: 33, density: 1600, cohesion: 1000}", dam, ball }, g,17);
    check_balance(&(Tank){ c, gd, "m: {kind: water}", dam, paddle }, g, 17);
    check_balance(&(Tank){ c, gd, sand, dam, paddle }, g, 17);
    look("pool", &(Tank){ c, gd, "m: {kind: water}", pool, "" }, 12, 3);
    look("bin", &(Tank){ c, gd, sand, pool, ", colliders: [{name: post, friction: 0.4, shape: {box: {center: [0.4, 0.2, 0.2], size: [0.1, 0.1, 0.15]}}}]" }, 24, 6);
    look("wet", &(Tank){ c, gd, "m: {kind: sand, density: 1600}, w: {kind: water}", "{material: m, shape: {box: {min: [0, 0, 0], max: [0.8, 0.4, 0.16]}}}, {material: w, shape: {box: {min: [0, 0, 0.16], max: [0.8, 0.4, 0.24]}}}", ""}, 36, 6);
    look("ball", &(Tank){ c, gd, "m: {kind: water}", pool, ", colliders: [{name: ball, shape: {sphere: {center: [0.42, 0.2, 0.16], radius: 0.1}}, pivot: [0.42, 0.2, 0.16]}]" }, 12, 3);
    look("ball fine", &(Tank){ "0.025", gd, "m: {kind: water}", pool, ", colliders: [{name: ball, shape: {sphere: {center: [0.42, 0.2, 0.16], radius: 0.1}}, pivot: [0.42, 0.2, 0.16]}]" }, 9, 3);
    printf("lift %g\n", 9810 * 4.0 / 3 * 3.14159265 * 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_x) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
