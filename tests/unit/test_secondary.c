/* secondary: foam, spray, bubbles and dust against what is known without running them. */
#include "core/parallel.h"
#include "scene_sim.h"
#include "secondary/potential.h"
#include "secondary/secondary.h"
#include "sim/sim.h"

static const double SPACING = 0.05, FRAME_TIME = 1.0 / 24.0;

/* A frame of water on a lattice of points. */
typedef struct Water {
    WadiState state;
    double *x;
    float *v;
    int32_t count;
} Water;

/* nx * ny * nz particles from `low` on, all with one velocity. */
static void add_frame(Water *water, int32_t count)
{
    float *radius;
    uint32_t *id;
    uint8_t *material;
    wadi_state_clear(&water->state);
    water->count = count;
    const size_t n = (size_t)count;
    assert_int_equal(wadi_state_add(&water->state, "position", WADI_TYPE_F64, 3, n, (void **)&water->x, NULL),
                     0);
    assert_int_equal(wadi_state_add(&water->state, "velocity", WADI_TYPE_F32, 3, n, (void **)&water->v, NULL),
                     0);
    assert_int_equal(wadi_state_add(&water->state, "radius", WADI_TYPE_F32, 1, n, (void **)&radius, NULL), 0);
    assert_int_equal(wadi_state_add(&water->state, "id", WADI_TYPE_U32, 1, n, (void **)&id, NULL), 0);
    assert_int_equal(wadi_state_add(&water->state, "material", WADI_TYPE_U8, 1, n, (void **)&material, NULL),
                     0);
    for (size_t i = 0; i < n; ++i) {
        radius[i] = (float)(0.5 * SPACING);
        id[i] = (uint32_t)i;
        material[i] = 0;
    }
}

static void set_particle(Water *water, int32_t i, WadiVec3 x, WadiVec3 v)
{
    const double at[3] = { x.x, x.y, x.z }, move[3] = { v.x, v.y, v.z };
    for (int a = 0; a < 3; ++a) {
        water->x[3 * i + a] = at[a];
        water->v[3 * i + a] = (float)move[a];
    }
}

/* A block with a side of `side` particles whose low corner is at `low`. */
static void set_block(Water *water, int32_t first, int side, WadiVec3 low, WadiVec3 v)
{
    for (int i = 0; i < side * side * side; ++i) {
        const WadiVec3 cell = { i % side + 0.5, i / side % side + 0.5, i / (side * side) + 0.5 };
        set_particle(water, first + i, wadi_add_scaled(low, cell, SPACING), v);
    }
}

static const bool ALL[256] = { true };

static WadiFlowDef flow_def(const WadiState *before, const WadiState *after, double part, double support)
{
    return (WadiFlowDef){ .before = before,
                          .after = after,
                          .frame_time = FRAME_TIME,
                          .part = part,
                          .support = support,
                          .picks = ALL };
}

static void a_flow_between_frames_follows_a_parabola(void **unused)
{
    (void)unused;
    Water before = { 0 }, after = { 0 };
    WadiArena arena = { 0 };
    add_frame(&before, 1);
    add_frame(&after, 1);
    const double g = 9.81, t = FRAME_TIME, s = 0.3;
    set_particle(&before, 0, wadi_vec3(1, 2, 3), wadi_vec3(2, -1, 4));
    set_particle(&after, 0, wadi_vec3(1 + 2 * t, 2 - t, 3 + 4 * t - 0.5 * g * t * t),
                 wadi_vec3(2, -1, 4 - g * t));
    WadiFlow flow;
    const WadiFlowDef def = flow_def(&before.state, &after.state, s, 2.0);
    assert_int_equal(wadi_flow_build(&flow, &def, &arena, NULL), WADI_OK);
    assert_true(fabs(flow.cloud.position[0].x - (1 + 2 * s * t)) < 1e-9);
    assert_true(fabs(flow.cloud.position[0].z - (3 + 4 * s * t - 0.5 * g * s * s * t * t)) < 1e-7);
    assert_true(fabs((double)flow.velocity[0][2] - (4 - g * s * t)) < 1e-5);
    wadi_state_free(&before.state);
    wadi_state_free(&after.state);
    wadi_arena_free(&arena);
}

