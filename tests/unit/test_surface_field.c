/* surface: the field against its definition, the band against every row, and how well it finds planes and spheres. */
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "expect.h"
#include "surface/field_band.h"
#include "surface_clouds.h"

typedef struct Built {
    WadiArena arena;
    WadiBins bins;
    WadiField field;
} Built;

static void build(Built *b, const WadiCloud *cloud, const WadiFieldDef *def)
{
    WadiError error = { 0 };
    *b = (Built){ 0 };
    CHECK_OK(wadi_bins_build(&b->bins, cloud, def->reach, &b->arena, &error), error);
    CHECK_OK(wadi_field_build(&b->field, cloud, &b->bins, def, &b->arena, &error), error);
}

static void release(Built *b)
{
    wadi_arena_free(&b->arena);
}

static WadiFieldDef default_def(double cell)
{
    return (WadiFieldDef){ .method = WADI_SURFACE_ZHU_BRIDSON, .cell = cell, .reach = 2.0, .radius = 1.0 };
}

/* NAN: not in the band. */
static float value_at(const WadiField *field, int32_t i, int32_t j, int32_t k)
{
    int32_t row = wadi_rows_find(&field->rows, i, j, k);
    return row == 0 ? NAN : field->value[8 * (size_t)row + (size_t)(i & 7)];
}

static uint64_t field_hash(const WadiField *field)
{
    uint64_t hash = wadi_hash_bytes(0, field->tiles.tiles, (size_t)field->tiles.count * sizeof(WadiTile));
    hash = wadi_hash_bytes(hash, field->rows.place, (size_t)field->rows.count);
    return wadi_hash_bytes(hash, field->value, wadi_rows_floats(&field->rows) * sizeof(float));
}

