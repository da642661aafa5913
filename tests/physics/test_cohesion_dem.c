/* dem: cohesive grains are bonded from birth. Lumps spin and blocks topple as rigid bodies, overhangs
 * break off at the length of beam theory. [theory 13.6] */
#include "scene_sim.h"
#include "sim/sim.h"

/* Mean of the positions. */
static WadiVec3 centre_of(const WadiParticles *p)
{
    WadiVec3 sum = { 0, 0, 0 };
    for (int32_t i = 0; i < p->count; ++i) {
        sum = wadi_add(sum, (WadiVec3){ p->x[i], p->y[i], p->z[i] });
    }
    return wadi_scale(sum, 1.0 / p->count);
}

/* Angular momentum over the mass about the centre, and the root of the mean square distance from it. */
static WadiVec3 spin_of(const WadiParticles *p, double *extent)
{
    const WadiVec3 centre = centre_of(p);
    WadiVec3 sum = { 0, 0, 0 };
    double square = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 r = wadi_sub((WadiVec3){ p->x[i], p->y[i], p->z[i] }, centre);
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        sum = wadi_add_scaled(sum, wadi_cross(r, v), 1.0 / p->count);
        square += wadi_dot(r, r) / p->count;
    }
    *extent = sqrt(square);
    return sum;
}

/* A lump turns by 1.5 rad in a quarter second, at rest or in flight. */
static void lumps_spin_as_bodies(void **unused)
{
    (void)unused;
    for (int n = 0; n < 3; ++n) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "wadi: 1\nsolver: dem\ncell_size: 0.0125\nparticles_per_cell: 1\nfps: 24\ngravity: [0, 0, 0]\n"
            "materials: {sand: {kind: sand, cohesion: %d, friction_angle: 35}}\ndem: {shape: %s}\n"
            "bodies: [{material: sand, velocity: [%d, 0, 0], angular_velocity: [0, 3.6, 4.8], "
            "shape: {box: {center: [0, 0, 0], size: [0.2, 0.1, 0.1]}}}]\n",
            n < 2 ? 5000 : 0, n == 1 ? "pairs" : "spheres", 2 * n);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        double before, after;
        const WadiVec3 start = spin_of(&sim->particles, &before);
        run_frames(sim, 6);
        const WadiVec3 end = spin_of(&sim->particles, &after);
        const double kept = wadi_norm(end) / wadi_norm(start);
        print_message("case %d: angular momentum %.4f, extent %.4f\n", n, kept, after / before);
        if (n < 2) {
            CHECK_NEAR(kept, 1.0, 0.03);
            CHECK_NEAR(after / before, 1.0, 0.02);
        } else {
            CHECK_AT_MOST(1.2, after / before); /* without cohesion it flies apart */
        }
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* Time, s, in which a rigid block tips by an angle in gravity that is turned by 45 degrees, about a
 * point of its base that is `inset` from its edge. */
static double tipping_time(double width, double height, double inset, double angle)
{
    const double x0 = -0.5 * width + inset, z0 = 0.5 * height, g = 9.81, dt = 1e-5;
    const double inertia = (width * width + height * height) / 12.0 + x0 * x0 + z0 * z0;
    double turned = 0.0, rate = 0.0, time = 0.0;
    for (; turned < angle; time += dt) {
        const double x = x0 * cos(turned) + z0 * sin(turned), z = -x0 * sin(turned) + z0 * cos(turned);
        rate += sqrt(0.5) * g * (z + x) / inertia * dt;
        turned += rate * dt;
    }
    return time;
}

/* A block stands on the lowest point of the grain at its edge, a radius from it. */
static void blocks_topple_as_blocks(void **unused)
{
    (void)unused;
    const double d = 0.01, width = 10 * d, height = 30 * d;
    char text[1024];
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: dem\ncell_size: %g\nparticles_per_cell: 1\nfps: 200\ngravity: [6.93672, 0, "
             "-6.93672]\ndomain: {min: [-0.1, -0.1, 0], max: [0.6, 0.2, 0.5], walls: {friction: 2}}\n"
             "materials: {sand: {kind: sand, cohesion: 20000, friction_angle: 35}}\n"
             "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [%g, 0.05, %g]}}}]\n",
             d, width, height);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    const WadiVec3 start = centre_of(p), pivot = { width - 0.5 * d, start.y, 0 };
    const double from = atan2(start.x - pivot.x, start.z), wanted = 0.8;
    double before, after, time = 0.0, last = 0.0;
    (void)spin_of(p, &before);
    for (int frame = 1; frame < 100 && time == 0.0; ++frame) {
        run_frames(sim, 1);
        const WadiVec3 x = centre_of(p);
        const double angle = atan2(x.x - pivot.x, x.z) - from;
        if (angle >= wanted) {
            time = (frame - 1 + (wanted - last) / (angle - last)) / 200.0;
        }
        last = angle;
    }
    (void)spin_of(p, &after);
    const double rigid = tipping_time(width, height, 0.5 * d, wanted);
    print_message("turned by %g rad after %.4f s, rigid %.4f s, extent %.4f\n", wanted, time, rigid,
                  after / before);
    CHECK_NEAR(time / rigid, 1.0, 0.05);
    CHECK_NEAR(after / before, 1.0, 0.02);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* The tension at the root of an overhang of height h is 3 rho g L^2 / h. Below the tensile strength it
 * stands; above it falls. */
static void overhangs_break_at_their_length(void **unused)
{
    (void)unused;
    const double height = 0.06, length = 0.1, strength = 3.0 * 1600.0 * 9.81 * length * length / height;
    static const double part[2] = { 0.7, 1.3 };
    for (int n = 0; n < 2; ++n) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "wadi: 1\nsolver: dem\ncell_size: 0.005\nparticles_per_cell: 1\nfps: 50\n"
            "domain: {min: [-0.1, -0.1, 0], max: [0.5, 0.2, 0.3], walls: {friction: 1}}\n"
            "materials: {sand: {kind: sand, cohesion: %.9g, friction_angle: 35}}\n"
            "bodies: [{material: sand, shape: {union: [{box: {min: [0, 0, 0], max: [0.12, 0.03, 0.12]}}, "
            "{box: {min: [0.1, 0, 0.06], max: [%.9g, 0.03, 0.12]}}]}}]\n",
            strength, 0.12 + length * part[n]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        const WadiParticles *p = &sim->particles;
        double fall[2] = { 0, 0 };
        for (int k = 0; k < 2; ++k) {
            int32_t count = 0;
            for (int32_t i = 0; i < p->count; ++i) {
                if (p->x[i] > 0.15) {
                    fall[k] += p->z[i];
                    count += 1;
                }
            }
            fall[k] /= count;
            run_frames(sim, k == 0 ? 5 : 0);
        }
        print_message("%.1f of the length: falls by %.3f heights\n", part[n], (fall[0] - fall[1]) / height);
        if (n == 0) {
            CHECK_AT_MOST(fall[0] - fall[1], 0.1 * height);
        } else {
            CHECK_AT_MOST(0.3 * height, fall[0] - fall[1]);
        }
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lumps_spin_as_bodies),
        cmocka_unit_test(blocks_topple_as_blocks),
        cmocka_unit_test(overhangs_break_at_their_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
