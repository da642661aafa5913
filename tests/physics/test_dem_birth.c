/* dem: grains are born without doing work. Bodies start as random packings of the density at which they
 * rest, and jets leave their emitters straight and full. */
#include "dem/dem.h"
#include "dem/pack/dem_pack.h"
#include "same_bytes.h"
#include "scene_text.h"

#define BOX                                                                                                  \
    "wadi: 1\nsolver: dem\nfps: 48\ndomain: {min: [0, 0, 0], max: [0.1, 0.1, 0.4], walls: {friction: "       \
    "0.5}}\ncell_size: 0.01\nparticles_per_cell: 1\nmaterials: {sand: {kind: sand, friction_angle: 33}}\n"   \
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.1, 0.2]}}}]\n"

/* A body that fills a box to a height is as high in all frames, to 3 %. */
static void bodies_keep_their_height(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        int frames;
    } cases[] = {
        { "{shape: spheres}", 6 },    { "{size_spread: 0.3}", 2 },   { "{shape: pairs}", 2 },
        { "{shape: tetrahedra}", 1 }, { "{mode: surface_flow}", 6 }, { "{mode: height_field}", 6 },
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; ++n) {
        char text[2048];
        snprintf(text, sizeof text, BOX "dem: %s\n", cases[n].settings);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        double lowest = 1.0, highest = 0.0;
        for (int frame = 0; frame <= cases[n].frames; ++frame) {
            run_frames(sim, frame > 0 ? 1 : 0);
            const double height = 2.0 * mean_height(&sim->particles);
            lowest = fmin(lowest, height);
            highest = fmax(highest, height);
        }
        print_message("%s: heights %.4f to %.4f\n", cases[n].settings, lowest / 0.2, highest / 0.2);
        CHECK_AT_MOST(0.97 * 0.2, lowest);
        CHECK_AT_MOST(highest, 1.03 * 0.2);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* Largest overlap of spheres of different grains and of spheres with solids, over the mean diameter. */
static double largest_overlap(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    const WadiDem *dem = sim->solver;
    const uint32_t *grain = wadi_dem_grain_ids(dem);
    double most = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        const double r = wadi_dem_radius_of(dem, i);
        most = fmax(most, r - wadi_solids_distance_within(&sim->world->solids, x, 0.0, r));
        for (int32_t j = 0; j < i; ++j) {
            const WadiVec3 d = wadi_sub((WadiVec3){ p->x[j], p->y[j], p->z[j] }, x);
            most = fmax(most, grain[i] != grain[j] ? r + wadi_dem_radius_of(dem, j) - wadi_norm(d) : 0.0);
        }
    }
    return most / dem->diameter;
}

/* Bodies that touch each other and solids of several kinds: no two grains overlap, no grain is inside a
 * solid, and all are there. */
static void packed_grains_do_not_overlap(void **unused)
{
    (void)unused;
    static const char *const shapes[] = { "spheres", "tetrahedra" };
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; ++n) {
        char text[2048];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: dem\nfps: 50\ndem: {shape: %s}\n"
                 "domain: {min: [0, 0, 0], max: [0.12, 0.1, 0.2]}\ncell_size: 0.01\nparticles_per_cell: 1\n"
                 "materials: {a: {kind: sand}, b: {kind: sand, density: 2000}}\n"
                 "bodies: [{material: a, shape: {box: {min: [0, 0, 0], max: [0.06, 0.1, 0.08]}}},\n"
                 "  {material: b, shape: {cylinder: {from: [0.08, 0.05, 0], to: [0.06, 0.05, 0.12], radius: "
                 "0.04}}}]\n"
                 "colliders: [{shape: {sphere: {center: [0.05, 0.03, 0.04], radius: 0.02}}},\n"
                 "  {shape: {box: {center: [0.09, 0.06, 0.05], size: [0.03, 0.03, 0.03]}, rotate: [20, 30, "
                 "0]}}]\n",
                 shapes[n]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        const double overlap = largest_overlap(sim);
        print_message("%s: %d particles, overlap %.2e\n", shapes[n], (int)sim->particles.count, overlap);
        CHECK_AT_MOST(overlap, 1.01 * WADI_DEM_PACKED_OVERLAP);
        assert_true(sim->particles.count > 500);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static double energy_of(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    const WadiDem *dem = sim->solver;
    double sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        sum += 0.5 * wadi_dem_mass_of(dem, i) * wadi_dot(v, v);
    }
    return sum;
}

/* Two packed lumps without friction and losses fly into each other in a closed box: a gas of hard spheres,
 * which keeps its energy. */
