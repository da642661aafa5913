/* dem: whole scenes. The same bytes for any number of threads and after a resume; bad values are refused. */
#include "dem/dem.h"
#include "same_bytes.h"

#define BOX                                                                                                  \
    "wadi: 1\nsolver: dem\nfps: 50\ndomain: {min: [0, 0, 0], max: [0.12, 0.1, 0.2], walls: {friction: "      \
    "0.5}}\ncell_size: 0.01\nparticles_per_cell: 1\nmaterials: {sand: {kind: sand}}  \n"

static const char *const COLUMN =
    BOX "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.05, 0.1, 0.1]}}}]\n"
        "colliders: [{shape: {sphere: {center: [0.09, 0.05, 0], radius: 0.02}}}]\n";

static const char *const POURED = BOX
    "emitters: [{material: sand, shape: {sphere: {center: [0.06, 0.05, 0.15], radius: 0.02}}, rate: 1e-3, "
    "velocity: [0, 0, -0.5]}]\n"
    "drains: [{shape: {box: {min: [0.05, 0.04, 0], max: [0.07, 0.06, 0.01]}}}]\n"
    "colliders: [{shape: {box: {min: [0, 0, 0], max: [0.02, 0.1, 0.02]}, translate: {keys: [[0, [0, 0, 0]], "
    "[1, [0.05, 0, 0]]]}}}]\n";

static void threads_and_resume_change_nothing(void **unused)
{
    (void)unused;
    check_same_bytes(COLUMN, 3, 3);
    check_same_bytes(POURED, 5, 5);
}

/* Nothing is lost, nothing leaves the box, grains end apart and slow. */
static void a_column_comes_to_rest_in_its_box(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(COLUMN);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 75); /* at 1 s single grains may still roll off the ball */
    const WadiParticles *p = &sim->particles;
    const float *radius = wadi_particles_column(p, wadi_particles_find_column(p, "radius"));
    double energy = 0.0, deepest = 0.0;
    assert_int_equal(p->count, 500);
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    for (int32_t i = 0; i < p->count; ++i) {
        const double r = (double)radius[i];
        assert_true(p->x[i] > 0.9 * r && p->x[i] < 0.12 - 0.9 * r && p->z[i] > 0.9 * r);
        energy += (double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]) / p->count;
        for (int32_t j = 0; j < i; ++j) {
            const WadiVec3 d = { p->x[j] - p->x[i], p->y[j] - p->y[i], p->z[j] - p->z[i] };
            deepest = fmax(deepest, (r + (double)radius[j] - wadi_norm(d)) / 0.01);
        }
        const WadiVec3 from_ball = { p->x[i] - 0.09, p->y[i] - 0.05, p->z[i] };
        assert_true(wadi_norm(from_ball) > 0.02 + 0.9 * r);
    }
    CHECK_AT_MOST(sqrt(energy), 0.003);
    CHECK_AT_MOST(deepest, 0.05); /* rows from wall to wall are squeezed */
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void bad_values_are_refused(void **unused)
{
    (void)unused;
    static const char *const bad[][3] = {
        { "dem: {grain_size: 0}\n", "dem.grain_size", "more than 0" },
        { "dem: {restitution: 2}\n", "dem.restitution", "2" },
        { "dem: {grain_size: 0.2}\n", "dem.grain_size", "fit" },
        { "dem: {grain_size: 0.02}\n", "dem.grain_size", "spacing" },
        { "dem: {size_spread: -1}\n", "dem.size_spread", "-1" },
        { "dem: {young: 0}\n", "dem.young", "0" },
        { "bodies: [{material: water, shape: {sphere: {radius: 1}}}]\n", "solver", "water" },
    };
    for (size_t n = 0; n < sizeof bad / sizeof bad[0]; ++n) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s%s", BOX, bad[n][0],
                 n == 6 ? "" : "bodies: [{material: sand, shape: {sphere: {radius: 0.05}}}]\n");
        if (n == 6) {
            char *kind = strstr(text, "{sand: {kind: sand}}");
            memcpy(kind, "{water: {kind: water}}", 22);
        }
        WadiSceneDef def = wadi_default_scene_def();
        def.text = text;
        def.path = "bad.yaml";
        WadiScene *scene = NULL;
        WadiError error = { 0 };
        const WadiStatus status = wadi_scene_load(&scene, &def, &error);
        if (status == WADI_OK || strstr(error.text, bad[n][1]) == NULL ||
            strstr(error.text, bad[n][2]) == NULL) {
            print_error("%s: %s\n", bad[n][0], error.text);
            fail();
        }
    }
}

#define TOWER(water)                                                                                         \
    "wadi: 1\nsolver: dem\nfps: 50\ndomain: {min: [0, 0, 0], max: [0.2, 0.05, 0.2], walls: {friction: "      \
    "0.5}}\ncell_size: 0.01\nparticles_per_cell: 1\nmaterials: {sand: {kind: sand, friction_angle: 30}}\n"   \
    "bodies: [{material: sand, saturation: " water                                                           \
    ", shape: {box: {min: [0, 0, 0], max: [0.05, 0.05, 0.1]}}}]\n"

/* Moist sand stands where dry sand collapses; saturated sand has no bridges and collapses too. */
static void moist_sand_stands(void **unused)
{
    (void)unused;
    double height[3];
    const char *const tower[3] = { TOWER("0"), TOWER("0.4"), TOWER("1") };
    for (int n = 0; n < 3; ++n) {
        WadiScene *scene = load_scene(tower[n]);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 30);
        height[n] = mean_height(&sim->particles);
        assert_int_equal(wadi_sim_lost_particles(sim), 0);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
    print_message("mean heights: dry %.4f, moist %.4f, saturated %.4f m\n", height[0], height[1], height[2]);
    CHECK_AT_MOST(0.043, height[1]); /* of 0.05 at first, before it settles */
    CHECK_AT_MOST(height[0], 0.035);
    CHECK_AT_MOST(height[2], 0.035);
    check_same_bytes(TOWER("0.4"), 3, 3);
}