static void a_point_feels_full_half_and_no_water(void **unused)
{
    (void)unused;
    enum { SIDE = 12 };
    Water water = { 0 };
    WadiArena arena = { 0 };
    add_frame(&water, SIDE * SIDE * SIDE);
    set_block(&water, 0, SIDE, wadi_vec3(0, 0, 0), wadi_vec3(1, 2, 3));
    WadiFlow flow;
    const WadiFlowDef def = flow_def(NULL, &water.state, 1.0, 2.0);
    assert_int_equal(wadi_flow_build(&flow, &def, &arena, NULL), WADI_OK);
    const double m = 0.5 * SIDE * SPACING, top = SIDE * SPACING;
    const WadiVec3 points[3] = { { m, m, m }, { m, m, top }, { m, m, top + 2.5 * SPACING } };
    WadiFlowSample samples[3];
    assert_int_equal(wadi_flow_sample(&flow, points, 3, samples, &arena, NULL), WADI_OK);
    assert_true(fabs((double)samples[0].fill - 1.0) < 0.05);
    assert_true(fabs((double)samples[1].fill - 0.5) < 0.05);
    assert_true(samples[2].fill == 0.0f);
    assert_true(fabsf(samples[0].velocity[1] - 2.0f) < 1e-5f);
    /* At a flat surface the gradient is the kernel's integral over the plane: 315/256 over the support; a
     * lattice is coarse for it. */
    assert_true(fabs((double)samples[1].gradient[2] * 2.0 * SPACING + 315.0 / 256.0) < 0.15);
    wadi_state_free(&water.state);
    wadi_arena_free(&arena);
}

/* Two blocks of water 2 m apart, and points at the first. */
static void water_too_far_to_be_felt_is_left_out(void **unused)
{
    (void)unused;
    enum { SIDE = 8, BLOCK = SIDE * SIDE * SIDE, POINTS = 40 };
    Water water = { 0 };
    WadiArena arena = { 0 };
    WadiVec3 points[POINTS];
    WadiFlowSample all[POINTS], near[POINTS];
    add_frame(&water, 2 * BLOCK);
    set_block(&water, 0, SIDE, wadi_vec3(-3.1, 0.3, 0.2), wadi_vec3(1, 2, 3));
    set_block(&water, BLOCK, SIDE, wadi_vec3(-1.1, 0.3, 0.2), wadi_vec3(4, 0, 0));
    for (int i = 0; i < POINTS; ++i) {
        points[i] = wadi_vec3(-3.2 + 0.017 * i, 0.25 + 0.013 * i, 0.6 - 0.009 * i);
    }
    WadiFlow flow;
    WadiFlowDef def = flow_def(NULL, &water.state, 1.0, 2.0);
    assert_int_equal(wadi_flow_build(&flow, &def, &arena, NULL), WADI_OK);
    assert_int_equal(flow.cloud.count, 2 * BLOCK);
    assert_int_equal(wadi_flow_sample(&flow, points, POINTS, all, &arena, NULL), WADI_OK);
    def.near = points;
    def.near_count = POINTS;
    assert_int_equal(wadi_flow_build(&flow, &def, &arena, NULL), WADI_OK);
    assert_true(flow.cloud.count > 0 && flow.cloud.count <= BLOCK);
    assert_int_equal(wadi_flow_sample(&flow, points, POINTS, near, &arena, NULL), WADI_OK);
    assert_memory_equal(all, near, sizeof all);
    /* A point so far away that cubes of the bins' size would not fit. */
    points[0] = wadi_vec3(-1e6, 3e5, 2e5);
    assert_int_equal(wadi_flow_build(&flow, &def, &arena, NULL), WADI_OK);
    assert_int_equal(wadi_flow_sample(&flow, points, POINTS, near, &arena, NULL), WADI_OK);
    assert_true(near[0].fill == 0.0f);
    assert_memory_equal(all + 1, near + 1, sizeof all - sizeof *all);
    /* The block that is faster than 3.9 m/s, and that of 3.7 m/s. */
    def.near = NULL;
    def.near_speed = 3.9;
    assert_int_equal(wadi_flow_build(&flow, &def, &arena, NULL), WADI_OK);
    assert_int_equal(flow.cloud.count, BLOCK);
    assert_true(flow.cloud.id[0] == BLOCK);
    def.near_speed = 5.0;
    assert_int_equal(wadi_flow_build(&flow, &def, &arena, NULL), WADI_OK);
    assert_int_equal(flow.cloud.count, 0);
    wadi_state_free(&water.state);
    wadi_arena_free(&arena);
}