static void an_elastic_gas_keeps_its_energy(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: dem\nfps: 50\ngravity: [0, 0, 0]\ncell_size: 0.01\nparticles_per_cell: 1\n"
        "domain: {min: [0, 0, 0], max: [0.2, 0.07, 0.07], walls: {friction: 0, restitution: 1}}\n"
        "materials: {a: {kind: sand}}\ndem: {restitution: 1, young: 1e8, friction: 0, rolling_friction: 0}\n"
        "bodies: [{material: a, velocity: [1, 0, 0], shape: {box: {min: [0.02, 0, 0], max: [0.08, 0.07, "
        "0.07]}}},\n"
        "  {material: a, velocity: [-1, 0.2, 0], shape: {box: {min: [0.12, 0, 0], max: [0.18, 0.07, "
        "0.07]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    const double start = energy_of(sim);
    double mean[2] = { 0, 0 };
    for (int n = 0; n < 2; ++n) {
        run_frames(sim, 6);
        for (int frame = 0; frame < 6; ++frame) {
            run_frames(sim, 1);
            mean[n] += 1.0 / 6.0 * energy_of(sim);
        }
    }
    print_message("kinetic energy %.4f, then %.4f of that at the start\n", mean[0] / start, mean[1] / start);
    /* A part is in contacts at any time. */
    CHECK_NEAR(mean[0] / start, 0.95, 0.05);
    CHECK_NEAR(mean[1] / mean[0], 1.0, 0.03);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A jet of a part of area times velocity, in free flight. */
static void jets_are_straight_and_full(void **unused)
{
    (void)unused;
    static const struct {
        const char *shape, *velocity, *settings;
        double area, speed, part;
    } cases[] = {
        { "cylinder: {from: [0, 0, 0], to: [0.04, 0, 0], radius: 0.04}", "[2, 0, 0]", "{}", 5.0265e-3, 2, 1 },
        { "cylinder: {from: [0, 0, 0], to: [0.04, 0, 0], radius: 0.04}", "[2, 0, 0]", "{}", 5.0265e-3, 2,
          0.3 },
        { "cylinder: {from: [0, 0, 0], to: [0, 0, 0.002], radius: 0.04}", "[0, 0, -1]", "{}", 5.0265e-3, 1,
          0.7 },
        { "box: {size: [0.05, 0.06, 0.07]}", "[0, 1, 0]", "{shape: tetrahedra}", 3.5e-3, 1, 0.9 },
        /* Cubes do not pack at random as densely as they settle: a plug of bulk density jams. */
        { "box: {size: [0.05, 0.06, 0.07]}", "[0, 1, 0]", "{shape: cubes}", 3.5e-3, 1, 0.9 },
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; ++n) {
        char text[2048];
        const double rate = cases[n].part * cases[n].area * cases[n].speed;
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: dem\nfps: 24\ngravity: [0, 0, 0]\ncell_size: 0.01\nparticles_per_cell: 1\n"
                 "materials: {a: {kind: sand}}\ndem: %s\n"
                 "emitters: [{material: a, shape: {%s}, velocity: %s, rate: %.9g}]\n",
                 cases[n].settings, cases[n].shape, cases[n].velocity, rate);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 4);
        const WadiParticles *p = &sim->particles;
        const WadiVec3 mean = wadi_curve_value3(&scene->emitters[0].velocity, 0.0);
        double sum = 0.0;
        for (int32_t i = 0; i < p->count; ++i) {
            const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
            sum += wadi_dot(wadi_sub(v, mean), wadi_sub(v, mean)) / p->count;
        }
        const double wanted = rate * 4.0 / 24.0 / sim->world->particle_volume;
        print_message("part %.1f: %d of %.0f grains, deviation of velocities %.5f\n", cases[n].part,
                      (int)p->count, wanted, sqrt(sum) / cases[n].speed);
        CHECK_AT_MOST(sqrt(sum), 0.02 * cases[n].speed);
        CHECK_NEAR(p->count / wanted, 1.0, 0.02);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* An emitter makes no more than area times velocity, whatever its rate. */
static void emitters_make_what_fits(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: dem\nfps: 24\ngravity: [0, 0, 0]\ncell_size: 0.01\nparticles_per_cell: 1\n"
        "materials: {a: {kind: sand}}\n"
        "emitters: [{material: a, shape: {cylinder: {from: [0, 0, 0], to: [0.02, 0, 0], radius: 0.04}}, "
        "velocity: [1, 0, 0], rate: 0.02}]\n");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 4);
    const double fits = 5.0265e-3 * (4.0 / 24.0 + 0.02) / sim->world->particle_volume;
    print_message("%d grains, %.0f fit\n", (int)sim->particles.count, fits);
    CHECK_NEAR(sim->particles.count / fits, 1.0, 0.03);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Nor when it ends while grains wait for room: a plug of area times velocity times duration, and no more. */
static void an_emitter_that_ends_full_makes_what_fits(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: dem\nfps: 24\ngravity: [0, 0, 0]\ncell_size: 0.01\nparticles_per_cell: 1\n"
        "materials: {a: {kind: sand}}\n"
        "emitters: [{material: a, shape: {cylinder: {from: [0, 0, 0], to: [0.02, 0, 0], radius: 0.04}}, "
        "velocity: [1, 0, 0], rate: 0.02, end: 0.06}]\n");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 12);
    const double fits = 5.0265e-3 * (0.06 + 0.02) / sim->world->particle_volume;
    print_message("%d grains, %.0f fit\n", (int)sim->particles.count, fits);
    CHECK_NEAR(sim->particles.count / fits, 1.0, 0.05);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void threads_and_resume_change_nothing(void **unused)
{
    (void)unused;
    check_same_bytes(
        "wadi: 1\nsolver: dem\nfps: 96\ndomain: {min: [0, 0, 0], max: [0.08, 0.08, 0.3]}\ncell_size: 0.01\n"
        "particles_per_cell: 1\nmaterials: {sand: {kind: sand}}\ndem: {shape: pairs}\n"
        "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.08, 0.08, 0.06]}}}]\n"
        "emitters: [{material: sand, shape: {sphere: {center: [0.04, 0.04, 0.2], radius: 0.03}}, "
        "velocity: [0, 0, -1], rate: 1e-3}]\n",
        2, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_keep_their_height),
        cmocka_unit_test(packed_grains_do_not_overlap),
        cmocka_unit_test(an_elastic_gas_keeps_its_energy),
        cmocka_unit_test(jets_are_straight_and_full),
        cmocka_unit_test(emitters_make_what_fits),
        cmocka_unit_test(an_emitter_that_ends_full_makes_what_fits),
        cmocka_unit_test(threads_and_resume_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
