/* Surfaces moved until they enclose a given volume: whole and cut balls of known volume. Lengths in spacings.
 * The chords of marching cubes cost 0.4 % of the volume of such a ball. */
#include "core/parallel.h"
#include "surface/field/field_band.h"
#include "surface_fixture.h"

static const double CELL = 0.7, PI = 3.14159265358979324, SLACK[2] = { 0.1, 0.28 };

static double ball_volume(double radius)
{
    return 4.0 / 3.0 * PI * radius * radius * radius;
}

/* A ball of radius 8 about the centre, with all rows of the box; moved to enclose `volume`, clipped and
 * meshed. */
static WadiSurfaceFacts wrap(const WadiFieldDef *def, double volume)
{
    enum { TILES = 4, SIDE = 16 * TILES };
    const int low[3] = { -TILES, -TILES, -TILES }, high[3] = { TILES, TILES, TILES },
              size[3] = { SIDE, SIDE, SIDE };
    const TestBall ball = { .center = { 0.11, -0.07, 0.05 }, .radius = 8.0 };
    float *value = malloc(sizeof *value * SIDE * SIDE * SIDE);
    assert_non_null(value);
    for (int n = 0; n < SIDE * SIDE * SIDE; ++n) {
        int i = n % SIDE, j = n / SIDE % SIDE, k = n / (SIDE * SIDE);
        WadiVec3 x = { CELL * (i - SIDE / 2), CELL * (j - SIDE / 2), CELL * (k - SIDE / 2) };
        value[box_index(size, i, j, k)] = (float)ball_distance(&ball, x);
    }
    FieldFixture fixture;
    WadiError error = { 0 };
    field_from_values(&fixture, low, high, CELL, value, false);
    free(value);
    CHECK_OK(wadi_field_match_volume(&fixture.field, def, volume, 1.0, &fixture.arena, &error), error);
    if (def->is_clipped) {
        wadi_field_clip(&fixture.field, def->clip);
    }
    WadiSurfaceMesh surface = march_fixture(&fixture);
    WadiSurfaceFacts facts = surface_facts(&surface);
    assert_true(facts.is_closed && facts.is_oriented && facts.is_manifold);
    wadi_surface_mesh_free(&surface);
    field_free(&fixture);
    return facts;
}

static void a_ball_holds_its_volume(void **unused)
{
    (void)unused;
    const WadiFieldDef def = { .volume_slack = { SLACK[0], SLACK[1] } };
    const double radius[] = { 7.92, 8.0, 8.1, 8.25 };
    for (int n = 0; n < 4; ++n) {
        double volume = ball_volume(radius[n]);
        CHECK_NEAR(wrap(&def, volume).volume / volume, 1.0, 0.008);
    }
}

static void it_goes_no_further_than_it_may(void **unused)
{
    (void)unused;
    const WadiFieldDef def = { .volume_slack = { SLACK[0], SLACK[1] } }, none = { .support = 2.0 };
    CHECK_NEAR(wrap(&def, ball_volume(9.0)).volume / ball_volume(8.0 + SLACK[1]), 1.0, 0.008);
    CHECK_NEAR(wrap(&def, ball_volume(7.0)).volume / ball_volume(8.0 - SLACK[0]), 1.0, 0.008);
    CHECK_NEAR(wrap(&none, ball_volume(9.0)).volume / ball_volume(8.0), 1.0, 0.008);
    /* Fifty particles may move it by a tenth of that. */
    CHECK_NEAR(wrap(&def, 50.0).volume / ball_volume(8.0 - 0.1 * SLACK[0]), 1.0, 0.008);
}

/* Half of the ball before a wall: only the round side may move. */
static void what_walls_cut_off_does_not_count(void **unused)
{
    (void)unused;
    const double far = 1000.0;
    for (int n = 0; n < 3; ++n) {
        WadiFieldDef def = { .volume_slack = { SLACK[0], SLACK[1] }, .is_clipped = true };
        double at[3] = { 0.11 + 1e-3 * n, -0.07, 0.05 }; /* through the middle, anywhere between nodes */
        def.clip = (WadiBox){ { -far, n == 0 ? at[1] : -far, -far }, { far, far, n == 1 ? at[2] : far } };
        def.clip.min.x = n == 2 ? at[0] - 2e-3 : def.clip.min.x;
        double volume = 0.5 * ball_volume(8.15);
        CHECK_NEAR(wrap(&def, volume).volume / volume, 1.0, 0.014);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_holds_its_volume),
        cmocka_unit_test(it_goes_no_further_than_it_may),
        cmocka_unit_test(what_walls_cut_off_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