/* One fast particle in still water: all within two supports of it are neighbours of neighbours at most. */
static void water_beside_fast_water_is_kept(void **unused)
{
    (void)unused;
    enum { SIDE = 20, COUNT = SIDE * SIDE * SIDE };
    Water water = { 0 };
    WadiArena arena = { 0 };
    const double support = 2.0, reach = 2.0 * support * SPACING, middle = 0.5 * SIDE * SPACING;
    add_frame(&water, COUNT + 1);
    set_block(&water, 0, SIDE, wadi_vec3(0, 0, 0), wadi_vec3(0, 0, 0));
    set_particle(&water, COUNT, wadi_vec3(middle, middle, middle), wadi_vec3(3, 0, 0));
    WadiFlow all, near;
    WadiFlowDef def = flow_def(NULL, &water.state, 1.0, support);
    assert_int_equal(wadi_flow_build(&all, &def, &arena, NULL), WADI_OK);
    def.near_speed = 1.0;
    assert_int_equal(wadi_flow_build(&near, &def, &arena, NULL), WADI_OK);
    assert_true(near.cloud.count < COUNT);
    int32_t n = 0, beside = 0;
    for (int32_t i = 0; i < all.cloud.count; ++i) {
        const WadiVec3 way = wadi_sub(all.cloud.position[i], wadi_vec3(middle, middle, middle));
        const bool is_kept = n < near.cloud.count && near.cloud.id[n] == all.cloud.id[i];
        n += is_kept;
        if (wadi_norm(way) <= reach) {
            assert_true(is_kept);
            ++beside;
        }
    }
    assert_int_equal(n, near.cloud.count);
    assert_true(beside > 200); /* 4/3 pi 4^3 */
    wadi_state_free(&water.state);
    wadi_arena_free(&arena);
}

static WadiScene *water_scene(const char *more)
{
    char text[1024];
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: flip\ndomain: {min: [-5, -5, -5], max: [5, 5, 5]}\ncell_size: 0.1\n"
             "materials: {water: {kind: water}}\n"
             "bodies: [{material: water, shape: {sphere: {radius: 0.3}}}]\n%s",
             more);
    return load_scene(text);
}

/* The potentials of the flow; those of all particles within reach of fast ones are the same. */
static void find_potentials(const WadiFlowDef *def, const WadiWorld *world, WadiFlow *flow, float **potential,
                            WadiArena *arena)
{
    const WadiPotentialDef how = { .slow = 1.0, .fast = 4.0, .solids = &world->solids };
    assert_int_equal(wadi_flow_build(flow, def, arena, NULL), WADI_OK);
    assert_int_equal(wadi_secondary_potential(potential, flow, &how, arena, NULL), WADI_OK);
}

static void check_part(WadiFlowDef def, const WadiWorld *world, const WadiFlow *flow, const float *potential,
                       WadiArena *arena)
{
    WadiFlow part;
    float *some;
    def.near_speed = 1.0;
    find_potentials(&def, world, &part, &some, arena);
    for (int32_t i = 0, k = 0; i < flow->cloud.count; ++i) {
        const bool is_there = k < part.cloud.count && part.cloud.id[k] == flow->cloud.id[i];
        assert_true(potential[i] == (is_there ? some[k] : 0.0f));
        k += is_there;
    }
}

/* Sum of the potentials of particles [first, end). */
static double potential_of(Water *water, const WadiWorld *world, int32_t first, int32_t end)
{
    WadiArena arena = { 0 };
    WadiFlow flow;
    float *potential;
    double sum = 0.0;
    const WadiFlowDef def = flow_def(NULL, &water->state, 1.0, 3.0);
    find_potentials(&def, world, &flow, &potential, &arena);
    check_part(def, world, &flow, potential, &arena);
    for (int32_t i = first; i < end; ++i) {
        assert_true(potential[i] >= 0.0f && potential[i] <= 1.0f);
        sum += (double)potential[i];
    }
    wadi_arena_free(&arena);
    return sum;
}

