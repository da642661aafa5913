/* The stories of the gallery's sculptures, on coarse versions of the same files: a sculpture of moist sand
 * stands, water reaches it, its base is wet first and fails first, and it slumps to mud. */
#include <math.h>
#include <stdlib.h>

#include "gallery_entry.h"
#include "scene_sim.h"
#include "sim/sim.h"
#include "world/water.h"

/* What is left of the sculpture, by volume. */
typedef struct State {
    double top;       /* m: all but a hundredth of the sand lies below */
    double centre;    /* m: mean height of the sand */
    double low, high; /* saturation of the sand in the lowest fifth and the upper half of its first height */
} State;

static double part_above(const WadiParticles *p, const double *volume, double z)
{
    double all = 0.0, above = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        all += p->material[i] == 0 ? volume[i] : 0.0;
        above += p->material[i] == 0 && p->z[i] > z ? volume[i] : 0.0;
    }
    return above / all;
}

static State look_at(const WadiSim *sim, double height)
{
    const WadiParticles *p = &sim->particles;
    const double *volume = wadi_volume_column(p);
    const float *wetness = column_of(p, "wetness");
    State state = { 0 };
    double low = 0.0, high = 1.0, sum[3] = { 0 }, of[3] = { 0 };
    for (int n = 0; n < 30; ++n) {
        const double middle = 0.5 * (low + high);
        *(part_above(p, volume, middle) > 0.01 ? &low : &high) = middle;
    }
    state.top = high;
    for (int32_t i = 0; i < p->count; ++i) {
        if (p->material[i] != 0) {
            continue;
        }
        const int where = p->z[i] < 0.2 * height ? 0 : p->z[i] > 0.5 * height ? 1 : 2;
        sum[where] += volume[i] * (double)wetness[i];
        of[where] += volume[i];
        state.centre += volume[i] * p->z[i];
    }
    state.centre /= of[0] + of[1] + of[2];
    state.low = sum[0] / of[0];
    state.high = of[1] > 0.0 ? sum[1] / of[1] : 0.0;
    return state;
}

/* Pairs of sand that were neighbours after the first step, which merges what lies inside. What falls or turns
 * in one piece keeps their lengths. */
typedef struct Bond {
    uint32_t a, b; /* ids */
    double length; /* m */
    double size;   /* m: the mean one of both */
} Bond;

typedef struct Bonds {
    int32_t ids, count; /* ids below the first are of the start */
    Bond *bond;
    double (*start)[3], (*now)[4]; /* m, and saturation; by id. Saturation below 0: merged */
    double height;                 /* m */
} Bonds;

