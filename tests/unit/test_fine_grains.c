/* secondary/fine_grains: grains move with the sand around them and do not swim in it. */
#include "core/parallel.h"
#include "scene_sim.h"
#include "secondary/fine_grains.h"

static const double SPACING = 0.05, FRAME_TIME = 0.04;
enum { SIDE = 8, COUNT = SIDE * SIDE * SIDE, EACH = 10 };

/* x -> matrix x + shift, about the middle of the block. */
typedef struct Map {
    double matrix[9], shift[3];
} Map;

static const Map rest = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, { 0, 0, 0 } };

static void apply(const Map *map, const double from[3], double to[3])
{
    for (int a = 0; a < 3; ++a) {
        to[a] = map->shift[a] + map->matrix[3 * a] * from[0] + map->matrix[3 * a + 1] * from[1] +
                map->matrix[3 * a + 2] * from[2];
    }
}

/* A block of sand about the origin, its particles jittered by up to a fifth of their spacing; those beyond
 * `count` are missing. Ids descend with gaps. */
static void set_frame(WadiState *state, const Map *map, int count)
{
    double *x;
    float *v, *radius;
    uint32_t *id;
    uint8_t *material;
    wadi_state_clear(state);
    const size_t size = (size_t)count;
    assert_int_equal(wadi_state_add(state, "position", WADI_TYPE_F64, 3, size, (void **)&x, NULL), 0);
    assert_int_equal(wadi_state_add(state, "velocity", WADI_TYPE_F32, 3, size, (void **)&v, NULL), 0);
    assert_int_equal(wadi_state_add(state, "radius", WADI_TYPE_F32, 1, size, (void **)&radius, NULL), 0);
    assert_int_equal(wadi_state_add(state, "id", WADI_TYPE_U32, 1, size, (void **)&id, NULL), 0);
    assert_int_equal(wadi_state_add(state, "material", WADI_TYPE_U8, 1, size, (void **)&material, NULL), 0);
    for (int i = 0; i < count; ++i) {
        const int at[3] = { i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE };
        double from[3];
        for (int a = 0; a < 3; ++a) {
            const double jitter = 0.4 * ((double)((i * 7919 + a * 104729) % 1000) / 1000.0 - 0.5);
            from[a] = (at[a] - 0.5 * SIDE + 0.5 + jitter) * SPACING;
        }
        apply(map, from, x + 3 * i);
        v[3 * i] = v[3 * i + 1] = v[3 * i + 2] = 0.0f;
        radius[i] = (float)(0.5 * SPACING);
        id[i] = (uint32_t)(3 * (COUNT - i));
        material[i] = 0;
    }
}

typedef struct Run {
    WadiScene *scene;
    WadiWorld *world;
    WadiFineGrains grains;
    WadiState before, after;
    WadiArena arena;
    int frame;
} Run;

static Run start_run(const char *more)
{
    char text[1024];
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: flip\ncell_size: 0.1\nsecondary: {grains: %d}\n"
             "materials: {sand: {kind: sand}}\n"
             "bodies: [{material: sand, shape: {sphere: {radius: 0.3}}}]\n%s",
             EACH, more);
    Run run = { .scene = load_scene(text) };
    assert_int_equal(wadi_world_create(&run.world, run.scene, NULL, NULL), WADI_OK);
    assert_true(wadi_fine_grains_apply(run.scene));
    return run;
}

static void end_run(Run *run)
{
    wadi_fine_grains_free(&run->grains);
    wadi_state_free(&run->before);
    wadi_state_free(&run->after);
    wadi_arena_free(&run->arena);
    wadi_world_destroy(run->world);
    wadi_scene_destroy(run->scene);
}

static void step(Run *run, const Map *map, int count)
{
    WadiState last = run->before;
    run->before = run->after;
    run->after = last;
    set_frame(&run->after, map, count);
    run->frame += 1;
    const WadiSecondaryStep now = { .before = run->frame > 1 ? &run->before : NULL,
                                    .after = &run->after,
                                    .frame = run->frame,
                                    .time = (run->frame - 1) * FRAME_TIME,
                                    .frame_time = FRAME_TIME };
    assert_int_equal(wadi_fine_grains_step(&run->grains, run->world, &now, &run->arena, NULL), WADI_OK);
}

static Map rotation(double angle)
{
    return (Map){ { cos(angle), 0, -sin(angle), 0, 1, 0, sin(angle), 0, cos(angle) }, { 0.1, 0.2, -0.3 } };
}

/* The grains have gone where the map takes them, also those of the sides and edges. In the outermost corners,
 * some of 5,120, they see too few particles for more than their mean. */
static void check_map(const Map *map, double bound)
{
    Run run = start_run("");
    step(&run, &rest, COUNT);
    const size_t count = run.grains.list.count;
    assert_int_equal(count, COUNT * EACH);
    WadiVec3 *start = malloc(count * sizeof *start);
    assert_non_null(start);
    for (size_t g = 0; g < count; ++g) {
        start[g] = run.grains.list.data[g].x;
    }
    step(&run, map, COUNT);
    assert_int_equal(run.grains.list.count, count);
    double worst = 0.0;
    int off = 0;
    for (size_t g = 0; g < count; ++g) {
        const WadiFineGrain *grain = &run.grains.list.data[g];
        const double from[3] = { start[g].x, start[g].y, start[g].z };
        double to[3];
        apply(map, from, to);
        const double error = wadi_norm(wadi_sub(grain->x, wadi_vec3(to[0], to[1], to[2])));
        worst = fmax(worst, error);
        off += error > bound;
        CHECK_NEAR(grain->v[0], (grain->x.x - from[0]) / FRAME_TIME, 1e-4);
    }
    print_message("%d of %zu off, by up to %.2g spacings\n", off, count, worst / SPACING);
    CHECK_AT_MOST(off, (double)count / 500.0);
    CHECK_AT_MOST(worst, 0.5 * SPACING);
    free(start);
    end_run(&run);
}

