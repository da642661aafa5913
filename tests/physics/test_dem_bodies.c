/* dem: grains of several spheres are rigid bodies. */
#include "dem/bodies/dem_bodies.h"
#include "dem/bodies/dem_shapes.h"
#include "dem/dem.h"
#include "same_bytes.h"

typedef struct Spheres {
    uint32_t grain[8];
    double base[8][3];
    float mass[8], radius[8];
    WadiF8 motion[8];
} Spheres;

/* One grain of unit spheres of mass 1 that turns with `spin`. */
static WadiDemBodies body_of(Spheres *s, WadiDemShape shape, WadiVec3 spin, WadiArena *arena)
{
    const int count = wadi_dem_member_count(shape);
    for (int k = 0; k < count; ++k) {
        const WadiVec3 x = wadi_dem_member_centre(shape, k), v = wadi_cross(spin, x);
        s->grain[k] = 7;
        s->base[k][0] = 10.0 + x.x, s->base[k][1] = x.y, s->base[k][2] = x.z;
        s->mass[k] = s->radius[k] = 1.0f;
        s->motion[k] =
            (WadiF8){ (float)v.x, (float)v.y, (float)v.z, 0, (float)spin.x, (float)spin.y, (float)spin.z, 0 };
    }
    const WadiDemBodiesIn in = { .count = count,
                                 .grain = s->grain,
                                 .base = (const double(*)[3])s->base,
                                 .mass = s->mass,
                                 .radius = s->radius,
                                 .motion = s->motion };
    WadiDemBodies bodies = { 0 };
    WadiError error = { 0 };
    CHECK_OK(wadi_dem_bodies_build(&bodies, &in, arena, &error), error);
    assert_int_equal(bodies.count, 1);
    return bodies;
}

static void neighbours_touch_and_the_centre_is_the_middle(void **unused)
{
    (void)unused;
    static const int touching[WADI_DEM_SHAPE_COUNT] = { 0, 1, 3, 6, 12 };
    for (int shape = 0; shape < WADI_DEM_SHAPE_COUNT; ++shape) {
        const int count = wadi_dem_member_count((WadiDemShape)shape);
        int found = 0;
        WadiVec3 sum = { 0, 0, 0 };
        for (int a = 0; a < count; ++a) {
            const WadiVec3 x = wadi_dem_member_centre((WadiDemShape)shape, a);
            sum = wadi_add(sum, x);
            for (int b = 0; b < a; ++b) {
                const double d = wadi_norm(wadi_sub(x, wadi_dem_member_centre((WadiDemShape)shape, b)));
                assert_true(d > 2.0 - 1e-12);
                found += d < 2.0 + 1e-12;
            }
        }
        assert_int_equal(found, touching[shape]);
        CHECK_AT_MOST(wadi_norm(sum), 1e-12);
    }
}

/* A pair of unit spheres: 2 x 2/5 along its axis, 2 x (2/5 + 1) across. */
static void the_inertia_of_a_pair_is_that_of_two_spheres(void **unused)
{
    (void)unused;
    Spheres s = { 0 };
    WadiArena arena = { 0 };
    WadiDemBodies bodies = body_of(&s, WADI_DEM_PAIRS, (WadiVec3){ 1, 1, 0 }, &arena);
    const WadiDemBody *body = &bodies.body[0];
    CHECK_NEAR(body->mass, 2.0, 1e-12);
    CHECK_NEAR(body->centre.x, 10.0, 1e-12);
    CHECK_NEAR(body->momentum.x, 0.8, 1e-6);
    CHECK_NEAR(body->momentum.y, 2.8, 1e-6);
    const WadiVec3 spin = wadi_dem_body_spin(body);
    CHECK_NEAR(spin.x, 1.0, 1e-6);
    CHECK_NEAR(spin.y, 1.0, 1e-6);
    wadi_dem_bodies_free(&bodies);
    wadi_arena_free(&arena);
}

/* Without a torque the angular momentum is exactly constant, and the energy and the shape stay. */
static void a_free_body_keeps_its_energy(void **unused)
{
    (void)unused;
    Spheres s = { 0 };
    WadiArena arena = { 0 };
    WadiDemBodies bodies = body_of(&s, WADI_DEM_PAIRS, (WadiVec3){ 3, 0.5, 0.2 }, &arena);
    WadiDemBody *body = &bodies.body[0];
    const WadiVec3 zero = { 0, 0, 0 }, momentum = body->momentum;
    const double energy = wadi_dot(momentum, wadi_dem_body_spin(body));
    double most = 0.0;
    for (int n = 0; n < 20000; ++n) {
        wadi_dem_body_move(body, &(WadiDemBodyKick){ zero, zero, zero, 1e-3 }, 1e-3);
        most = fmax(most, fabs(wadi_dot(body->momentum, wadi_dem_body_spin(body)) / energy - 1.0));
    }
    assert_memory_equal(&momentum, &body->momentum, sizeof momentum);
    CHECK_AT_MOST(most, 1e-5); /* 10 turns of 2000 steps */
    const WadiVec3 apart = wadi_sub(wadi_dem_body_arm(body, s.base[0]), wadi_dem_body_arm(body, s.base[1]));
    CHECK_NEAR(wadi_norm(apart), 2.0, 1e-12);
    wadi_dem_bodies_free(&bodies);
    wadi_arena_free(&arena);
}

