/* surface: the field against its definition, and how well it finds planes and spheres. */
#include <string.h>

#include "surface_built.h"

/* In double to rounding; in the band to the rounding of floats relative to the tile. */
static void one_particle_is_a_sphere(void **unused)
{
    (void)unused;
    const WadiVec3 places[] = { { 0.3, -0.2, 0.1 }, { 10000.3, -9999.7, 10000.2 } };
    for (int c = 0; c < 2; ++c) {
        WadiCloud f = { 0 };
        double spacing = 0.5, cell = 0.25;
        WadiVec3 x0 = places[c];
        cloud_add(&f, x0, spacing);
        WadiFieldDef def = default_def(cell);
        for (uint64_t n = 0; n < 1000; ++n) {
            WadiVec3 x = wadi_add(x0, wadi_scale(cloud_jitter(3, n), 0.57));
            double exact = wadi_norm(wadi_sub(x, x0)) - spacing;
            assert_true(fabs(wadi_field_reference(&f, &def, x) - exact) <= 1e-15);
        }
        assert_true(wadi_field_reference(&f, &def, wadi_add(x0, wadi_vec3(2.0, 0, 0))) > 0.0);
        Built b;
        build(&b, &f, &def);
        int checked = 0;
        for (int32_t r = 1; r < b.field.rows.count; ++r) {
            int32_t node[3];
            wadi_rows_cell(&b.field.rows, r, node);
            for (int l = 0; l < 8; ++l) {
                WadiVec3 x = { (node[0] + l) * cell, node[1] * cell, node[2] * cell };
                double distance = wadi_norm(wadi_sub(x, x0));
                if (distance < 0.999 * 2.0 * spacing) {
                    float value = b.field.value[8 * (size_t)r + (size_t)l];
                    assert_true(fabs((double)value - (distance - spacing)) <= 2e-6 * cell);
                    ++checked;
                }
            }
        }
        assert_true(checked > 100);
        release(&b);
        cloud_free(&f);
    }
}

/* Every node of a box around the cloud by the definition: the band agrees, and where the sign changes all
 * nodes of the adjacent cells are in it. */
static void check_against_definition(const WadiCloud *cloud, const WadiFieldDef *def)
{
    Built b;
    build(&b, cloud, def);
    assert_true(wadi_rows_validate(&b.field.rows));
    WadiBox box = wadi_box_empty();
    for (int32_t i = 0; i < cloud->count; ++i) {
        box = wadi_box_add_point(box, cloud->position[i]);
    }
    box = wadi_box_grown(box, def->support * cloud->spacing_max + 2.0 * def->cell);
    int32_t low[3], size[3];
    for (int a = 0; a < 3; ++a) {
        low[a] = (int32_t)floor(wadi_component(box.min, a) / def->cell);
        size[a] = (int32_t)ceil(wadi_component(box.max, a) / def->cell) - low[a] + 1;
    }
    size_t count = (size_t)size[0] * (size_t)size[1] * (size_t)size[2];
    double *exact = malloc(count * sizeof *exact);
    assert_non_null(exact);
#define NODE(i, j, k) (((size_t)(k) * (size_t)size[1] + (size_t)(j)) * (size_t)size[0] + (size_t)(i))
    for (int32_t k = 0; k < size[2]; ++k) {
        for (int32_t j = 0; j < size[1]; ++j) {
            for (int32_t i = 0; i < size[0]; ++i) {
                WadiVec3 x = { (low[0] + i) * def->cell, (low[1] + j) * def->cell, (low[2] + k) * def->cell };
                double v = wadi_field_reference(cloud, def, x);
                float got = value_at(&b.field, low[0] + i, low[1] + j, low[2] + k);
                /* At the end of a particle's support the function has steps of rounding. */
                for (int32_t p = 0; p < cloud->count; ++p) {
                    double support = def->support * (double)cloud->spacing[p];
                    double distance = wadi_norm(wadi_sub(x, cloud->position[p]));
                    v = fabs(distance - support) < 3e-3 * support ? (double)NAN : v;
                }
                if (!isnan(got) && !isnan(v)) {
                    assert_true(fabs((double)got - v) <= 2e-4 * def->cell);
                }
                exact[NODE(i, j, k)] = fabs(v) <= 2e-4 * def->cell ? (double)NAN : v;
            }
        }
    }
    int changes = 0;
    for (int32_t k = 1; k < size[2] - 1; ++k) {
        for (int32_t j = 1; j < size[1] - 1; ++j) {
            for (int32_t i = 1; i < size[0] - 1; ++i) {
                for (int a = 0; a < 3; ++a) {
                    int step[3] = { a == 0, a == 1, a == 2 };
                    double here = exact[NODE(i, j, k)];
                    double there = exact[NODE(i + step[0], j + step[1], k + step[2])];
                    if (isnan(here) || isnan(there) || (here < 0.0) == (there < 0.0)) {
                        continue;
                    }
                    ++changes;
                    for (int n = 0; n < 27; ++n) {
                        int d[3] = { n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1 };
                        d[a] = d[a] < 0 ? 0 : d[a];
                        assert_false(isnan(
                            value_at(&b.field, low[0] + i + d[0], low[1] + j + d[1], low[2] + k + d[2])));
                    }
                }
            }
        }
    }
#undef NODE
    assert_true(changes > 0);
    free(exact);
    release(&b);
}

