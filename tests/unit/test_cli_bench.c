/* The bytes that wadi bench counts for a step, and the triad they are compared with. */
#include "expect.h"

#include "../../cli/bench_stream.c"

/* Two steps of 1000 particles in 125 cells of 300, 4 and 5 iterations of pressure, 10 and 20 of friction. */
static void stages_are_counted_by_what_they_must_move(void **unused)
{
    (void)unused;
    WadiProfile before = { 0 };
    WadiProfile first = {
        .cells = 125, .grid_cells = 300, .pressure_iterations = 4, .friction_iterations = 10
    };
    WadiProfile second = { .stage_count = 6,
                           .stage = { "sort", "extend", "particles to grid", "grid to particles", "friction",
                                      "pressure" },
                           .seconds = { 1.0, 1.0, 1.0, 2.0, 1.0, 1.0 },
                           .particle_steps = 2000,
                           .particle_bytes = 60,
                           .cells = 125,
                           .grid_cells = 300,
                           .pressure_iterations = 9,
                           .friction_iterations = 30 };
    WadiBenchWork work = { 0 };
    wadi_bench_work_add(&work, &before, &first);
    wadi_bench_work_add(&work, &first, &second);
    assert_int_equal(work.cells, 250);
    assert_int_equal(work.grid_cells, 600);
    assert_int_equal(work.pressure_cells, 125 * 9);
    assert_int_equal(work.friction_cells, 125 * 30);
    WadiBenchStreams streams;
    wadi_bench_streams(&second, &work, &streams);
    assert_int_equal(streams.count, WADI_BENCH_STREAM_MAX);
    /* Every column in and out; 37 bytes per particle in and 6 floats per cell out; 37 and 24 in, 36 out, in
     * two seconds. */
    CHECK_NEAR(streams.rate[0], 2000.0 * 120.0, 1e-6);
    CHECK_NEAR(streams.rate[1], 2000.0 * 37.0 + 600.0 * 24.0, 1e-6);
    CHECK_NEAR(streams.rate[2], 0.5 * (2000.0 * 73.0 + 600.0 * 24.0), 1e-6);
    /* 71 floats per cell and friction iteration; 24 per pressure iteration. */
    CHECK_NEAR(streams.rate[3], 125.0 * 30.0 * 4.0 * 71.0, 1e-6);
    CHECK_NEAR(streams.rate[4], 125.0 * 9.0 * 4.0 * 24.0, 1e-6);
}

static void stages_that_did_not_run_are_left_out(void **unused)
{
    (void)unused;
    const WadiProfile profile = { .stage_count = 1, .stage = { "move" }, .seconds = { 1.0 } };
    const WadiBenchWork work = { 0 };
    WadiBenchStreams streams;
    wadi_bench_streams(&profile, &work, &streams);
    assert_int_equal(streams.count, 0);
}

/* No memory is slower than 50 MB/s or faster than 50 TB/s; any number of threads, also 0, is valid. */
static void a_triad_is_measured_on_any_number_of_threads(void **unused)
{
    (void)unused;
    for (int threads = 0; threads < 4; threads += 3) {
        double rate = wadi_bench_triad(threads);
        CHECK_AT_MOST(5e7, rate);
        CHECK_AT_MOST(rate, 5e13);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_are_counted_by_what_they_must_move),
        cmocka_unit_test(stages_that_did_not_run_are_left_out),
        cmocka_unit_test(a_triad_is_measured_on_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