static void grains_rest_on_sand_that_rests(void **unused)
{
    (void)unused;
    check_map(&rest, 0.0);
}

static void grains_of_a_body_turn_with_it(void **unused)
{
    (void)unused;
    const Map turn = rotation(0.7);
    check_map(&turn, 1e-6 * SPACING);
}

static void grains_are_sheared_with_their_surroundings(void **unused)
{
    (void)unused;
    const Map shear = { { 1, 0, 0.5, 0, 1, 0, 0, 0, 1 }, { 0, 0.01, 0 } };
    check_map(&shear, 1e-6 * SPACING);
}

/* A particle without others carries its grains with it. */
static void grains_fly_with_a_lone_particle(void **unused)
{
    (void)unused;
    Run run = start_run("");
    step(&run, &rest, 1);
    assert_int_equal(run.grains.list.count, EACH);
    const WadiVec3 before = run.grains.list.data[3].x;
    const Map away = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, { 3, 0, 1 } };
    step(&run, &away, 1);
    assert_int_equal(run.grains.list.count, EACH);
    const WadiVec3 moved = wadi_sub(run.grains.list.data[3].x, before);
    CHECK_NEAR(wadi_norm(wadi_sub(moved, wadi_vec3(3.0, 0.0, 1.0))), 0.0, 1e-12);
    end_run(&run);
}

/* Sand that is poured brings its grains, and what drains takes them along. */
static void grains_come_and_go_with_the_sand(void **unused)
{
    (void)unused;
    Run run = start_run("");
    step(&run, &rest, COUNT / 2);
    step(&run, &rest, COUNT);
    /* Grains beside the border count for the nearest particle, on either side of it. */
    CHECK_NEAR((double)run.grains.list.count / (COUNT * EACH), 1.0, 0.02);
    const int left = COUNT / 4;
    step(&run, &rest, left);
    step(&run, &rest, left);
    const double each = (double)run.grains.list.count / left;
    print_message("%.2f grains a particle after three quarters have gone\n", each);
    assert_true(each >= EACH && each <= 2 * EACH);
    end_run(&run);
}

static void grains_stay_outside_of_solids(void **unused)
{
    (void)unused;
    Run run = start_run("colliders: [{shape: {half_space: {point: [0, 0, -0.19]}}}]\n");
    step(&run, &rest, COUNT);
    for (int n = 1; n < 5; ++n) {
        const Map squeeze = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 - 0.02 * n }, { 0.01 * n, 0, -0.003 * n } };
        step(&run, &squeeze, COUNT);
        for (size_t g = 0; g < run.grains.list.count; ++g) {
            assert_true(run.grains.list.data[g].x.z > -0.19 - 1e-9);
        }
    }
    end_run(&run);
}

static uint64_t hash_after(bool is_resumed, int threads)
{
    wadi_parallel_set_threads(threads);
    Run run = start_run("");
    WadiState saved = { 0 };
    for (int n = 0; n < 4; ++n) {
        const Map map = rotation(0.3 * n);
        step(&run, &map, COUNT - 40 * n);
        assert_int_equal(wadi_fine_grains_save(&run.grains, &saved, NULL), WADI_OK);
        if (is_resumed) {
            wadi_fine_grains_free(&run.grains);
            assert_int_equal(wadi_fine_grains_load(&run.grains, &saved, NULL), WADI_OK);
        }
    }
    const uint64_t hash = wadi_state_hash(&saved, WADI_USE_BOTH);
    wadi_state_free(&saved);
    end_run(&run);
    wadi_parallel_set_threads(1);
    return hash;
}

static void same_bytes_for_any_threads_and_after_loading(void **unused)
{
    (void)unused;
    const uint64_t hash = hash_after(false, 1);
    assert_true(hash_after(false, 2) == hash);
    assert_true(hash_after(false, 5) == hash);
    assert_true(hash_after(true, 1) == hash);
}

static void a_damaged_file_is_refused(void **unused)
{
    (void)unused;
    Run run = start_run("");
    WadiState saved = { 0 };
    WadiError error;
    step(&run, &rest, COUNT);
    assert_int_equal(wadi_fine_grains_save(&run.grains, &saved, NULL), WADI_OK);
    const WadiStateArray *radius = wadi_state_find(&saved, "radius");
    ((float *)radius->data)[7] = NAN;
    assert_int_equal(wadi_fine_grains_load(&run.grains, &saved, &error), WADI_ERR_FORMAT);
    assert_non_null(strstr(error.text, "grain 7"));
    wadi_state_free(&saved);
    end_run(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grains_rest_on_sand_that_rests),
        cmocka_unit_test(grains_of_a_body_turn_with_it),
        cmocka_unit_test(grains_are_sheared_with_their_surroundings),
        cmocka_unit_test(grains_fly_with_a_lone_particle),
        cmocka_unit_test(grains_come_and_go_with_the_sand),
        cmocka_unit_test(grains_stay_outside_of_solids),
        cmocka_unit_test(same_bytes_for_any_threads_and_after_loading),
        cmocka_unit_test(a_damaged_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
