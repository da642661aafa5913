/* Limits of the flow in pores: no particle gets more water than it has room, and full ones pass it on. */
#include "porous_column.h"

/* Without suction, and with a permeability in proportion to S, weight may bring more in a step than slow sand
 * has room: the lowest particle is then full, and nothing is lost. */
static void slow_flows_are_limited_where_weight_brings_too_much(void **unused)
{
    (void)unused;
    Column c;
    WadiError error = { 0 };
    WadiSphPorousReport report;
    column_init(&c, 20, 0, 0, 0.005, 9.81);
    WadiPoresDef *pores = &c.materials[SAND].pores;
    pores->capillary_pressure = 0.0;
    pores->flow_exponent = 1.0;
    double before = 0.0, after = 0.0;
    for (int i = 0; i < 20; ++i) {
        c.water[i] = quantum(0.4 * 0.89);
        before += c.water[i];
    }
    /* A whole step is just monotone. A particle gets K rho g dt / (viscosity porosity dx) of its pores. */
    const double part = 0.89 * c.in.lattice.laplacian / c.in.lattice.diagonal;
    c.in.dt = part * 1e-3 * 0.4 * 0.005 / (1e-9 * 1000.0 * 9.81);
    assert_true(part * 0.89 > 0.11);
    CHECK_OK(wadi_sph_porous_exchange(c.water, c.velocity, &c.in, &report, &c.arena, &error), error);
    assert_int_equal(report.fast, 0);
    for (int i = 0; i < 20; ++i) {
        after += c.water[i];
        assert_true(c.water[i] <= 0.4 * (1.0 + WADI_SPH_SLACK));
    }
    assert_true(after == before);
    CHECK_NEAR(c.water[0], 0.4 * (1.0 + WADI_SPH_SLACK), 1e-9);
    CHECK_NEAR(c.water[19], 0.4 * 0.89 * (1.0 - part), 1e-6);
    column_free(&c);
}

/* Gives particle i the number (step i) modulo the count, so that neighbours have distant ones. */
static void column_shuffle(Column *c, int step)
{
    static Column old;
    const int count = c->pairs.count;
    int64_t n = 0;
    old = *c;
    for (int k = 0; k < count; ++k) {
        const int to = (int)((int64_t)k * step % count);
        c->is_sand[to] = old.is_sand[k], c->material[to] = old.material[k], c->water[to] = old.water[k];
        c->place[to] = old.place[k], c->z[to] = old.z[k], c->same[to] = old.same[k];
        c->start[to + 1] = old.start[k + 1] - old.start[k]; /* the number of neighbours first */
    }
    for (int k = 0; k < count; ++k) {
        c->start[k + 1] += c->start[k];
    }
    for (int k = 0; k < count; ++k) {
        n = c->start[(int64_t)k * step % count];
        for (int64_t m = old.start[k]; m < old.start[k + 1]; ++m) {
            c->offset[n++] = 16 * (uint32_t)((int64_t)(old.offset[m] / 16) * step % count);
        }
    }
}

/* Full sand takes only what it loses: in one step the water below makes room for that above, through two
 * thousand particles in any order. */
static void a_step_moves_water_through_all_of_a_long_column(void **unused)
{
    (void)unused;
    static Column c;
    const int count = COLUMN_MAX, step = 1000;
    column_init(&c, count, 1, 1, 0.005, 9.81);
    for (int i = 1; i < count - 1; ++i) {
        c.water[i] = floor(0.4 * WADI_WATER_QUANTA) / WADI_WATER_QUANTA;
    }
    column_shuffle(&c, step);
    const int top = (int)((int64_t)(count - 1) * step % count);
    WadiError error = { 0 };
    WadiSphPorousReport report;
    c.in.dt = 0.001;
    CHECK_OK(wadi_sph_porous_exchange(c.water, c.velocity, &c.in, &report, &c.arena, &error), error);
    const double flow = (1.0 - c.water[top]) * 0.005 / c.in.dt, exact = 1e-6 * 9810.0;
    print_message("long column: %.5e m/s into it, Darcy %.5e\n", flow, exact);
    CHECK_NEAR(flow / exact, 1.0, 0.05);
    for (int i = 0; i < count; ++i) {
        assert_true(!c.is_sand[i] || c.water[i] > 0.3999999);
    }
    column_free(&c);
}

/* Where all sand is full and all pairs are fast: 30 bytes a particle, 32 of the gains and 24 of the heads;
 * and what does not grow with the particles. */
static void the_flow_needs_eighty_six_bytes_a_particle(void **unused)
{
    (void)unused;
    static Column c;
    column_init(&c, COLUMN_MAX, 1, 1, 0.005, 9.81);
    for (int i = 1; i < COLUMN_MAX - 1; ++i) {
        c.water[i] = floor(0.4 * WADI_WATER_QUANTA) / WADI_WATER_QUANTA;
    }
    column_step(&c, 0.001, 0);
    print_message("%.1f bytes a particle\n", (double)c.arena.high_water / COLUMN_MAX);
    CHECK_AT_MOST((double)c.arena.high_water, 86.0 * COLUMN_MAX + 2.0 * 256 * 8 + 20 * 64);
    column_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_flows_are_limited_where_weight_brings_too_much),
        cmocka_unit_test(a_step_moves_water_through_all_of_a_long_column),
        cmocka_unit_test(the_flow_needs_eighty_six_bytes_a_particle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
