/* Water in the pores of sand: what is wet and what is dry. */
#include <stdlib.h>
#include <string.h>

#include "same_bytes.h"

/* A dam of 35 degree sand between x = 0.2 and 1, its flanks at 30 degrees, 23 cm high, with water before it.
 * Axes may be turned: gravity along -x or +y. */
typedef struct Turn {
    const char *name;
    int axis[3]; /* of the grid for x, y and z of the dam */
    double sign; /* of its z */
} Turn;

static void put(char *text, size_t size, const Turn *turn, double x, double y, double z)
{
    double v[3] = { 0 };
    v[turn->axis[0]] = x;
    v[turn->axis[1]] = y;
    v[turn->axis[2]] = turn->sign * z;
    snprintf(text, size, "[%.17g, %.17g, %.17g]", v[0], v[1], v[2]);
}

static void dam_scene(char *text, size_t size, const Turn *turn, double depth, double cell)
{
    enum { SIZE = 80 };
    char low[SIZE], high[SIZE], at[SIZE], slope[SIZE], top[SIZE], gravity[SIZE], corner[SIZE];
    char flank[2][2 * SIZE + 40];
    put(low, sizeof low, turn, 0.0, 0.0, turn->sign > 0.0 ? 0.0 : 0.4);
    put(high, sizeof high, turn, 1.2, 4.0 * cell, turn->sign > 0.0 ? 0.4 : 0.0);
    put(corner, sizeof corner, turn, 0.0, 0.0, turn->sign > 0.0 ? 0.0 : depth);
    put(top, sizeof top, turn, 0.55, 4.0 * cell, turn->sign > 0.0 ? depth : 0.0);
    put(gravity, sizeof gravity, turn, 0.0, 0.0, -9.81);
    for (int f = 0; f < 2; ++f) {
        put(at, SIZE, turn, f == 0 ? 0.2 : 1.0, 0.0, 0.0);
        put(slope, SIZE, turn, f == 0 ? -0.5 : 0.5, 0.0, 0.8660254);
        snprintf(flank[f], sizeof flank[f], "{half_space: {point: %s, normal: %s}}", at, slope);
    }
    snprintf(text, size,
             "wadi: 1\nsolver: flip\ncell_size: %.17g\ngravity: %s\n"
             "domain: {min: %s, max: %s, walls: {friction: 0.6}}\n"
             "materials: {sand: {kind: sand, density: 2000, friction_angle: 35}, water: {kind: water}}\n"
             "bodies:\n  - {material: sand, shape: {intersection: [{box: {min: %s, max: %s}}, %s, %s]}}\n"
             "  - {material: water, shape: {difference: [{box: {min: %s, max: %s}}, %s]}}\n",
             cell, gravity, low, high, low, high, flank[0], flank[1], corner, top, flank[0]);
}

/* Largest and mean way of the sand that lay beyond the middle of the dam, m. */
static void dry_side_moves(const char *text, const Turn *turn, double *largest, double *mean)
{
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    const double *along[3] = { p->x, p->y, p->z };
    double *before = calloc((size_t)p->count, sizeof *before);
    for (int32_t i = 0; i < p->count; ++i) {
        before[p->id[i]] = along[turn->axis[0]][i];
    }
    run_frames(sim, 16);
    double count = 0.0;
    *largest = *mean = 0.0;
    along[0] = p->x, along[1] = p->y, along[2] = p->z;
    for (int32_t i = 0; i < p->count; ++i) {
        if (p->material[i] == 0 && before[p->id[i]] > 0.6) {
            double way = fabs(along[turn->axis[0]][i] - before[p->id[i]]);
            *largest = fmax(*largest, way);
            *mean += way;
            count += 1.0;
        }
    }
    assert_true(count > 500.0);
    *mean /= count;
    free(before);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void the_dry_side_of_a_dam_stands(void **unused)
{
    (void)unused;
    static const Turn turns[] = {
        { "down -z", { 0, 1, 2 }, 1.0 },
        { "down -x", { 1, 2, 0 }, 1.0 },
        { "down +y", { 2, 0, 1 }, -1.0 },
    };
    static const struct {
        int turn;
        double depth, cell;
    } cases[] = { { 0, 0.10, 0.02 }, { 0, 0.19, 0.02 }, { 0, 0.22, 0.02 },
                  { 0, 0.15, 0.04 }, { 1, 0.19, 0.02 }, { 2, 0.19, 0.02 } };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        const Turn *turn = &turns[cases[c].turn];
        char text[2048];
        double largest, mean;
        dam_scene(text, sizeof text, turn, cases[c].depth, cases[c].cell);
        dry_side_moves(text, turn, &largest, &mean);
        print_message("%s, %g m of water, cells of %g m: dry side moves by %.5f m at most, %.6f on average\n",
                      turn->name, cases[c].depth, cases[c].cell, largest, mean);
        CHECK_AT_MOST(largest, 0.25 * cases[c].cell);
        CHECK_AT_MOST(mean, 0.02 * cases[c].cell);
    }
}

