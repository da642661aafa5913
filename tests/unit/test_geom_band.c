/* geom: a turning mesh as grids see it, against exact distances. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/random.h"
#include "geom/solids_near.h"
#include "physics/scene_shapes.h"

static const double PI = 3.14159265358979323846;

enum { RINGS = 48, SIDES = 2 * RINGS };

/* A ball of radius 1 with bumps of 0.1, or a plate of 2 x 2 x 0.06. */
static void write_mesh(const char *path, bool is_plate)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    if (is_plate) {
        for (int i = 0; i < 8; ++i) {
            fprintf(file, "v %g %g %g\n", (i & 1) * 2.0 - 1.0, (i >> 1 & 1) * 2.0 - 1.0, (i >> 2) * 0.06);
        }
        fprintf(file, "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n");
        fclose(file);
        return;
    }
    for (int i = 0; i <= RINGS; ++i) {
        double t = PI * i / RINGS;
        for (int j = 0; j < (i % RINGS == 0 ? 1 : SIDES); ++j) {
            double p = 2.0 * PI * j / SIDES, r = 1.0 + 0.1 * sin(4.0 * p) * sin(t) * sin(t) * sin(5.0 * t);
            fprintf(file, "v %.9g %.9g %.9g\n", r * sin(t) * cos(p), r * sin(t) * sin(p), r * cos(t));
        }
    }
    int last = 2 + (RINGS - 1) * SIDES;
    for (int j = 0; j < SIDES; ++j) {
        int k = (j + 1) % SIDES;
        fprintf(file, "f 1 %d %d\n", 2 + j, 2 + k);
        for (int i = 0; i < RINGS - 2; ++i) {
            int at = 2 + i * SIDES;
            fprintf(file, "f %d %d %d %d\n", at + j, at + SIDES + j, at + SIDES + k, at + k);
        }
        fprintf(file, "f %d %d %d\n", last - SIDES + j, last, last - SIDES + k);
    }
    fclose(file);
}

/* The ball, the plate, the ball's skin as a shell of 0.08, and the ball shrinking to a half. */
typedef enum Kind { BALL, PLATE, SHELL, SHRINKING, KINDS } Kind;

static WadiShape *turning_mesh(Kind kind)
{
    char folder[] = "/tmp/wadi_band_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/mesh.obj", folder);
    write_mesh(path, kind == PLATE);
    WadiShapeDef def = wadi_shape_def(WADI_SHAPE_MESH);
    WadiError error;
    CHECK_OK(wadi_string_copy(&def.file, path, strlen(path), &error), error);
    def.rotate = curve_of(0.0, wadi_vec3(0, 0, 0), 1.0, wadi_vec3(50, 70, -40));
    def.translate = curve_of(0.0, wadi_vec3(0, 0, 0), 1.0, wadi_vec3(0.3, -0.2, 0.1));
    if (kind == SHELL) {
        def.parameter[0] = wadi_curve_constant(0.08);
    }
    if (kind == SHRINKING) {
        def.scale = curve_of(0.0, wadi_vec3(1, 1, 1), 1.0, wadi_vec3(0.5, 0.5, 0.5));
    }
    WadiShape *shape = shape_of(def);
    unlink(path);
    rmdir(folder);
    return shape;
}

/* Signs and bounds hold everywhere; where the mesh is smooth the band is good to a twentieth of a cell. */
static void a_turning_mesh_is_known_by_its_band(void **unused)
{
    (void)unused;
    const double h = 0.1;
    const int points = is_sanitized() ? 2000 : 20000;
    static const char *const name[KINDS] = { "bumpy ball", "plate", "shell", "shrinking ball" };
    for (Kind kind = BALL; kind < KINDS; ++kind) {
        WadiError error;
        WadiShape *shape = turning_mesh(kind);
        assert_true(wadi_shape_band_error(shape, 0.0) == 0.0);
        CHECK_OK(wadi_shape_add_bands(shape, h, &error), error);
        const double error_most = wadi_shape_band_error(shape, 0.0);
        CHECK_NEAR(error_most, 0.2887 * h, 0.001 * h);
        double worst = 0.0;
        int near = 0;
        for (int i = 0; i < points; ++i) {
            double u[3], time = (i % 7) / 7.0;
            wadi_random_unit3(9, (uint64_t)i, WADI_RANDOM_TEST, u);
            WadiVec3 x = { 3.0 * u[0] - 1.5, 3.0 * u[1] - 1.5, 3.0 * u[2] - 1.5 };
            WadiSurfacePoint exact = wadi_shape_sample(shape, x, time),
                             coarse = wadi_shape_sample_for_grid(shape, x, time);
            assert_true((exact.distance < 0.0) == (coarse.distance < 0.0) || fabs(exact.distance) < 0.05 * h);
            CHECK_NEAR(wadi_shape_distance_for_grid(shape, x, time), coarse.distance, 1e-12);
            double bound = wadi_shape_clearance(shape, x, time);
            assert_true((exact.distance < 0.0) == (bound < 0.0));
            CHECK_AT_MOST(fabs(bound), fabs(exact.distance) + 1e-6);
            CHECK_AT_MOST(fabs(coarse.distance), fabs(exact.distance) + error_most);
            if (exact.distance > 0.0) {
                CHECK_AT_MOST(wadi_band_least(coarse.distance, error_most), exact.distance + 1e-6);
            }
            if (exact.distance > 8.0 * h) { /* farther than the band reaches */
                CHECK_AT_MOST(0.25 * exact.distance, bound);
            }
            if (fabs(exact.distance) < 2.0 * h) {
                worst = fmax(worst, fabs(coarse.distance - exact.distance));
                if (fabs(exact.distance) < 0.5 * h && exact.distance > 0.01 * h) {
                    CHECK_AT_MOST(0.9, wadi_dot(exact.normal, coarse.normal));
                }
                near += 1;
            }
        }
        print_message("%s: %d points within two cells, off by at most %.3f cells\n", name[kind], near,
                      worst / h);
        assert_true(near > points / 20);
        CHECK_AT_MOST(worst, 0.08 * h);
        wadi_shape_destroy(shape);
    }
}

