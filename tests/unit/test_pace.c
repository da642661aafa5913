/* The estimate of a run's remaining time. */
#include "api/pace.h"

#include <math.h>

#include "expect.h"

/* Set-up, then `steps` steps per frame; frame f takes cost(f) seconds. */
typedef struct Story {
    double set_up, first_step;
    int frames, steps;
    double (*cost)(double frame);
} Story;

static double even(double frame)
{
    (void)frame;
    return 1.9;
}

/* A column that falls for ten frames, splashes and comes to rest. */
static double splash(double frame)
{
    return frame < 10.0 ? 1.0 : frame < 40.0 ? 3.0 : 1.5;
}

/* The largest ratio, in either direction, between a shown estimate and the true time, after `from` frames. */
static double worst_ratio(const Story *story, double from, double *first_shown)
{
    WadiPace pace = { 0 };
    double total = 0.0, now = story->set_up, worst = 1.0;
    for (int i = 0; i < story->frames * story->steps; ++i) {
        total += story->cost((double)i / story->steps) / story->steps;
    }
    total += story->set_up + story->first_step;
    *first_shown = -1.0;
    wadi_pace_add(&pace, 0.0, now);
    now += story->first_step;
    for (int i = 0; i < story->frames * story->steps; ++i) {
        now += story->cost((double)i / story->steps) / story->steps;
        double progress = (double)(i + 1) / story->steps;
        wadi_pace_add(&pace, progress, now);
        double each = wadi_pace_seconds_per_frame(&pace);
        if (each < 0.0 || progress > 0.9 * story->frames) {
            continue;
        }
        *first_shown = *first_shown < 0.0 ? progress : *first_shown;
        double ratio = each * (story->frames - progress) / (total - now);
        if (progress >= from) {
            worst = fmax(worst, fmax(ratio, 1.0 / ratio));
        }
    }
    return worst;
}

static void set_up_does_not_count(void **unused)
{
    (void)unused;
    /* A mesh that takes 14 s to read, before frames of 1.9 s. */
    Story story = { 14.0, 2.0, 72, 3, even };
    double shown;
    assert_true(worst_ratio(&story, 0.0, &shown) < 1.001);
    assert_true(shown >= 1.0 && shown < 2.5);
}

static void the_estimate_follows_the_last_frames(void **unused)
{
    (void)unused;
    Story story = { 5.0, 1.0, 100, 2, splash };
    double shown;
    assert_true(worst_ratio(&story, 0.0, &shown) < 2.3);
    assert_true(worst_ratio(&story, 60.0, &shown) < 1.25);
}

static void slow_frames_are_estimated_before_they_end(void **unused)
{
    (void)unused;
    Story story = { 14.0, 20.0, 50, 20, even };
    double shown;
    WadiPace pace = { 0 };
    assert_true(wadi_pace_seconds_per_frame(&pace) < 0.0);
    worst_ratio(&story, 0.0, &shown);
    assert_true(shown >= 1.0);
    wadi_pace_add(&pace, 0.0, 0.0);
    for (int i = 1; i <= 8; ++i) {
        wadi_pace_add(&pace, 0.05 * i, 15.0 * i);
    }
    assert_float_equal(wadi_pace_seconds_per_frame(&pace), 300.0, 1e-6);
}

static void a_resumed_run_begins_where_it_is(void **unused)
{
    (void)unused;
    WadiPace pace = { 0 };
    for (int i = 0; i <= 4; ++i) {
        wadi_pace_add(&pace, 40.0 + i, 100.0 + 2.0 * i);
    }
    assert_float_equal(wadi_pace_seconds_per_frame(&pace), 2.0, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_up_does_not_count),
        cmocka_unit_test(the_estimate_follows_the_last_frames),
        cmocka_unit_test(slow_frames_are_estimated_before_they_end),
        cmocka_unit_test(a_resumed_run_begins_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
