/* Mode `surface_flow` of the solver dem: grains freeze and wake with ids, positions and springs. */
#include "core/alloc.h"
#include "dem/dem.h"
#include "same_bytes.h"

/* A box of settling grains, 10 diameters wide and about 20 deep. */
#define SCENE(mode, rest)                                                                                    \
    "wadi: 1\nsolver: dem\ndem: {mode: " mode "}\ncell_size: 0.02\nframes: 100\n"                            \
    "domain: {min: [0, 0, 0], max: [0.108, 0.108, 0.4]}\nmaterials: {sand: {kind: sand, friction_angle: "    \
    "30}}\n"                                                                                                 \
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.1, 0.16]}}}]\n" rest

static const WadiDem *dem_of(const WadiSim *sim)
{
    return sim->solver;
}

typedef struct Known {
    uint8_t *is_frozen;
    WadiVec3 *x;
    int32_t frozen;
} Known;

static Known remember(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    Known known = { .is_frozen = calloc(p->next_id, 1), .x = calloc(p->next_id, sizeof(WadiVec3)) };
    assert_non_null(known.is_frozen);
    assert_non_null(known.x);
    const uint8_t *state = wadi_particles_column(p, dem_of(sim)->surface->state_column);
    for (int32_t i = 0; i < p->count; ++i) {
        known.is_frozen[p->id[i]] = state[i] == WADI_DEM_FROZEN;
        known.x[p->id[i]] = (WadiVec3){ p->x[i], p->y[i], p->z[i] };
        known.frozen += state[i] == WADI_DEM_FROZEN;
        assert_true((state[i] == WADI_DEM_FROZEN) == (i < dem_of(sim)->sleep.count));
    }
    return known;
}

static void forget(Known *known)
{
    free(known->is_frozen);
    free(known->x);
}

static double fastest(const WadiParticles *p)
{
    double most = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        most = fmax(most, wadi_norm(v));
    }
    return most;
}

/* Frozen grains stay exactly where they are and keep their ids; all grains are there. When the field under
 * them is told to let go, they wake with the forces under which they froze, and hardly move. */