static void band_agrees_with_the_definition(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 12; ++seed) {
        WadiCloud f = { 0 };
        int count = seed % 3 == 0 ? 15 : 60;
        for (int n = 0; n < count; ++n) {
            WadiVec3 u = cloud_jitter(seed, (uint64_t)n);
            double spacing = seed % 4 == 3 && n % 3 == 0 ? 0.02 : 0.1;
            cloud_add(&f, wadi_scale(u, count == 15 ? 0.3 : 0.2), spacing);
            if (seed % 4 == 2) {
                cloud_add(&f, f.position[f.count - 1], spacing);
            }
        }
        WadiFieldDef def = default_def(0.03 + 0.01 * (double)(seed % 5));
        def.is_concave_fixed = seed % 5 == 1;
        check_against_definition(&f, &def);
        cloud_free(&f);
    }
}

/* Where the zero crosses the edges of the lattice, by linear interpolation. */
typedef void (*CrossingFn)(void *context, WadiVec3 at);

static void visit_crossings(const WadiField *field, CrossingFn visit, void *context)
{
    for (int32_t r = 1; r < field->rows.count; ++r) {
        int32_t node[3];
        wadi_rows_cell(&field->rows, r, node);
        for (int l = 0; l < 8; ++l) {
            double here = (double)field->value[8 * (size_t)r + (size_t)l];
            for (int a = 0; a < 3; ++a) {
                int step[3] = { a == 0, a == 1, a == 2 };
                double there =
                    (double)value_at(field, node[0] + l + step[0], node[1] + step[1], node[2] + step[2]);
                if (!isnan(there) && (here < 0.0) != (there < 0.0)) {
                    double t = here / (here - there);
                    visit(context, wadi_vec3(field->cell * (node[0] + l + t * step[0]),
                                             field->cell * (node[1] + t * step[1]),
                                             field->cell * (node[2] + t * step[2])));
                }
            }
        }
    }
}

typedef struct Errors {
    double (*distance)(WadiVec3 x); /* of the true surface, NAN: not looked at */
    double sum, squares, most;
    int count;
} Errors;

static void add_error(void *context, WadiVec3 at)
{
    Errors *e = context;
    double d = e->distance(at);
    if (!isnan(d)) {
        e->sum += d;
        e->squares += d * d;
        e->most = fmax(e->most, fabs(d));
        ++e->count;
    }
}

static double distance_to_plane(WadiVec3 x)
{
    bool is_middle = fabs(x.x) < 8.0 && fabs(x.y) < 8.0 && x.z > -2.5;
    return is_middle ? x.z : (double)NAN;
}

static double distance_to_ball(WadiVec3 x)
{
    return wadi_norm(x) - 11.0;
}

/* Spacing 1; the layer below the plane lies exactly one spacing deep, the others are jittered by a
 * quarter. */
static void plane_is_found(void **unused)
{
    (void)unused;
    WadiCloud f = { 0 };
    uint64_t id = 0;
    for (int k = 1; k <= 6; ++k) {
        for (int j = -12; j <= 12; ++j) {
            for (int i = -12; i <= 12; ++i) {
                WadiVec3 move = wadi_scale(cloud_jitter(5, id++), 0.25);
                move.z = k == 1 ? 0.0 : move.z;
                cloud_add(&f, wadi_add(wadi_vec3(i, j, -k), move), 1.0);
            }
        }
    }
    WadiFieldDef def = default_def(0.4);
    double bumps = INFINITY;
    for (int smoothing = 0; smoothing < 2; ++smoothing) {
        def.smoothing = smoothing;
        Built b;
        build(&b, &f, &def);
        Errors e = { .distance = distance_to_plane };
        visit_crossings(&b.field, add_error, &e);
        assert_true(e.count > 1000);
        double mean = e.sum / e.count, rms = sqrt(e.squares / e.count);
        if (smoothing == 0) {
            assert_true(rms <= 0.01);
            assert_true(e.most <= 0.04);
        }
        /* A pass moves the plane a little, since the function is not linear across it, and reduces the
         * bumps. */
        assert_true(fabs(mean) <= 0.02);
        assert_true(rms * rms - mean * mean < bumps);
        bumps = rms * rms - mean * mean;
        release(&b);
    }
    cloud_free(&f);
}