#define PILE                                                                                                 \
    "wadi: 1\nsolver: flip\ncell_size: 0.02\n"                                                               \
    "domain: {min: [0, 0, 0], max: [1.6, 0.08, 0.6], walls: {friction: 0.6}}\n"                              \
    "materials: {sand: {kind: sand, density: 2000, friction_angle: 35}, water: {kind: water}}\n"
#define HEAP                                                                                                 \
    "{intersection: [{box: {min: [0.35, 0, 0], max: [1.15, 0.08, 0.4]}}, "                                   \
    "{half_space: {point: [0.35, 0, 0], normal: [-0.5, 0, 0.8660254]}}, "                                    \
    "{half_space: {point: [1.15, 0, 0], normal: [0.5, 0, 0.8660254]}}]}"

static double mean_height_of(const WadiSim *sim, int material)
{
    double sum = 0.0, count = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        sum += sim->particles.material[i] == material ? sim->particles.z[i] : 0.0;
        count += sim->particles.material[i] == material;
    }
    return sum / count;
}

/* 1.5 l on a heap of 7.4 l: the jet digs a hole, the rest stands. */
static void water_poured_on_a_dry_heap_does_not_melt_it(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(PILE "bodies: [{material: sand, shape: " HEAP "}]\n"
                                       "emitters: [{material: water, rate: 0.0015, end: 1, "
                                       "shape: {box: {min: [0.7, 0, 0.5], max: [0.8, 0.08, 0.54]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    double before = mean_height_of(sim, 0);
    run_frames(sim, 36);
    double after = mean_height_of(sim, 0);
    print_message("centre of the heap from %.4f to %.4f m\n", before, after);
    CHECK_AT_MOST(before - after, 0.008);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Under water all of it is wet: friction by its buoyant weight alone. */
static void sand_of_the_bed_is_wet(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene(PILE "bodies:\n"
                        "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.5, 0.08, 0.2]}}}\n"
                        "  - {material: water, shape: {box: {min: [0.5, 0, 0], max: [1.6, 0.08, 0.2]}}}\n"
                        "  - {material: water, shape: {box: {min: [0, 0, 0.2], max: [1.6, 0.08, 0.4]}}}\n");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 36);
    /* Down to 35 degrees: the foot moves out by 0.2 / (2 tan 35), and 0.1 sinks by 0.2 * 0.286 / (12 *
     * 0.5). */
    double height = mean_height_of(sim, 0);
    print_message("centre of the sand %.4f m\n", height);
    CHECK_NEAR(height, 0.0905, 0.003);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void threads_and_restarts_do_not_change_a_byte(void **unused)
{
    (void)unused;
    char text[2048];
    dam_scene(text, sizeof text, &(Turn){ "", { 0, 1, 2 }, 1.0 }, 0.19, 0.02);
    check_same_bytes(text, 2, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_dry_side_of_a_dam_stands),
        cmocka_unit_test(water_poured_on_a_dry_heap_does_not_melt_it),
        cmocka_unit_test(sand_of_the_bed_is_wet),
        cmocka_unit_test(threads_and_restarts_do_not_change_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