/* Samples of a small region, by the lists of the triangles there, are those of the whole mesh to the last
 * bit. */
static void samples_close_together_are_the_same(void **unused)
{
    (void)unused;
    const double h = 0.1;
    const int points = is_sanitized() ? 8000 : 40000;
    for (Kind kind = BALL; kind < KINDS; ++kind) {
        WadiError error;
        WadiShape *shape = turning_mesh(kind);
        CHECK_OK(wadi_shape_add_bands(shape, h, &error), error);
        WadiSolid solid = { .shape = shape };
        WadiSolids solids = { .solids = &solid, .count = 1, .closed_sides = WADI_SIDE_Z_MIN };
        solids.domain = (WadiBox){ { -2, -2, -0.9 }, { 2, 2, 2 } };
        static WadiSolidsNear near;
        int close = 0;
        for (int i = 0; i < points; ++i) {
            double u[3], time = (i / 4000) / 10.0;
            if (i % 4000 == 0) {
                wadi_solids_near_begin(&near, &solids, wadi_vec3(0, 0, 0), 4.0, 0.0, time);
            }
            wadi_random_unit3(10, (uint64_t)i, WADI_RANDOM_TEST, u);
            const WadiVec3 x = { 2.4 * u[0] - 1.2, 2.4 * u[1] - 1.2, 2.4 * u[2] - 1.2 };
            const double d = wadi_solids_distance_for_grid(&solids, x, time);
            const WadiSolidPoint all = wadi_solids_sample_for_grid(&solids, x, time);
            const WadiSolidPoint few = wadi_solids_near_sample(&near, x, INFINITY);
            assert_true(wadi_solids_near_distance(&near, x) == d);
            assert_true(few.surface.distance == all.surface.distance && few.index == all.index);
            assert_true(wadi_norm(wadi_sub(few.surface.normal, all.surface.normal)) == 0.0);
            close += fabs(d) < 0.5 * h;
        }
        assert_true(close > points / 80);
        wadi_shape_destroy(shape);
    }
}

/* A straight path seen from a turning shape is no farther from its chord than its bound, and a good part of
 * it at times. */
static void a_path_sags_by_its_bound_at_most(void **unused)
{
    (void)unused;
    WadiShape *shape = turning_mesh(BALL);
    double most = 0.0;
    for (int i = 0; i < 2000; ++i) {
        double u[3], w[3];
        wadi_random_unit3(11, (uint64_t)i, WADI_RANDOM_TEST, u);
        wadi_random_unit3(12, (uint64_t)i, WADI_RANDOM_TEST, w);
        const double t0 = 0.4, t1 = t0 + 0.1 * w[0];
        const WadiVec3 x0 = { 3.0 * u[0] - 1.5, 3.0 * u[1] - 1.5, 3.0 * u[2] - 1.5 };
        const WadiVec3 way = { 0.2 * (w[1] - 0.5), 0.2 * (w[2] - 0.5), 0.1 };
        WadiShapeMotion motion;
        assert_true(wadi_shape_rigid_motion(shape, t0, t1, &motion));
        const double length = wadi_norm(way);
        const double bound = wadi_shape_motion_sag(&motion, x0, length, length, t1 - t0);
        const WadiVec3 begin = wadi_shape_carry(shape, x0, t0, t1), end = wadi_add(x0, way);
        for (int n = 1; n < 8; ++n) {
            const double s = n / 8.0, time = t0 + s * (t1 - t0);
            const WadiVec3 seen = wadi_shape_carry(shape, wadi_add_scaled(x0, way, s), time, t1);
            const double sag = wadi_norm(wadi_sub(seen, wadi_lerp(begin, end, s)));
            CHECK_AT_MOST(sag, bound * (1.0 + 1e-9) + 1e-14);
            most = fmax(most, sag / bound);
        }
    }
    assert_true(most > 0.2);
    WadiShapeMotion motion;
    assert_false(wadi_shape_rigid_motion(shape, 0.95, 1.05, &motion)); /* its last key is at 1 */
    wadi_shape_destroy(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turning_mesh_is_known_by_its_band),
        cmocka_unit_test(samples_close_together_are_the_same),
        cmocka_unit_test(a_path_sags_by_its_bound_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