/* Particles of a ball, those in the outer 1.5 spacings moved to a depth of one spacing. */
static void sphere_is_found(void **unused)
{
    (void)unused;
    WadiCloud f = { 0 };
    uint64_t id = 0;
    for (int k = -11; k <= 11; ++k) {
        for (int j = -11; j <= 11; ++j) {
            for (int i = -11; i <= 11; ++i) {
                WadiVec3 at = wadi_add(wadi_vec3(i, j, k), wadi_scale(cloud_jitter(6, id++), 0.25));
                double depth = 11.0 - wadi_norm(at);
                if (depth > 0.5) {
                    at = depth < 1.5 ? wadi_scale(at, 10.0 / wadi_norm(at)) : at;
                    cloud_add(&f, at, 1.0);
                }
            }
        }
    }
    WadiFieldDef def = default_def(0.4);
    Built b;
    build(&b, &f, &def);
    Errors e = { .distance = distance_to_ball };
    visit_crossings(&b.field, add_error, &e);
    assert_true(e.count > 5000);
    assert_true(fabs(e.sum / e.count) <= 0.1);
    assert_true(e.most <= 0.4);
    release(&b);
    cloud_free(&f);
}

static bool is_in_sheet(WadiVec3 x)
{
    return fabs(x.z - 0.5 - 0.2 * x.x) < 0.03 || x.y < 0.3;
}

/* A cloud moved by a whole number of tiles gives the same rows and, to rounding, the same values. */
static void ten_kilometres_away_is_the_same(void **unused)
{
    (void)unused;
    WadiCloud f = { 0 };
    cloud_add_lattice(&f, (WadiBox){ { 0, 0, 0 }, { 1, 1, 1 } }, 0.03, 0.3, 3, is_in_sheet);
    WadiFieldDef def = default_def(1.0 / 64.0);
    Built here, there;
    build(&here, &f, &def);
    double away = 80000.0 * 8.0 / 64.0;
    for (int32_t i = 0; i < f.count; ++i) {
        f.position[i] = wadi_add(f.position[i], wadi_vec3(away, -away, away));
    }
    build(&there, &f, &def);
    int compared = 0;
    for (int32_t r = 1; r < here.field.rows.count; ++r) {
        int32_t node[3];
        wadi_rows_cell(&here.field.rows, r, node);
        for (int l = 0; l < 8; ++l) {
            float a = here.field.value[8 * (size_t)r + (size_t)l];
            float b = value_at(&there.field, node[0] + l + 640000, node[1] - 640000, node[2] + 640000);
            if (fabsf(a) < 0.5f / 64.0f) {
                assert_true(fabsf(a - b) < 1e-4f / 64.0f);
                ++compared;
            }
        }
    }
    assert_true(compared > 10000);
    release(&here);
    release(&there);
    cloud_free(&f);
}

static WadiBox clip_box;

/* Excludes the edges of the box, where a cell contains two planes and marching cubes bevels. */
static double distance_to_clip(WadiVec3 x)
{
    WadiVec3 d = wadi_max(wadi_sub(clip_box.min, x), wadi_sub(x, clip_box.max));
    double most = fmax(d.x, fmax(d.y, d.z)), width = 0.0625 / 4;
    int planes = (d.x > -width) + (d.y > -width) + (d.z > -width);
    return planes > 1 ? (double)NAN : most;
}

/* Filled space is cut to a box, in the planes of the box and nowhere else, wherever they lie between the
 * nodes; the particles need not end there. */