static double length_of(const double *a, const double *b)
{
    const double d[3] = { a[0] - b[0], a[1] - b[1], a[2] - b[2] };
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static Bonds tie_bonds(WadiSim *sim, double height)
{
    WadiError error = { 0 };
    const WadiParticles *p = &sim->particles;
    const size_t count = (size_t)p->count;
    const double spacing = cbrt(sim->world->particle_volume);
    Bonds bonds = { .ids = p->count, .height = height };
    CHECK_OK(wadi_sim_step(sim, &error), error);
    const double *volume = wadi_volume_column(p);
    bonds.bond = calloc(16 * count, sizeof *bonds.bond);
    bonds.start = calloc(count, sizeof *bonds.start);
    bonds.now = calloc(count, sizeof *bonds.now);
    for (int32_t i = 0; i < p->count; ++i) {
        assert_true(p->id[i] < count);
        double *x = bonds.start[p->id[i]];
        x[0] = p->x[i], x[1] = p->y[i], x[2] = p->z[i];
    }
    for (int32_t i = 0; i < p->count; ++i) {
        for (int32_t j = 0; j < i && p->material[i] == 0; ++j) {
            const Bond bond = { p->id[i], p->id[j], length_of(bonds.start[p->id[i]], bonds.start[p->id[j]]),
                                0.5 * spacing * (cbrt(volume[i]) + cbrt(volume[j])) };
            if (p->material[j] == 0 && bond.length < 1.3 * bond.size && bonds.count < 16 * bonds.ids) {
                bonds.bond[bonds.count++] = bond;
            }
        }
    }
    return bonds;
}

static void free_bonds(const Bonds *bonds)
{
    free(bonds->bond);
    free(bonds->start);
    free(bonds->now);
}

/* What became of the bonds in the thirds of the first height. */
typedef struct Damage {
    double strain[3];   /* mean change of length, at most 1, over the size */
    double broken, wet; /* part of all that changed by 0.3 or more, and the saturation there */
} Damage;

static Damage find_damage(const WadiSim *sim, const Bonds *bonds)
{
    const WadiParticles *p = &sim->particles;
    const float *wetness = column_of(p, "wetness");
    Damage damage = { 0 };
    double of[3] = { 0 };
    for (int32_t i = 0; i < bonds->ids; ++i) {
        bonds->now[i][3] = -1.0;
    }
    for (int32_t i = 0; i < p->count; ++i) {
        if (p->id[i] < (uint32_t)bonds->ids && p->material[i] == 0) {
            double *x = bonds->now[p->id[i]];
            x[0] = p->x[i], x[1] = p->y[i], x[2] = p->z[i], x[3] = (double)wetness[i];
        }
    }
    for (int32_t n = 0; n < bonds->count; ++n) {
        const Bond *bond = &bonds->bond[n];
        const double *a = bonds->now[bond->a], *b = bonds->now[bond->b];
        const double z = 0.5 * (bonds->start[bond->a][2] + bonds->start[bond->b][2]) / bonds->height;
        const int third = z < 1.0 / 3.0 ? 0 : z < 2.0 / 3.0 ? 1 : 2;
        if (a[3] >= 0.0 && b[3] >= 0.0) {
            const double change = fmin(1.0, fabs(length_of(a, b) - bond->length) / bond->size);
            damage.strain[third] += change;
            damage.broken += change >= 0.3;
            damage.wet += change >= 0.3 ? 0.5 * (a[3] + b[3]) : 0.0;
            of[third] += 1.0;
        }
    }
    damage.wet /= fmax(1.0, damage.broken);
    damage.broken /= of[0] + of[1] + of[2];
    for (int third = 0; third < 3; ++third) {
        damage.strain[third] /= fmax(1.0, of[third]);
    }
    return damage;
}

typedef struct Story {
    const char *name;
    const char *const *sets;
    int set_count;
    int standing, end;     /* frames: before the water is there, and the last one */
    double stands, slumps; /* of the mean height of the sand, at least and at most */
    double wet;            /* saturation of the base in the end, at least */
    bool fails_at_base;    /* where the water comes along the floor */
} Story;

/* The change of length from which on a third has failed: moist sand that stands settles by less, and half of
 * it is what a bond of a lattice has after a shear of one half. */
static const double FAILED = 0.15;

/* Runs the frames, and returns the damage of the first one in which the base or the top has failed. */
static Damage find_failure(WadiSim *sim, const Bonds *bonds, int frames)
{
    Damage first = { 0 };
    for (int n = 0; n < frames; ++n) {
        run_frames(sim, 1);
        const Damage now = find_damage(sim, bonds);
        const bool has_failed = fmax(now.strain[0], now.strain[2]) > FAILED;
        first = first.broken == 0.0 && has_failed ? now : first;
    }
    return first;
}

static void check_story(const Story *story)
{
    WadiScene *scene = NULL;
    WadiSim *sim = start_entry(&scene, story->name, story->sets, story->set_count);
    const double height = look_at(sim, 1.0).top;
    const State start = look_at(sim, height);
    const Bonds bonds = tie_bonds(sim, height);
    run_frames(sim, story->standing);
    const State before = look_at(sim, height);
    const Damage intact = find_damage(sim, &bonds);
    const Damage first = find_failure(sim, &bonds, story->end - story->standing);
    const Damage last = find_damage(sim, &bonds);
    const State after = look_at(sim, height);
    print_message(
        "%s: %.1f cm tall; before the water its centre at %.2f of its height; at the end %.2f, top %.2f, "
        "base %.2f wet, upper half %.2f\n",
        story->name, 100.0 * height, before.centre / start.centre, after.centre / start.centre,
        after.top / height, after.low, after.high);
    print_message(
        "  strain of the lowest and the highest third %.2f, %.2f before the water, %.2f, %.2f when one "
        "fails, %.2f, %.2f at the end; %.2f of it flowed, saturation there %.2f\n",
        intact.strain[0], intact.strain[2], first.strain[0], first.strain[2], last.strain[0], last.strain[2],
        last.broken, last.wet);
    assert_true(before.centre > story->stands * start.centre);
    CHECK_AT_MOST(after.centre, story->slumps * start.centre);
    assert_true(after.low > story->wet);
    assert_true(after.high < after.low);
    CHECK_AT_MOST(fmax(intact.strain[0], intact.strain[2]), FAILED);
    if (story->fails_at_base) {
        CHECK_AT_MOST(first.strain[2], 0.75 * first.strain[0]);
    }
    assert_true(last.broken > 0.2 && last.wet > 0.8); /* mud: what flows is nearly saturated */
    CHECK_AT_MOST(fabs(wadi_sim_mass_drift(sim, WADI_MATERIAL_WATER)), 1e-12);
    free_bonds(&bonds);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void a_wave_soaks_a_duck(void **unused)
{
    (void)unused;
    const char *const sets[] = { is_long_run() ? "cell_size=0.01" : "cell_size=0.014" };
    check_story(&(Story){ "sand-duck", sets, 1, 3, 22, 0.9, 0.75, 0.9, true });
}

static void a_bear_slumps_in_a_wave(void **unused)
{
    (void)unused;
    const char *const sets[] = { is_long_run() ? "cell_size=0.015" : "cell_size=0.024" };
    check_story(&(Story){ "sand-bear", sets, 1, 3, 66, 0.9, 0.8, 0.9, true });
}

/* The meshes are downloaded: a post with a head stands for the bunny, balls for the dragons. */
#define POST                                                                                                 \
    "bodies[0].shape={union: [{cylinder: {from: [0, 0, 0], to: [0, 0, 0.05], radius: 0.035}}, {sphere: "     \
    "{center: [0, 0, 0.08], radius: 0.035}}]}"

static void balls_of_water_bring_a_figure_down(void **unused)
{
    (void)unused;
    const char *const sets[] = { "cell_size=0.011", POST,
                                 "bodies[1].shape={sphere: {center: [-0.11, 0, 0.1], radius: 0.04}}",
                                 "bodies[2].shape={sphere: {center: [0.11, 0, 0.1], radius: 0.04}}" };
    if (!is_long_run()) {
        skip();
    }
    check_story(&(Story){ "sand-bunny-dragons", sets, 4, 1, 50, 0.9, 0.9, 0.7, false });
}

static void a_bear_of_water_falls_on_a_figure(void **unused)
{
    (void)unused;
    const char *const sets[] = { "cell_size=0.011", POST };
    if (!is_long_run()) {
        skip();
    }
    check_story(&(Story){ "sand-bunny-bear", sets, 2, 1, 60, 0.9, 0.9, 0.7, false });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wave_soaks_a_duck),
        cmocka_unit_test(a_bear_slumps_in_a_wave),
        cmocka_unit_test(balls_of_water_bring_a_figure_down),
        cmocka_unit_test(a_bear_of_water_falls_on_a_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
