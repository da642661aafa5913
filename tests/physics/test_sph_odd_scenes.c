/* Scenes at the edge of sense: the sph solver runs them without losing a particle or a number, and the size
 * and the place of a scene do not matter. */
#include "scene_sim.h"
#include "sim/sim.h"

typedef struct Result {
    int32_t count;
    double height; /* mean, m */
    double fastest;
} Result;

static Result run_odd(const char *text, int frames)
{
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, frames);
    const WadiParticles *p = &sim->particles;
    Result result = { .count = p->count, .height = mean_height(p) };
    for (int32_t i = 0; i < p->count; ++i) {
        result.fastest = fmax(
            result.fastest, sqrt((double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i])));
    }
    assert_int_equal(wadi_particles_find_not_finite(p), -1);
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return result;
}

#define HEAD "{wadi: 1, solver: sph, fps: 24, materials: {w: {kind: water}, s: {kind: sand}}, "
#define CUBE HEAD "resolution: 8, domain: {min: [0, 0, 0], max: [1, 1, 1]}, "

static void odd_scenes_lose_nothing(void **unused)
{
    (void)unused;
    static const char *const scenes[][2] = {
        { "one cell", HEAD "resolution: 1, domain: {min: [0, 0, 0], max: [1, 1, 1]}, bodies: [{material: w, "
                           "shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}]}" },
        { "a box full to the lid", CUBE "bodies: [{material: w, shape: {box: {min: [0, 0, 0], max: [1, 1, "
                                        "1]}}}]}" },
        { "sand and water in one place", CUBE "bodies: [{material: w, shape: {box: {min: [0, 0, 0], max: [1, "
                                              "1, 0.5]}}}, {material: s, shape: {box: {min: [0, 0, 0], max: "
                                              "[1, 1, 0.5]}}}]}" },
        { "a body inside a solid", CUBE "colliders: [{shape: {box: {min: [0.2, 0.2, 0], max: [0.8, 0.8, "
                                        "0.6]}}}], bodies: [{material: w, shape: {box: {min: [0, 0, 0], max: "
                                        "[1, 1, 0.5]}}}]}" },
        { "no gravity",
          CUBE "gravity: [0, 0, 0], bodies: [{material: w, velocity: [1, 0, 0], shape: {sphere: "
               "{center: [0.5, 0.5, 0.5], radius: 0.3}}}]}" },
        { "a velocity of 300 m/s", CUBE "bodies: [{material: w, velocity: [300, 100, -200], shape: {sphere: "
                                        "{center: [0.5, 0.5, 0.5], radius: 0.3}}}]}" },
        { "a jet a hundred times too thick", CUBE "emitters: [{material: w, rate: 1, shape: {sphere: "
                                                  "{center: [0.5, 0.5, 0.5], radius: 0.05}}}]}" },
        { "a piston that leaves no room", CUBE "colliders: [{shape: {box: {min: [-1, -1, 0.6], max: [2, 2, "
                                               "2]}, translate: {keys: [[0, [0, 0, 0]], [0.3, [0, 0, "
                                               "-0.3]]]}}}], bodies: [{material: w, shape: {box: {min: [0, "
                                               "0, 0], max: [1, 1, 0.5]}}}]}" },
    };
    for (size_t n = 0; n < sizeof scenes / sizeof *scenes; ++n) {
        const Result r = run_odd(scenes[n][1], 8);
        print_message("%s: %d particles, fastest %.3g m/s\n", scenes[n][0], r.count, r.fastest);
    }
}

/* Heights and times of a falling block go with the scale and its root; far from the origin nothing changes
 * but rounding. */
static void size_and_place_do_not_matter(void **unused)
{
    (void)unused;
    static const double sizes[] = { 1.0, 1e-4, 1e4, 1.0 }, places[] = { 0.0, 0.0, 0.0, 1e5 };
    double first = 0.0;
    for (int n = 0; n < 4; ++n) {
        const double l = sizes[n], o = places[n];
        char text[800];
        snprintf(text, sizeof text,
                 HEAD "cell_size: %.17g, fps: %.17g, domain: {min: [%.17g, 0, 0], max: [%.17g, %.17g, "
                      "%.17g]}, bodies: [{material: w, jitter: 0, shape: {box: {min: [%.17g, 0, 0], max: "
                      "[%.17g, %.17g, %.17g]}}}]}",
                 l / 8, 24.0 / sqrt(l), o, o + l, l / 4, l, o, o + l / 2, l / 4, l / 2);
        /* The key `fps` of the head would be given twice. */
        char once[800];
        const char *rest = strstr(text, "fps: 24, ");
        snprintf(once, sizeof once, "%.*s%s", (int)(rest - text), text, rest + strlen("fps: 24, "));
        const Result r = run_odd(once, 12);
        print_message("size %g m, %g m from the origin: mean height %.5f\n", l, o, r.height / l);
        first = n == 0 ? r.height : first;
        CHECK_NEAR(r.height / l, first, 5e-3);
    }
}