static void box_cuts_flat(void **unused)
{
    (void)unused;
    WadiCloud f = { 0 };
    cloud_add_lattice(&f, (WadiBox){ { 0, 0, 0 }, { 1, 1, 1 } }, 0.03, 0.25, 5, NULL);
    for (int c = 0; c < 3; ++c) {
        WadiFieldDef def = default_def(0.0625 / 4);
        clip_box = c == 0   ? (WadiBox){ { 0.2, 0.2, 0.2 }, { 0.81, 0.77, 0.7001 } }
                   : c == 1 ? (WadiBox){ { 0.25, 0.25, 0.25 }, { 0.75, 0.75, 0.75 } }
                            : (WadiBox){ { 0.0, 0.0, 0.0 }, { 0.97, 0.97, 0.97 } };
        def.clip = clip_box;
        def.is_clipped = true;
        def.smoothing = c;
        Built b;
        build(&b, &f, &def);
        Errors e = { .distance = distance_to_clip };
        visit_crossings(&b.field, add_error, &e);
        WadiVec3 size = wadi_scale(wadi_box_size(wadi_box_grown(clip_box, -def.cell)), 1.0 / def.cell);
        double faces = 2.0 * (size.x * size.y + size.y * size.z + size.z * size.x);
        assert_true(fabs(e.count - faces) < 0.1 * faces);
        assert_true(e.most < 1e-5 * def.cell);
        release(&b);
    }
    cloud_free(&f);
}

static void odd_clouds_are_no_trouble(void **unused)
{
    (void)unused;
    WadiFieldDef def = default_def(0.01);
    WadiCloud f = { 0 };
    Built b;
    build(&b, &f, &def);
    assert_int_equal(b.field.rows.count, 1);
    release(&b);
    /* Particles between the nodes of far too large cells: an empty field. */
    cloud_add(&f, wadi_vec3(0.5, 0.5, 0.5), 0.02);
    WadiFieldDef coarse = default_def(1.0);
    build(&b, &f, &coarse);
    assert_int_equal(b.field.rows.count, 1);
    release(&b);
    cloud_free(&f);
    /* Ten kilometres apart: as many rows as two lone particles have. */
    cloud_add(&f, wadi_vec3(0, 0, 0), 0.02);
    build(&b, &f, &def);
    int32_t lone = b.field.rows.count;
    release(&b);
    cloud_add(&f, wadi_vec3(10240.0, -10240.0, 10240.0), 0.02);
    build(&b, &f, &def);
    assert_int_equal(b.field.rows.count, 2 * lone - 1);
    assert_true(b.arena.high_water < 1 << 20);
    release(&b);
    /* Ten thousand coincident particles give the field of one. */
    cloud_free(&f);
    for (int n = 0; n < 10000; ++n) {
        cloud_add(&f, wadi_vec3(0, 0, 0), 0.02);
    }
    build(&b, &f, &def);
    assert_int_equal(b.field.rows.count, lone);
    assert_true(fabsf(value_at(&b.field, 0, 2, 0)) < 1e-7f);
    release(&b);
    cloud_free(&f);
    /* Beyond the lattice. */
    cloud_add(&f, wadi_vec3(1e7, 0, 0), 0.02);
    WadiArena arena = { 0 };
    WadiBins bins;
    WadiField field;
    WadiError error = { 0 };
    CHECK_OK(wadi_bins_build(&bins, &f, 2.0, &arena, &error), error);
    assert_int_equal(wadi_field_build(&field, &f, &bins, &def, &arena, &error), WADI_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "cells of 0.038 m would do"));
    wadi_arena_free(&arena);
    cloud_free(&f);
}

/* The memory stated in field.h: rows of isolated particles, and none for the space between. */
static void isolated_particles_need_little(void **unused)
{
    (void)unused;
    WadiCloud f = { 0 };
    int count = is_long_run() ? 1000000 : 20000;
    double spacing = 0.01;
    for (int n = 0; n < count; ++n) {
        double u[3];
        wadi_random_unit3(9, (uint64_t)n, WADI_RANDOM_TEST, u);
        cloud_add(&f, wadi_vec3(1000.0 * u[0], 1000.0 * u[1], 1000.0 * u[2]), spacing);
    }
    WadiFieldDef def = default_def(spacing);
    Built b;
    build(&b, &f, &def);
    assert_true(b.field.rows.count > 10 * count);
    assert_true((double)b.arena.high_water < 16384.0 * count);
    release(&b);
    cloud_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_particle_is_a_sphere),
        cmocka_unit_test(band_agrees_with_the_definition),
        cmocka_unit_test(plane_is_found),
        cmocka_unit_test(sphere_is_found),
        cmocka_unit_test(ten_kilometres_away_is_the_same),
        cmocka_unit_test(box_cuts_flat),
        cmocka_unit_test(odd_clouds_are_no_trouble),
        cmocka_unit_test(isolated_particles_need_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