/* S1. In double to the last bits, in the band to the rounding of floats that count from the tile. */
static void one_particle_is_a_sphere(void **unused)
{
    (void)unused;
    const WadiVec3 places[] = { { 0.3, -0.2, 0.1 }, { 10000.3, -9999.7, 10000.2 } };
    for (int c = 0; c < 2; ++c) {
        CloudFixture f = { 0 };
        double spacing = 0.5, cell = 0.25;
        WadiVec3 x0 = places[c];
        cloud_add(&f, x0, spacing);
        WadiFieldDef def = default_def(cell);
        for (uint64_t n = 0; n < 1000; ++n) {
            WadiVec3 x = wadi_add(x0, wadi_scale(cloud_jitter(3, n), 0.57));
            double exact = wadi_norm(wadi_sub(x, x0)) - spacing;
            assert_true(fabs(wadi_field_reference(&f.cloud, &def, x) - exact) <= 1e-15);
        }
        assert_true(wadi_field_reference(&f.cloud, &def, wadi_add(x0, wadi_vec3(2.0, 0, 0))) > 0.0);
        Built b;
        build(&b, &f.cloud, &def);
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

/* Every node of a box around the cloud by the definition: what is in the band agrees, and where the sign changes all nodes of
 * the cells around are in it. */
static void check_against_definition(const WadiCloud *cloud, const WadiFieldDef *def)
{
    Built b;
    build(&b, cloud, def);
    assert_true(wadi_rows_validate(&b.field.rows));
    WadiBox box = wadi_box_empty();
    for (int32_t i = 0; i < cloud->count; ++i) {
        box = wadi_box_add_point(box, cloud->position[i]);
    }
    box = wadi_box_grown(box, def->reach * cloud->spacing_max + 2.0 * def->cell);
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
                /* Where a particle's reach ends in the rounding of floats the function has steps. */
                for (int32_t p = 0; p < cloud->count; ++p) {
                    double reach = def->reach * (double)cloud->spacing[p];
                    double distance = wadi_norm(wadi_sub(x, cloud->position[p]));
                    v = fabs(distance - reach) < 3e-3 * reach ? (double)NAN : v;
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
                        assert_false(isnan(value_at(&b.field, low[0] + i + d[0], low[1] + j + d[1], low[2] + k + d[2])));
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
        CloudFixture f = { 0 };
        int count = seed % 3 == 0 ? 15 : 60;
        for (int n = 0; n < count; ++n) {
            WadiVec3 u = cloud_jitter(seed, (uint64_t)n);
            double spacing = seed % 4 == 3 && n % 3 == 0 ? 0.02 : 0.1;
            cloud_add(&f, wadi_scale(u, count == 15 ? 0.3 : 0.2), spacing);
            if (seed % 4 == 2) {
                cloud_add(&f, f.cloud.position[f.cloud.count - 1], spacing);
            }
        }
        WadiFieldDef def = default_def(0.03 + 0.01 * (double)(seed % 5));
        def.is_concave_fixed = seed % 5 == 1;
        check_against_definition(&f.cloud, &def);
        cloud_free(&f);
    }
}

/* The field with nothing taken to be inside. */
static uint64_t hash_of_all_rows(const WadiCloud *cloud, const WadiFieldDef *def, int64_t *sampled)
{
    WadiFieldDef narrow = *def;
    WadiFieldMethod method = wadi_field_zhu_bridson;
    method.is_inside_where_filled = NULL;
    WadiArena arena = { 0 };
    WadiError error = { 0 };
    WadiBins bins;
    WadiField field;
    CHECK_OK(wadi_bins_build(&bins, cloud, def->reach, &arena, &error), error);
    CHECK_OK(wadi_field_build_by(&field, &method, cloud, &bins, &narrow, &arena, &error), error);
    uint64_t hash = field_hash(&field);
    *sampled = field.sampled;
    wadi_arena_free(&arena);
    return hash;
}

typedef bool (*Keep)(WadiVec3);

static bool is_not_in_cavity(WadiVec3 x)
{
    return wadi_norm(wadi_sub(x, wadi_vec3(0.5, 0.5, 0.5))) > 0.13;
}

static bool is_in_sheet(WadiVec3 x)
{
    return fabs(x.z - 0.5 - 0.2 * x.x) < 0.03 || x.y < 0.3;
}

enum { CLOUDS = 9 };

static void make_cloud(CloudFixture *f, int kind, uint64_t seed)
{
    WadiBox unit = { { 0, 0, 0 }, { 1, 1, 1 } };
    double s = 0.03;
    switch (kind) {
    case 0: cloud_add_lattice(f, unit, s, 0.25, seed, NULL); break;
    case 1: cloud_add_lattice(f, unit, s, 0.5, seed, is_not_in_cavity); break;
    case 2: cloud_add_lattice(f, unit, s, 0.3, seed, is_in_sheet); break;
    case 3: /* every place random */
    case 4: /* thinner: filled to about a half */
    case 5: /* sparse */
        for (int n = 0; n < (kind == 3 ? 37000 : kind == 4 ? 18000 : 3000); ++n) {
            cloud_add(f, wadi_scale(cloud_jitter(seed, (uint64_t)n), 0.5), s);
        }
        break;
    case 6: /* two sizes side by side */
        cloud_add_lattice(f, (WadiBox){ { 0, 0, 0 }, { 0.5, 0.6, 0.6 } }, 0.08, 0.25, seed, NULL);
        cloud_add_lattice(f, (WadiBox){ { 0.5, 0.1, 0 }, { 0.8, 0.4, 0.4 } }, 0.01, 0.25, seed, NULL);
        break;
    case 7: /* small ones among large ones */
        cloud_add_lattice(f, unit, 0.06, 0.4, seed, is_not_in_cavity);
        for (int n = 0; n < 3000; ++n) {
            cloud_add(f, wadi_add(wadi_vec3(0.5, 0.5, 0.5), wadi_scale(cloud_jitter(seed, (uint64_t)n), 0.6)), 0.01);
        }
        break;
    default: /* coincident: piles of up to a thousand in an even filling */
        cloud_add_lattice(f, unit, s, 0.25, seed, NULL);
        for (uint64_t pile = 0; pile < 24; ++pile) {
            WadiVec3 at = wadi_add(wadi_vec3(0.5, 0.5, 0.5), wadi_scale(cloud_jitter(seed + 1, pile), 0.4));
            for (int n = 0; n < 8 << pile % 8; ++n) {
                cloud_add(f, at, s);
            }
        }
    }
}

static void skipped_rows_change_nothing(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < CLOUDS; ++kind) {
        CloudFixture f = { 0 };
        make_cloud(&f, kind, (uint64_t)kind + 7);
        for (int c = 0; c < 2; ++c) {
            WadiFieldDef def = default_def((c == 0 ? 0.55 : 0.3) * fmax(f.cloud.spacing_min, 0.25 * f.cloud.spacing_max));
            def.smoothing = c == 0;
            def.lowering = c == 0;
            Built b;
        build(&b, &f.cloud, &def);
            int64_t all;
            assert_true(field_hash(&b.field) == hash_of_all_rows(&f.cloud, &def, &all));
            assert_true(b.field.sampled <= all);
            if (kind == 0 && c == 1) {
                assert_true(b.field.sampled < all * 3 / 4);
            }
            release(&b);
        }
        cloud_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_particle_is_a_sphere),
        cmocka_unit_test(band_agrees_with_the_definition),
        cmocka_unit_test(skipped_rows_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