/* A tower of dry sand that becomes cohesive before it falls stands; one whose friction angle is 1 degree
 * when it has collapsed runs flat. */
static void keyframes_of_materials_act(void **unused)
{
    (void)unused;
    const char *const sand[3] = { "friction_angle: 30",
                                  "friction_angle: 30, cohesion: {keys: [[0, 0], [0.01, 2000]]}",
                                  "friction_angle: {keys: [[0.1, 30], [0.2, 1]]}" };
    double height[3];
    for (int n = 0; n < 3; ++n) {
        char text[1024];
        const char *const tower = TOWER("0");
        const char *const at = strstr(tower, "friction_angle: 30");
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - tower), tower, sand[n],
                 at + strlen("friction_angle: 30"));
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 30);
        height[n] = mean_height(&sim->particles);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
    print_message("mean heights: dry %.4f, cohesive %.4f, slippery %.4f m\n", height[0], height[1],
                  height[2]);
    CHECK_AT_MOST(0.043, height[1]);
    CHECK_AT_MOST(height[2], 0.8 * height[0]);
}

/* A tower of dry sand that is made cohesive while it falls, with contacts that exist, stands from then on. */
static void cohesion_that_is_set_while_it_runs_acts(void **unused)
{
    (void)unused;
    char text[1024];
    const char *const tower = TOWER("0");
    const char *const at = strstr(tower, "friction_angle: 30");
    snprintf(text, sizeof text, "%.*sfriction_angle: 30, cohesion: 2000%s", (int)(at - tower), tower,
             at + strlen("friction_angle: 30"));
    WadiScene *dry = load_scene(tower), *moist = load_scene(text);
    WadiSim *sim = start_sim(dry, 1);
    WadiError error = { 0 };
    for (int k = 0; k < 25; ++k) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
    }
    CHECK_OK(wadi_sim_change_scene(sim, moist, &error), error);
    run_frames(sim, 30);
    print_message("mean height %.4f m\n", mean_height(&sim->particles));
    CHECK_AT_MOST(0.043, mean_height(&sim->particles));
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(dry);
    wadi_scene_destroy(moist);
}

/* Pairs of grains of which one is awake and whose gap is below `gap`. */
static int touching_pairs(const WadiSim *sim, double gap)
{
    const WadiDem *dem = sim->solver;
    const WadiParticles *p = &sim->particles;
    int count = 0;
    for (int32_t i = dem->sleep.count; i < p->count; ++i) {
        const double own = (double)dem->grains.shift[i][3] + gap;
        for (int32_t j = 0; j < i; ++j) {
            const WadiVec3 d = { p->x[j] - p->x[i], p->y[j] - p->y[i], p->z[j] - p->z[i] };
            const double reach = own + (double)dem->grains.shift[j][3];
            count += wadi_dot(d, d) < reach * reach;
        }
    }
    return count;
}

static int listed_contacts(const WadiDem *dem)
{
    WadiDemContacts at;
    int count = 0;
    for (wadi_dem_contacts_begin(&at, &dem->list.pairs); wadi_dem_contacts_next(&at);) {
        count += 1;
    }
    return count;
}

/* However fast grains are, all that touch are in the list: a block is thrown at a bed, and bounces; each step
 * has the contacts that a look at every two grains finds. Some of them freeze in the end. */
static void check_contacts(const char *mode)
{
    static const char *const thrown =
        "bodies:\n  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.12, 0.1, 0.06]}}}\n"
        "  - {material: sand, velocity: [1, 0.3, -3], shape: {box: {min: [0.02, 0.02, 0.12], max: [0.08, "
        "0.07, "
        "0.16]}}}\n";
    char text[1024];
    snprintf(text, sizeof text, "%sdem: {mode: %s, sleep: false}\n%s", BOX, mode, thrown);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiDem *dem = sim->solver;
    WadiError error = { 0 };
    int least = 0, most = 0, checked = 0;
    for (int k = 0; k < 2000; ++k) {
        const int32_t asleep = dem->sleep.count;
        const int64_t changes = dem->surface != NULL ? dem->surface->froze + dem->surface->woke : 0;
        CHECK_OK(wadi_sim_step(sim, &error), error);
        const bool is_same = dem->surface == NULL || dem->surface->froze + dem->surface->woke == changes;
        if (k % 5 == 0 && k > 0 && is_same && dem->sleep.count == asleep) {
            const int contacts = listed_contacts(dem);
            assert_in_range(contacts, least, most);
            checked += contacts > 100;
        }
        if (k % 5 == 4) { /* the contacts of the next step */
            least = touching_pairs(sim, -1e-8);
            most = touching_pairs(sim, 1e-8);
        }
    }
    print_message("%s: %d steps with contacts, %d at last, %d asleep\n", mode, checked, most,
                  dem->sleep.count);
    CHECK_AT_MOST(300, checked);
    assert_true((dem->sleep.count > 0) == (dem->surface != NULL));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void lists_have_every_contact(void **unused)
{
    (void)unused;
    check_contacts("full");
    check_contacts("surface_flow");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_resume_change_nothing),
        cmocka_unit_test(a_column_comes_to_rest_in_its_box),
        cmocka_unit_test(lists_have_every_contact),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(moist_sand_stands),
        cmocka_unit_test(keyframes_of_materials_act),
        cmocka_unit_test(cohesion_that_is_set_while_it_runs_acts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