/* A torque T about an axis of a resting pair: after a time t it has turned by T t^2 / 2 I. */
static void a_torque_turns_a_pair(void **unused)
{
    (void)unused;
    Spheres s = { 0 };
    WadiArena arena = { 0 };
    WadiDemBodies bodies = body_of(&s, WADI_DEM_PAIRS, (WadiVec3){ 0, 0, 0 }, &arena);
    const WadiDemBodyKick kick = { { 2, 0, 0 }, { 0, 0, 2.8 }, { 0, 0, -1e-3 }, 1e-3 };
    for (int n = 0; n < 1000; ++n) {
        wadi_dem_body_move(&bodies.body[0], &kick, 1e-3);
    }
    const WadiVec3 arm = wadi_dem_body_arm(&bodies.body[0], s.base[1]);
    CHECK_NEAR(atan2(arm.y, arm.x), 0.5, 1e-3);
    CHECK_NEAR(bodies.body[0].shift.x, 0.5, 1e-3);
    CHECK_NEAR(bodies.body[0].velocity.z, -1.0, 1e-9);
    wadi_dem_bodies_free(&bodies);
    wadi_arena_free(&arena);
}

#define HEAP(shape)                                                                                          \
    "wadi: 1\nsolver: dem\nframes: 40\ncell_size: 0.012\nparticles_per_cell: 1\n"                            \
    "domain: {min: [-0.15, -0.15, 0], max: [0.15, 0.15, 0.2], walls: {friction: 0.6}}\n"                     \
    "dem: {shape: " shape ", friction: 0.5, rolling_friction: 0}\n"                                          \
    "materials: {sand: {kind: sand, friction_angle: 30}}\n"                                                  \
    "bodies: [{material: sand, shape: {cylinder: {from: [0, 0, 0], to: [0, 0, 0.09], radius: 0.045}}}]\n"

/* Grains of all spheres of a heap, in diameters: the largest change of a distance between two spheres of one
 * grain. */
static double largest_strain(const WadiParticles *p)
{
    const uint32_t *grain = (const uint32_t *)column_of(p, "grain");
    const float *radius = column_of(p, "radius");
    double most = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        for (int32_t j = 0; j < i; ++j) {
            if (grain[i] == grain[j]) {
                const WadiVec3 d = { p->x[i] - p->x[j], p->y[i] - p->y[j], p->z[i] - p->z[j] };
                most = fmax(most, fabs(wadi_norm(d) / (double)(radius[i] + radius[j]) - 1.0));
            }
        }
    }
    return most;
}

/* Without resistance to rolling, spheres run apart and tetrahedra make a heap that rests [BYM05]. */
static void tetrahedra_make_a_heap_that_rests(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(HEAP("tetrahedra")), *round = load_scene(HEAP("spheres"));
    WadiSim *sim = start_sim(scene, 1), *spheres = start_sim(round, 1);
    assert_int_equal(sim->particles.count, 4 * spheres->particles.count);
    run_frames(sim, 36);
    run_frames(spheres, 36);
    print_message("mean heights %.4f and %.4f m, %d of %d asleep, strain %.1e\n",
                  mean_height(&sim->particles), mean_height(&spheres->particles),
                  (int)wadi_sim_sleeping_particles(sim), sim->particles.count,
                  largest_strain(&sim->particles));
    CHECK_AT_MOST(1.5 * mean_height(&spheres->particles), mean_height(&sim->particles));
    CHECK_AT_MOST(mean_speed(&sim->particles), 1e-3);
    CHECK_AT_MOST(5e-3, mean_speed(&spheres->particles));
    CHECK_AT_MOST(largest_strain(&sim->particles), 1e-6);
    CHECK_AT_MOST(0.5 * sim->particles.count, (double)wadi_sim_sleeping_particles(sim));
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    CHECK_AT_MOST(fabs(wadi_sim_mass_drift(sim, -1)), 1e-12);
    wadi_sim_destroy(sim);
    wadi_sim_destroy(spheres);
    wadi_scene_destroy(scene);
    wadi_scene_destroy(round);
}

static void the_same_bytes_for_any_threads_and_resumed(void **unused)
{
    (void)unused;
    check_same_bytes(HEAP("pairs"), 3, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_touch_and_the_centre_is_the_middle),
        cmocka_unit_test(the_inertia_of_a_pair_is_that_of_two_spheres),
        cmocka_unit_test(a_free_body_keeps_its_energy),
        cmocka_unit_test(a_torque_turns_a_pair),
        cmocka_unit_test(tetrahedra_make_a_heap_that_rests),
        cmocka_unit_test(the_same_bytes_for_any_threads_and_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
