/* Water seeps through saturated sand under a wall, from a higher to a lower level: Darcy's law in a scene,
 * with particles of water that sand takes up on one side and makes on the other. */
#include "scene_sim.h"
#include "sim/sim.h"
#include "world/water.h"

enum { CELLS_X = 60, CELLS_Z = 40, WALL_FIRST = 29, WALL_END = 31, GAP = 20 };

/* m: half the tank, the thickness of the wall, the width of the tank. */
static const double HALF = 0.6, WALL = 0.04, WIDTH = 0.3;

#define TANK                                                                                                 \
    "{wadi: 1, name: tank, solver: sph, cell_size: 0.1, frames: 100, fps: 8,"                                \
    " domain: {min: [-0.6, 0, 0], max: [0.6, 0.3, 2.5]},"                                                    \
    " materials: {sand: {kind: sand, permeability: 1e-8}, water: {kind: water}},"                            \
    " colliders: [{shape: {box: {min: [-0.02, -1, 0.4], max: [0.02, 1, 3]}}}],"                              \
    " bodies: [{material: sand, saturation: 1, shape: {box: {min: [-0.6, 0, 0], max: [0.6, 0.3, 0.8]}}},"    \
    "          {material: water, shape: {box: {min: [-0.6, 0, 0.8], max: [0, 0.3, 1.8]}}},"                  \
    "          {material: water, shape: {box: {min: [0, 0, 0.8], max: [0.6, 0.3, 1.2]}}}]}"

static bool is_wall(int i, int k)
{
    return i >= WALL_FIRST && i < WALL_END && k >= GAP;
}

static bool is_sand_cell(int i, int k)
{
    return i >= 0 && i < CELLS_X && k >= 0 && k < CELLS_Z && !is_wall(i, k);
}

/* One sweep of over-relaxation of Laplace's equation with 1 above the left half and 0 above the right one. */
static void sweep(double p[CELLS_X][CELLS_Z])
{
    static const int step[4][2] = { { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 } };
    for (int i = 0; i < CELLS_X; ++i) {
        for (int k = 0; k < CELLS_Z; ++k) {
            double sum = 0.0, all = 0.0;
            for (int n = 0; n < 4; ++n) {
                const int a = i + step[n][0], b = k + step[n][1];
                if (is_sand_cell(a, b)) {
                    sum += p[a][b], all += 1.0;
                }
            }
            if (k == CELLS_Z - 1) {
                sum += i < CELLS_X / 2 ? 2.0 : 0.0, all += 2.0;
            }
            p[i][k] += is_sand_cell(i, k) ? 1.85 * (sum / all - p[i][k]) : 0.0;
        }
    }
}

/* Flow under the wall for a width, a conductivity and a difference of heads of 1. */
static double flow_under_wall(void)
{
    static double p[CELLS_X][CELLS_Z];
    double flow = 0.0;
    for (int n = 0; n < 4000; ++n) {
        sweep(p);
    }
    for (int i = 0; i < WALL_FIRST; ++i) {
        flow += 2.0 * (1.0 - p[i][CELLS_Z - 1]);
    }
    return flow;
}

/* m: by the water on both sides of the wall. Sand on both sides holds the same. */
static double level_difference(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    const double *water = wadi_water_column(p);
    double more = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        more += p->x[i] < 0.0 ? water[i] : -water[i];
    }
    return more * sim->world->particle_volume / (WIDTH * (HALF - 0.5 * WALL));
}

/* The difference of levels decays as exp(-2 K flow t / length of a side). */
static void levels_even_out_by_darcys_law(void **unused)
{
    (void)unused;
    const double conductivity = 1e-8 * 1000.0 * 9.81 / 1e-3, seconds = 3.0;
    WadiScene *scene = load_scene(TANK);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 12);
    const double before = level_difference(sim);
    run_frames(sim, (int)(8.0 * seconds));
    const double rate = log(before / level_difference(sim)) / seconds;
    const double exact = 2.0 * conductivity * flow_under_wall() / (HALF - 0.5 * WALL);
    print_message("levels even out at %.4f 1/s, %.3f of Darcy's %.4f\n", rate, rate / exact, exact);
    CHECK_NEAR(rate / exact, 1.0, 0.05);
    const double *water = wadi_water_column(&sim->particles);
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        assert_true(water[i] <= 1.5);
    }
    assert_true(wadi_sim_mass_drift(sim, WADI_MATERIAL_WATER) == 0.0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static double sand_height(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    double sum = 0.0, count = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += p->material[i] == 0 ? p->z[i] : 0.0;
        count += p->material[i] == 0;
    }
    return sum / count;
}

/* So coarse for its spacing that a gradient of 1 would fill a whole particle in a step. */
static void water_rests_on_coarse_sand(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "{wadi: 1, name: coarse, solver: sph, cell_size: 0.002, frames: 100, fps: 48,"
        " domain: {min: [0, 0, 0], max: [0.012, 0.008, 0.02]},"
        " materials: {sand: {kind: sand, porosity: 0.5, permeability: 1e-7}, water: {kind: water}},"
        " bodies: [{material: sand, saturation: 1, shape: {box: {min: [0, 0, 0], max: [0.012, 0.008, "
        "0.008]}}}, {material: water, shape: {box: {min: [0, 0, 0.008], max: [0.012, 0.008, 0.014]}}}]}");
    WadiSim *sim = start_sim(scene, 1);
    const int32_t count = sim->particles.count;
    run_frames(sim, 24);
    const double before = sand_height(sim);
    run_frames(sim, 24);
    /* The mean height of the sand moves half as much as the interface. */
    const double drift = 2.0 * fabs(sand_height(sim) - before) / 0.001 / 0.5;
    print_message("coarse sand: interface drifts %.4f spacings a second; %d of %d particles\n", drift,
                  (int)sim->particles.count, (int)count);
    CHECK_AT_MOST(drift, 0.05);
    CHECK_NEAR((double)sim->particles.count / count, 1.0, 0.05);
    assert_true(wadi_sim_mass_drift(sim, WADI_MATERIAL_WATER) == 0.0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_even_out_by_darcys_law),
        cmocka_unit_test(water_rests_on_coarse_sand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