static void air_is_drawn_in_where_fast_water_collides(void **unused)
{
    (void)unused;
    enum { SIDE = 10, BLOCK = SIDE * SIDE * SIDE };
    WadiScene *scene = water_scene("");
    WadiSim *sim = start_sim(scene, 1);
    Water water = { 0 };
    add_frame(&water, 2 * BLOCK);
    const WadiVec3 low = { -SIDE * SPACING, 0, 0 }, high = { 0, 0, 0 };
    /* Slow blocks that collide: none. */
    set_block(&water, 0, SIDE, low, wadi_vec3(0.9, 0, 0));
    set_block(&water, BLOCK, SIDE, high, wadi_vec3(-0.9, 0, 0));
    assert_true(potential_of(&water, sim->world, 0, 2 * BLOCK) == 0.0);
    /* Fast ones that move apart: none where they part. */
    set_block(&water, 0, SIDE, low, wadi_vec3(-3, 0, 0));
    set_block(&water, BLOCK, SIDE, high, wadi_vec3(3, 0, 0));
    const double apart = potential_of(&water, sim->world, 0, 2 * BLOCK);
    /* And that collide: at the rim of the contact, where there is air. */
    set_block(&water, 0, SIDE, low, wadi_vec3(3, 0, 0));
    set_block(&water, BLOCK, SIDE, high, wadi_vec3(-3, 0, 0));
    const double together = potential_of(&water, sim->world, 0, 2 * BLOCK);
    assert_true(together > 10.0);
    assert_true(together > apart + 10.0);
    wadi_state_free(&water.state);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A pool of still water in z < 0, wider than deep. */
static void set_pool(Water *water, WadiVec3 v)
{
    enum { WIDE = 14, DEEP = 16 };
    add_frame(water, WIDE * WIDE * DEEP);
    for (int i = 0; i < WIDE * WIDE * DEEP; ++i) {
        const WadiVec3 cell = { i % WIDE + 0.5 - 0.5 * WIDE, i / WIDE % WIDE + 0.5 - 0.5 * WIDE,
                                -(i / (WIDE * WIDE)) - 0.5 };
        set_particle(water, i, wadi_scale(cell, SPACING), v);
    }
}

static void bubbles_rise_to_foam_that_ends(void **unused)
{
    (void)unused;
    WadiScene *scene = water_scene("secondary: {rise: 0.25, life: 1}\n");
    WadiSim *sim = start_sim(scene, 1);
    Water water = { 0 };
    WadiArena arena = { 0 };
    WadiSecondary secondary = { 0 };
    set_pool(&water, wadi_vec3(0, 0, 0));
    const WadiSecondaryParticle bubble = {
        .x = { 0, 0, -0.5 }, .radius = 0.01f, .life = 1.0f, .kind = WADI_SECONDARY_BUBBLE
    };
    assert_int_equal(WADI_ARRAY_PUSH(&secondary.list, bubble, "bubble", NULL), WADI_OK);
    int surfaced = 0, gone = 0;
    for (int n = 1; n < 200 && gone == 0; ++n) {
        const WadiSecondaryStep step = { &water.state, &water.state, n, n * FRAME_TIME, FRAME_TIME };
        assert_int_equal(wadi_secondary_move(&secondary, sim->world, &step, &arena, NULL), WADI_OK);
        if (secondary.list.count == 0) {
            gone = n;
        } else if (secondary.list.data[0].kind == WADI_SECONDARY_FOAM) {
            surfaced = surfaced == 0 ? n : surfaced;
            assert_true(fabs(secondary.list.data[0].x.z) < 1.2 * SPACING);
        } else if (n == 24) {
            /* One second less the 0.05 s that it takes to reach its speed. */
            assert_true(fabs(secondary.list.data[0].x.z + 0.5 - 0.25 * 0.95) < 0.005);
        }
    }
    /* 0.5 m less about a spacing at 0.25 m/s, then 24 frames as foam. */
    assert_true(surfaced > 40 && surfaced < 50);
    assert_int_equal(gone - surfaced, 23);
    wadi_secondary_free(&secondary);
    wadi_state_free(&water.state);
    wadi_arena_free(&arena);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void spray_flies_and_ends_at_a_wall(void **unused)
{
    (void)unused;
    WadiScene *scene = water_scene("");
    WadiSim *sim = start_sim(scene, 1);
    Water water = { 0 };
    WadiArena arena = { 0 };
    WadiSecondary secondary = { 0 };
    set_pool(&water, wadi_vec3(0, 0, 0));
    const WadiSecondaryParticle drop = { .x = { 2, 0, 1 }, .v = { 0, 1, 3 }, .radius = 0.01f, .life = 9.0f };
    assert_int_equal(WADI_ARRAY_PUSH(&secondary.list, drop, "drop", NULL), WADI_OK);
    const WadiSecondaryStep step = { &water.state, &water.state, 1, FRAME_TIME, FRAME_TIME };
    for (int n = 0; n < 12; ++n) {
        assert_int_equal(wadi_secondary_move(&secondary, sim->world, &step, &arena, NULL), WADI_OK);
    }
    /* 0.5 s; the drag of 0.3 1/s takes away some 7 %, the step g t dt / 2 = 0.1 m. */
    const WadiVec3 x = secondary.list.data[0].x;
    assert_true(fabs(x.y - 0.5) < 0.05 && fabs(x.z - (1 + 1.5 - 0.5 * 9.81 * 0.25)) < 0.2);
    for (int n = 0; n < 60; ++n) {
        assert_int_equal(wadi_secondary_move(&secondary, sim->world, &step, &arena, NULL), WADI_OK);
    }
    assert_int_equal(secondary.list.count, 0);
    wadi_secondary_free(&secondary);
    wadi_state_free(&water.state);
    wadi_arena_free(&arena);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Frame n of two blocks that fly through each other. */
static void set_collision(Water *water, int n)
{
    enum { SIDE = 10, BLOCK = SIDE * SIDE * SIDE };
    const double far = n * FRAME_TIME * 2.5;
    add_frame(water, 2 * BLOCK);
    set_block(water, 0, SIDE, wadi_vec3(-0.6 + far, 0, 0), wadi_vec3(2.5, 0, 0));
    set_block(water, BLOCK, SIDE, wadi_vec3(0.1 - far, 0.02, 0), wadi_vec3(-2.5, 0, 0));
}

/* Hash of the state after `frames` frames; saved and loaded after frame `stop`. */
static uint64_t hash_after(const WadiWorld *world, int frames, int stop, int threads, size_t *count)
{
    wadi_parallel_set_threads(threads);
    Water water[2] = { { .count = 0 }, { .count = 0 } };
    WadiArena arena = { 0 };
    WadiSecondary secondary = { 0 };
    WadiState saved = { 0 };
    set_collision(&water[0], 0);
    for (int n = 1; n <= frames; ++n) {
        set_collision(&water[n % 2], n);
        const WadiSecondaryStep step = { &water[(n + 1) % 2].state, &water[n % 2].state, n + 1,
                                         n * FRAME_TIME, FRAME_TIME };
        assert_int_equal(wadi_secondary_step(&secondary, world, &step, &arena, NULL), WADI_OK);
        if (n == 3) { /* the newest has gone: its id is used again, whether loaded or not */
            secondary.list.count -= 1;
        }
        if (n == stop) {
            assert_int_equal(wadi_secondary_save(&secondary, &saved, NULL), WADI_OK);
            wadi_secondary_free(&secondary);
            assert_int_equal(wadi_secondary_load(&secondary, &saved, NULL), WADI_OK);
        }
    }
    assert_int_equal(wadi_secondary_save(&secondary, &saved, NULL), WADI_OK);
    const uint64_t hash = wadi_state_hash(&saved, WADI_USE_BOTH);
    *count = secondary.list.count;
    wadi_state_free(&saved);
    wadi_state_free(&water[0].state);
    wadi_state_free(&water[1].state);
    wadi_secondary_free(&secondary);
    wadi_arena_free(&arena);
    wadi_parallel_set_threads(1);
    return hash;
}

static void bytes_do_not_depend_on_threads_or_resuming(void **unused)
{
    (void)unused;
    WadiScene *scene = water_scene("");
    WadiSim *sim = start_sim(scene, 1);
    size_t count, other;
    const uint64_t hash = hash_after(sim->world, 6, 0, 1, &count);
    assert_true(count > 100);
    assert_true(hash_after(sim->world, 6, 0, 2, &other) == hash);
    assert_true(hash_after(sim->world, 6, 3, 5, &other) == hash);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void half_the_size_makes_eight_times_as_many(void **unused)
{
    (void)unused;
    size_t count[2];
    for (int i = 0; i < 2; ++i) {
        WadiScene *scene = water_scene(i == 0 ? "secondary: {size: 0.012}\n" : "secondary: {size: 0.006}\n");
        WadiSim *sim = start_sim(scene, 1);
        hash_after(sim->world, 3, 0, 1, &count[i]);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
    const double ratio = (double)count[1] / (double)count[0];
    assert_true(ratio > 7.0 && ratio < 9.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_between_frames_follows_a_parabola),
        cmocka_unit_test(a_point_feels_full_half_and_no_water),
        cmocka_unit_test(water_too_far_to_be_felt_is_left_out),
        cmocka_unit_test(water_beside_fast_water_is_kept),
        cmocka_unit_test(air_is_drawn_in_where_fast_water_collides),
        cmocka_unit_test(bubbles_rise_to_foam_that_ends),
        cmocka_unit_test(spray_flies_and_ends_at_a_wall),
        cmocka_unit_test(bytes_do_not_depend_on_threads_or_resuming),
        cmocka_unit_test(half_the_size_makes_eight_times_as_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