static void test_a_round_trip_is_exact_and_does_not_pop(void **state)
{
    (void)state;
    WadiScene *scene = load_scene(SCENE("surface_flow", ""));
    WadiSim *sim = start_sim(scene, 1);
    const int32_t count = sim->particles.count;
    run_frames(sim, 14);
    Known before = remember(sim);
    print_message("%d of %d grains frozen\n", before.frozen, count);
    assert_true(before.frozen > count / 3);
    run_frames(sim, 4);
    Known after = remember(sim);
    assert_int_equal(sim->particles.count, count);
    int32_t stayed = 0;
    for (uint32_t id = 0; id < sim->particles.next_id; ++id) {
        if (before.is_frozen[id] && after.is_frozen[id]) {
            assert_memory_equal(&before.x[id], &after.x[id], sizeof(WadiVec3));
            stayed += 1;
        }
    }
    assert_true(stayed > before.frozen / 2);
    /* Everything wakes: the columns are emptied. */
    WadiDem *dem = sim->solver;
    WadiDemColumns *c = dem->surface->flow.columns;
    uint8_t *grain_state = wadi_particles_column(&sim->particles, dem->surface->state_column);
    for (int32_t i = 0; i < dem->sleep.count; ++i) {
        grain_state[i] = WADI_DEM_WOKEN;
    }
    for (int32_t i = 0; i < c->count; ++i) {
        c->height[i] = c->floor[i];
    }
    dem->sleep.count = 0;
    dem->is_set_changed = dem->is_stale = true;
    dem->surface->damping = WADI_DEM_WOKEN + 1;
    dem->surface->flow.least_depth = 1.0; /* nothing freezes again */
    double most = 0.0;
    WadiError error = { 0 };
    for (int k = 0; k < 400; ++k) {
        memset(dem->surface->quiescent, 0, (size_t)c->count);
        CHECK_OK(wadi_sim_step(sim, &error), error);
        most = fmax(most, fastest(&sim->particles));
    }
    assert_int_equal(dem->sleep.count, 0);
    assert_true(dem->sleeping.wall_count == 0 &&
                dem->sleeping.springs.start[dem->sleeping.springs.count] == 0);
    print_message("fastest woken grain %.4f m/s\n", most);
    /* A fall through a tenth of a diameter. */
    CHECK_AT_MOST(most, sqrt(2.0 * 9.81 * 0.001));
    forget(&before);
    forget(&after);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A drain takes the bottom away: the grains above wake and follow; none hangs in the air. */
static void test_no_grain_hangs_above_a_drain(void **state)
{
    (void)state;
    WadiScene *scene = load_scene(SCENE(
        "surface_flow", "drains: [{shape: {cylinder: {from: [0.05, 0.05, -0.1], to: [0.05, 0.05, 0.012], "
                        "radius: 0.03}}, start: 0.45}]\n"));
    WadiSim *sim = start_sim(scene, 1);
    const int32_t count = sim->particles.count;
    run_frames(sim, 10);
    const int32_t frozen = dem_of(sim)->sleep.count;
    assert_true(frozen > 0);
    WadiError error = { 0 };
    double most = 0.0;
    while (sim->frame < 18) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
        most = fmax(most, fastest(&sim->particles));
    }
    const WadiParticles *p = &sim->particles;
    int32_t hanging = 0;
    for (int32_t i = 0; i < dem_of(sim)->sleep.count; ++i) {
        bool is_carried = p->z[i] < 0.008;
        for (int32_t j = 0; j < p->count && !is_carried; ++j) {
            const double dx = p->x[i] - p->x[j], dy = p->y[i] - p->y[j], dz = p->z[i] - p->z[j];
            is_carried = dz > 0.0 && dx * dx + dy * dy + dz * dz < 0.013 * 0.013;
        }
        hanging += !is_carried;
    }
    print_message("%d of %d drained, %d frozen before and %d after, fastest %.2f m/s\n", count - p->count,
                  count, frozen, dem_of(sim)->sleep.count, most);
    assert_true(count - p->count > 50);
    assert_int_equal(hanging, 0);
    /* A fall through the depth of the sand. */
    CHECK_AT_MOST(most, sqrt(2.0 * 9.81 * 0.16));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A plate that rises through frozen sand wakes it. */
static void test_a_moving_solid_wakes_the_sand(void **state)
{
    (void)state;
    WadiScene *scene = load_scene(SCENE(
        "surface_flow", "colliders: [{shape: {box: {min: [-1, -1, -1], max: [1, 1, 0.0]}, translate: {keys: "
                        "[[0, [0, 0, 0]], [0.45, [0, 0, 0]], [0.6, [0, 0, 0.02]]]}}}]\n"));
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 10);
    const double height = mean_height(&sim->particles);
    assert_true(dem_of(sim)->sleep.count > 0);
    run_frames(sim, 6);
    CHECK_NEAR(mean_height(&sim->particles) - height, 0.02, 0.004);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Sand at rest freezes up to its surface; where more is poured onto it the surface wakes, takes it up, and
 * freezes again. */
static void test_a_calm_surface_freezes_and_wakes_under_a_jet(void **state)
{
    (void)state;
    WadiScene *scene = load_scene(SCENE(
        "surface_flow", "emitters: [{material: sand, shape: {cylinder: {from: [0.05, 0.05, 0.26], to: [0.05, "
                        "0.05, 0.27], radius: 0.02}}, velocity: [0, 0, -0.5], rate: 4e-4, start: 1.6, "
                        "end: 2}]\n"));
    WadiSim *sim = start_sim(scene, 1);
    const int32_t count = sim->particles.count;
    run_frames(sim, 38);
    const int32_t before = dem_of(sim)->sleep.count;
    run_frames(sim, 12); /* 0.08 s after the end of the jet */
    const int32_t poured = sim->particles.count - count,
                  awake = sim->particles.count - dem_of(sim)->sleep.count;
    run_frames(sim, 34);
    double overlap = 0.0; /* of poured grains with others */
    const WadiParticles *p = &sim->particles;
    const float *radius = wadi_particles_column(p, dem_of(sim)->radius_column);
    for (int32_t i = 0; i < p->count; ++i) {
        for (int32_t j = 0; j < p->count && p->id[i] >= (uint32_t)count; ++j) {
            const double dx = p->x[i] - p->x[j], dy = p->y[i] - p->y[j], dz = p->z[i] - p->z[j];
            overlap = fmax(
                overlap, i == j ? 0.0 : (double)(radius[i] + radius[j]) - sqrt(dx * dx + dy * dy + dz * dz));
        }
    }
    print_message("%d of %d frozen; %d poured, %d awake; in the end %d of %d frozen, overlap %.3f d\n",
                  before, count, poured, awake, dem_of(sim)->sleep.count, sim->particles.count,
                  overlap / 0.01);
    assert_true(before > 9 * count / 10);
    assert_true(poured > 100 && awake > poured);
    CHECK_AT_MOST(overlap, 0.05 * 0.01);
    assert_true(dem_of(sim)->sleep.count > 9 * sim->particles.count / 10);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Grains of four spheres freeze as single ones do: forces between the spheres of a grain do not count. */
static void test_grains_of_several_spheres_freeze(void **state)
{
    (void)state;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: dem\ndem: {mode: surface_flow, shape: tetrahedra}\ncell_size: 0.03\nframes: 100\n"
        "domain: {min: [0, 0, 0], max: [0.108, 0.108, 0.4]}\nmaterials: {sand: {kind: sand, friction_angle: "
        "30}}\nbodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.1, 0.12]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 30);
    print_message("%d of %d spheres frozen\n", dem_of(sim)->sleep.count, sim->particles.count);
    assert_true(dem_of(sim)->sleep.count > 9 * sim->particles.count / 10);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void test_the_same_bytes_for_any_threads_and_resumed(void **state)
{
    (void)state;
    check_same_bytes(SCENE("surface_flow",
                           "drains: [{shape: {cylinder: {from: [0.05, 0.05, -0.1], to: [0.05, 0.05, 0.012], "
                           "radius: 0.03}}, start: 0.26}]\n"),
                     6, 2);
}

/* Bytes a grain of a deep bed that has come to rest. */
static double bytes_at_rest(const char *mode)
{
    char text[600];
    snprintf(text, sizeof text,
             "{wadi: 1, name: bed, solver: dem, dem: {mode: %s, sleep: false}, cell_size: 0.04, frames: 19, "
             "fps: 24,"
             " domain: {min: [0, 0, 0], max: [0.2, 0.2, 0.5], walls: {friction: 0.5}},"
             " materials: {sand: {kind: sand, friction_angle: 30}},"
             " bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.2, 0.2, 0.4]}}}]}",
             mode);
    const size_t before = wadi_alloc_live_bytes();
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, wadi_scene_frames(scene) - 1);
    const double each = (double)(wadi_alloc_live_bytes() - before) / sim->particles.count;
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return each;
}

/* A grain in contact has a place in the list, a load and a mark (48 B) and its pairs; one that is frozen has none of
 * these: its contacts alone are kept, with a copy of its position. */
static void frozen_grains_take_less_memory_than_those_in_contact(void **unused)
{
    (void)unused;
    const double frozen = bytes_at_rest("surface_flow"), full = bytes_at_rest("full");
    print_message("%.0f bytes a frozen grain, %.0f one in contact\n", frozen, full);
    assert_true(frozen < 0.85 * full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frozen_grains_take_less_memory_than_those_in_contact),
        cmocka_unit_test(test_a_round_trip_is_exact_and_does_not_pop),
        cmocka_unit_test(test_no_grain_hangs_above_a_drain),
        cmocka_unit_test(test_a_moving_solid_wakes_the_sand),
        cmocka_unit_test(test_a_calm_surface_freezes_and_wakes_under_a_jet),
        cmocka_unit_test(test_grains_of_several_spheres_freeze),
        cmocka_unit_test(test_the_same_bytes_for_any_threads_and_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
