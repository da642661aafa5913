/* Two grains collide in a run, whose steps change while their contact slows them: the restitution is the one
 * asked for, momentum and angular momentum stay to rounding, and energy does not grow. */
#include "scene_sim.h"
#include "sim/sim.h"

typedef struct Impact {
    const char *shape, *law;
    double restitution, friction;
    WadiVec3 velocity; /* m/s, of the left grain; the right one is at rest */
} Impact;

/* Of spheres of one mass. */
typedef struct Motion {
    WadiVec3 momentum, angular_momentum;
    double energy;
} Motion;

static WadiScene *load_impact(const Impact *m)
{
    char text[1024];
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: dem\ncell_size: 0.01\nparticles_per_cell: 1\nframes: 100\nfps: %.9g\n"
             "gravity: [0, 0, 0]\nmaterials: {sand: {kind: sand}}\n"
             "dem: {shape: %s, law: %s, restitution: %.9g, friction: %.9g, size_spread: 0}\nbodies:\n"
             "  - {material: sand, jitter: 0, snap: none, velocity: [%.9g, %.9g, 0],\n"
             "     shape: {box: {center: [0.005, 0.005, 0.005], size: 0.0101}}}\n"
             "  - {material: sand, jitter: 0, snap: none,\n"
             "     shape: {box: {center: [0.025, 0.005, 0.005], size: 0.0101}}}\n",
             30.0 * m->velocity.x, m->shape, m->law, m->restitution, m->friction, m->velocity.x,
             m->velocity.y);
    return load_scene(text);
}

static Motion motion_of(const WadiParticles *p)
{
    const float *radius = column_of(p, "radius"), *spin = column_of(p, "angular_velocity");
    const float *spin_y = column_of(p, "angular_velocity.y"), *spin_z = column_of(p, "angular_velocity.z");
    Motion sum = { 0 };
    for (int32_t i = 0; i < p->count; ++i) {
        const double inertia = 0.4 * (double)(radius[i] * radius[i]);
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        const WadiVec3 w = { (double)spin[i], (double)spin_y[i], (double)spin_z[i] };
        sum.momentum = wadi_add(sum.momentum, v);
        sum.angular_momentum = wadi_add(sum.angular_momentum, wadi_add_scaled(wadi_cross(x, v), w, inertia));
        sum.energy += 0.5 * (wadi_dot(v, v) + inertia * wadi_dot(w, w));
    }
    return sum;
}

/* The motions before and after the impact, and the velocity of the right grain over that of the left one. */
static double collide(const Impact *m, Motion *before, Motion *after)
{
    WadiScene *scene = load_impact(m);
    WadiSim *sim = start_sim(scene, 1);
    WadiError error = { 0 };
    *before = motion_of(&sim->particles);
    double most = before->energy;
    while (sim->time < 2.0 / (30.0 * m->velocity.x)) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
        *after = motion_of(&sim->particles);
        most = fmax(most, after->energy);
    }
    CHECK_AT_MOST(most, 1.001 * before->energy);
    const WadiParticles *p = &sim->particles;
    const int32_t right = p->x[0] > p->x[p->count - 1] ? 0 : p->count - 1;
    const double parting = (double)(p->vx[right] - p->vx[p->count - 1 - right]) / m->velocity.x;
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return parting;
}

/* Wherever in a step the contact begins. */
enum { PHASES = 5 };

static void the_restitution_is_the_one_asked_for(void **unused)
{
    (void)unused;
    static const double restitutions[] = { 0.3, 0.5, 0.7, 0.95, 1.0 };
    for (int n = 0; n < 5; ++n) {
        for (double speed = 0.05; speed < 6.0; speed *= 10.0) {
            const double e = restitutions[n];
            double mean = 0.0;
            for (int k = 0; k < PHASES; ++k) {
                Motion before, after;
                const Impact impact = { "spheres", "hertz", e, 0.0, { (1.0 + 0.013 * k) * speed, 0, 0 } };
                const double is = collide(&impact, &before, &after);
                CHECK_NEAR(is, e, 0.02);
                mean += is / PHASES;
            }
            print_message("restitution %.2f at %.2f m/s: %.4f\n", e, speed, mean);
            CHECK_NEAR(mean, e, 0.005);
        }
    }
}

/* Up to 16 spheres, 0.05 m from the origin; their velocities are rounded in each of a dozen steps. */
static void check_momentum(const Motion *before, const Motion *after, double speed)
{
    const WadiVec3 lost = wadi_sub(after->momentum, before->momentum);
    const WadiVec3 turned = wadi_sub(after->angular_momentum, before->angular_momentum);
    CHECK_AT_MOST(wadi_norm(lost), 2e-6 * speed);
    CHECK_AT_MOST(wadi_norm(turned), 2e-6 * 0.05 * speed);
}

/* Grains of several spheres count as their spheres, which have the same mass. */
static void oblique_impacts_keep_momentum(void **unused)
{
    (void)unused;
    static const char *const shapes[] = { "spheres", "pairs", "tetrahedra", "cubes" };
    for (int n = 0; n < 4; ++n) {
        for (int k = 0; k < 8; ++k) {
            const double friction = (k & 1) != 0 ? 1.0 : 0.0, e = (k & 2) != 0 ? 1.0 : 0.4;
            const double speed = (k & 4) != 0 ? 2.0 : 0.1;
            const Impact impact = { shapes[n], "hertz", e, friction, { speed, 0.3 * speed, 0 } };
            Motion before, after;
            collide(&impact, &before, &after);
            check_momentum(&before, &after, speed);
            if (!(friction > 0.0) && e == 1.0) {
                CHECK_NEAR(after.energy / before.energy, 1.0, 0.006);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_restitution_is_the_one_asked_for),
        cmocka_unit_test(oblique_impacts_keep_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