/* A gate is lowered to the floor of a pool: the last particles under it have no room. */
static void a_gate_that_closes_throws_no_water(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        HEAD "cell_size: 0.04, domain: {min: [-0.3, -0.2, 0], max: [0.3, 0.2, 0.6]}, colliders: [{shape: "
             "{box: {min: [-0.01, -0.3, 0], max: [0.01, 0.3, 0.7]}, translate: {keys: [[0, [0, 0, 0.3]], "
             "[0.7, [0, 0, -0.005]]]}}}], bodies: [{material: w, shape: {box: {min: [-0.3, -0.2, 0], max: "
             "[0.3, 0.2, 0.25]}}}]}");
    WadiSim *sim = start_sim(scene, 1);
    double fastest = 0.0;
    for (int frame = 0; frame < 24; ++frame) {
        run_frames(sim, 1);
        fastest = fmax(fastest, mean_speed(&sim->particles));
    }
    print_message("gate: largest mean speed %.3f m/s\n", fastest);
    CHECK_AT_MOST(fastest, 0.43); /* that of the gate */
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A slab of water slides over a floor without friction and becomes a film: it keeps its speed, its energy
 * does not grow, and the film does not fall, for it lies on the floor. */
static void a_film_slides_and_does_not_fall(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        HEAD "cell_size: 0.04, domain: {min: [0, 0, 0], max: [6, 0.24, 0.5], walls: {friction: 0}}, bodies: "
             "[{material: w, velocity: [2, 0, 0], shape: {box: {min: [0.1, 0, 0], max: [0.5, 0.24, "
             "0.12]}}}]}");
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    double least = INFINITY, growth = 0.0, along = 0.0, down = 0.0;
    for (int frame = 0; frame < 24; ++frame) {
        run_frames(sim, 1);
        double energy = 0.0;
        along = down = 0.0;
        for (int32_t i = 0; i < p->count; ++i) {
            const double square = (double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]);
            energy += (0.5 * square + 9.81 * p->z[i]) / p->count;
            along += (double)p->vx[i] / p->count;
            down -= (double)p->vz[i] / p->count;
        }
        least = fmin(least, energy);
        growth = fmax(growth, energy - least);
    }
    print_message("film: %.4f m/s along the floor, %.4f into it; energy grew by %.2g of its fall\n", along,
                  down, growth / (9.81 * 0.12));
    CHECK_NEAR(along, 2.0, 1e-3);
    CHECK_NEAR(down, 0.0, 0.02);
    CHECK_AT_MOST(growth, 1e-3 * 9.81 * 0.12);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Its message names the cause, not the arrays. */
static void a_checkpoint_of_another_version_is_refused(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiState state = { 0 };
    WadiScene *scene = load_scene(CUBE "bodies: [{material: w, shape: {box: {min: [0, 0, 0], max: [0.5, 0.5, "
                                       "0.5]}}}]}");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 1);
    CHECK_OK(wadi_sim_snapshot(sim, &state, &error), error);
    for (int n = 0; n < state.count; ++n) {
        if (strcmp(state.array[n].name, "sph") == 0) {
            state.array[n].components -= 1;
        }
    }
    assert_int_equal(wadi_sim_restore(sim, &state, &error), WADI_ERR_FORMAT);
    assert_non_null(strstr(error.text, "another version"));
    wadi_state_free(&state);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_scenes_lose_nothing),
        cmocka_unit_test(size_and_place_do_not_matter),
        cmocka_unit_test(a_gate_that_closes_throws_no_water),
        cmocka_unit_test(a_film_slides_and_does_not_fall),
        cmocka_unit_test(a_checkpoint_of_another_version_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
