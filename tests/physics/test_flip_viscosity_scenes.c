/* flip: viscous liquids as whole scenes: at rest, spreading by Huppert's law, under a moving lid, and
 * rotating in free flight. */
#include "same_bytes.h"

static void a_viscous_tank_rests(void **unused)
{
    (void)unused;
    const char *scenes[2] = { "0.001", "1000" };
    for (int n = 0; n < 2; ++n) {
        char text[512];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: flip\nresolution: 12\n"
                 "domain: {min: [0, 0, 0], max: [0.3, 0.3, 0.3], walls: {friction: 0}}\n"
                 "materials: {oil: {kind: water, viscosity: %s}}\nbodies: [{material: oil, shape: {box: "
                 "{min: [0, 0, 0], max: [0.3, 0.3, 0.15]}}}]\n",
                 scenes[n]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 24);
        CHECK_AT_MOST(mean_speed(&sim->particles), 1e-4); /* one step of free fall is 0.4 m/s */
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* [H82]: a volume V of viscous liquid on a plane spreads to r = 0.894 (g V^3 t / (3 nu))^(1/8), in the shape
 * (1 - (r / r_N)^2)^(1/3), whose mean square radius is 3/7 r_N^2. */
static void a_puddle_spreads_by_hupperts_law(void **unused)
{
    (void)unused;
    const double nu = 0.01, g = 9.81, cell = 0.0125;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: flip\ncell_size: 0.0125\nfps: 24\n"
        "domain: {min: [-0.3125, -0.3125, 0], max: [0.3125, 0.3125, 0.15], walls: {friction: 0}}\n"
        "materials: {honey: {kind: water, density: 1400, viscosity: 14}}\n"
        "bodies: [{material: honey, shape: {cylinder: {from: [0, 0, 0], to: [0, 0, 0.1], radius: 0.1}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    double volume = p->count * cell * cell * cell / 8.0;
    for (int second = 1; second <= 2; ++second) {
        run_frames(sim, 24);
        double square = 0.0;
        for (int32_t i = 0; i < p->count; ++i) {
            square += p->x[i] * p->x[i] + p->y[i] * p->y[i];
        }
        double radius = sqrt(square / p->count * 7.0 / 3.0);
        double exact = 0.894 * pow(g * volume * volume * volume * second / (3.0 * nu), 0.125);
        print_message("puddle after %d s: radius %.4f m, Huppert %.4f m\n", second, radius, exact);
        CHECK_NEAR(radius, exact, 0.05 * exact);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A stiff beam in free flight rotates as a rigid body: neither its shape nor its spin changes. */
static void a_stiff_beam_keeps_its_shape_and_its_spin(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 24\nmax_step: 0.006\ngravity: [0, 0, 0]\n"
        "materials: {clay: {kind: water, viscosity: 10000}}\n"
        "bodies: [{material: clay, shape: {box: {min: [-0.16, -0.06, -0.06], max: [0.16, 0.06, 0.06]}}, "
        "angular_velocity: [0, 3, 0]}]\n");
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    double spin[2], inertia[2];
    for (int n = 0; n < 2; ++n) {
        spin[n] = inertia[n] = 0.0;
        for (int32_t i = 0; i < p->count; ++i) {
            spin[n] += p->z[i] * (double)p->vx[i] - p->x[i] * (double)p->vz[i];
            inertia[n] += p->z[i] * p->z[i] + p->x[i] * p->x[i];
        }
        if (n == 0) {
            run_frames(sim, 18);
        }
    }
    print_message("beam: spin %.3f of what it was, inertia %.3f\n", spin[1] / spin[0],
                  inertia[1] / inertia[0]);
    CHECK_NEAR(spin[1] / spin[0], 1.0, 0.01);
    CHECK_NEAR(inertia[1] / inertia[0], 1.0, 0.01);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Under a lid that slides along a closed box, the liquid returns below. Far from the ends the flow is
 * U z/H - c z/H (1 - z/H), with the c for which no volume passes a section. Between side walls W apart the
 * lid carries 1 - 0.543 H/W of U H W/2, and the return flow 1 - 0.630 H/W of c H W/6 (both from the Fourier
 * series of a rectangular duct). */
static void check_lid(double viscosity)
{
    enum { LAYERS = 8 };
    const double depth = 0.05, width = 3.0 * depth, speed = 0.2;
    const double c = 3.0 * speed * (1.0 - 0.543 * depth / width) / (1.0 - 0.630 * depth / width);
    char text[1024];
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: flip\ncell_size: 0.00625\n"
             "domain: {min: [-0.1, -0.075, 0], max: [0.1, 0.075, 0.1]}\n"
             "materials: {honey: {kind: water, density: 1400, viscosity: %g}}\n"
             "colliders: [{shape: {box: {min: [-2, -1, 0.05], max: [2, 1, 0.2]}, translate: {keys: [[0, [0, "
             "0, 0]], [5, [1, 0, 0]]]}}}]\n"
             "bodies: [{material: honey, shape: {box: {min: [-0.1, -0.075, 0], max: [0.1, 0.075, 0.05]}}}]\n",
             viscosity);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 12);
    const WadiParticles *p = &sim->particles;
    double sum[LAYERS] = { 0 }, exact[LAYERS] = { 0 }, worst = 0.0;
    int count[LAYERS] = { 0 };
    for (int32_t i = 0; i < p->count; ++i) {
        const double z = p->z[i] / depth;
        const int layer = (int)(z * LAYERS);
        if (fabs(p->x[i]) < 0.5 * depth && fabs(p->y[i]) < 0.25 * depth && layer < LAYERS) {
            sum[layer] += (double)p->vx[i];
            exact[layer] += speed * z - c * z * (1.0 - z);
            count[layer] += 1;
        }
    }
    for (int n = 0; n < LAYERS; ++n) {
        const double error = (sum[n] - exact[n]) / count[n] / speed;
        print_message("%g Pa s, layer %d: %.3f U, exact %.3f U\n", viscosity, n, sum[n] / count[n] / speed,
                      exact[n] / count[n] / speed);
        worst = fmax(worst, fabs(error));
    }
    CHECK_AT_MOST(worst, 0.05);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void a_lid_drives_a_return_flow(void **unused)
{
    (void)unused;
    check_lid(20.0);
    check_lid(200.0);
}

static void threads_and_restarts_do_not_change_a_byte(void **unused)
{
    (void)unused;
    check_same_bytes(
        "wadi: 1\nsolver: flip\ncell_size: 0.01\nfps: 100\ndomain: {min: [0, 0, 0], max: [0.2, 0.2, 0.2]}\n"
        "materials: {honey: {kind: water, density: 1400, viscosity: 5, surface_tension: 0.05}, "
        "water: {kind: water, viscosity: 0.001, surface_tension: 0.07}}\n"
        "bodies: [{material: honey, shape: {sphere: {center: [0.1, 0.1, 0.12], radius: 0.05}}}, "
        "{material: water, shape: {box: {min: [0, 0, 0], max: [0.2, 0.2, 0.04]}}}]\n",
        3, 2);
}

/* Two blocks spread towards each other and meet in the middle after 1.5 s. The particles of slabs half a
 * cell wide are counted there, which shows a crack inside cells with the right number of particles. */
static void check_fronts(const char *text, double thinnest, double densest)
{
    enum { SLABS = 80, MIDDLE = 20 };
    const double h = 0.01, depth = 4.0 * h;
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 0);
    run_frames(sim, 60);
    double count[SLABS] = { 0 }, least = INFINITY, most = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        int slab = (int)(sim->particles.x[i] / (0.5 * h));
        count[slab] += sim->particles.z[i] < depth ? 1.0 : 0.0;
    }
    for (int slab = MIDDLE - 6; slab < MIDDLE + 6; ++slab) {
        const double density = count[slab] * h * h * h / 8.0 / (0.5 * h * 0.06 * depth);
        least = fmin(least, density);
        most = fmax(most, density);
    }
    print_message("density of slabs where the fronts met: %.2f to %.2f\n", least, most);
    CHECK_AT_MOST(thinnest, least);
    CHECK_AT_MOST(most, densest);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void fronts_that_met_leave_no_crack(void **unused)
{
    (void)unused;
    check_fronts("{wadi: 1, solver: flip, cell_size: 0.01, domain: {min: [0, 0, 0], max: [0.2, 0.06, "
                 "0.16], walls: {friction: 1}},\n"
                 " materials: {honey: {kind: water, density: 1420, viscosity: 100}},\n"
                 " bodies: [{material: honey, shape: {box: {min: [0, 0, 0], max: [0.06, 0.06, 0.12]}}},\n"
                 "  {material: honey, shape: {box: {min: [0.14, 0, 0], max: [0.2, 0.06, 0.12]}}}]}\n",
                 0.58, 1.4);
}

/* The same with sand behind a wall, which falls asleep meanwhile. Its shorter steps mix less: the crack
 * would have 0.45 and the slabs next to it 1.61, and get 0.60 and 1.42. */
#define HONEY_AND_SAND                                                                                       \
    "{wadi: 1, solver: flip, cell_size: 0.01, domain: {min: [0, 0, 0], max: [0.36, 0.06, 0.16], walls: "     \
    "{friction: 1}},\n"                                                                                      \
    " materials: {sand: {kind: sand}, honey: {kind: water, density: 1420, viscosity: 100}},\n"               \
    " colliders: [{shape: {box: {min: [0.2, -0.1, -0.1], max: [0.22, 0.2, 0.3]}}, friction: 1}],\n"          \
    " bodies: [{material: honey, shape: {box: {min: [0, 0, 0], max: [0.06, 0.06, 0.12]}}},\n"                \
    "  {material: honey, shape: {box: {min: [0.14, 0, 0], max: [0.2, 0.06, 0.12]}}},\n"                      \
    "  {material: sand, shape: {box: {min: [0.24, 0, 0], max: [0.36, 0.06, 0.08]}}}]}\n"

static void fronts_that_met_beside_sand_leave_no_crack(void **unused)
{
    (void)unused;
    check_fronts(HONEY_AND_SAND, 0.55, 1.5);
}

static void beside_sand_threads_and_restarts_do_not_change_a_byte(void **unused)
{
    (void)unused;
    check_same_bytes(HONEY_AND_SAND, 12, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_viscous_tank_rests),
        cmocka_unit_test(a_puddle_spreads_by_hupperts_law),
        cmocka_unit_test(a_stiff_beam_keeps_its_shape_and_its_spin),
        cmocka_unit_test(a_lid_drives_a_return_flow),
        cmocka_unit_test(fronts_that_met_leave_no_crack),
        cmocka_unit_test(fronts_that_met_beside_sand_leave_no_crack),
        cmocka_unit_test(beside_sand_threads_and_restarts_do_not_change_a_byte),
        cmocka_unit_test(threads_and_restarts_do_not_change_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
