/* surface: the band against sampling every row, for many clouds and any number of threads. */
#include "core/parallel.h"
#include "surface/field/field_band.h"
#include "surface_built.h"

/* The field with no row assumed inside. */
static uint64_t hash_of_all_rows(const WadiCloud *cloud, const WadiFieldDef *def, int64_t *sampled)
{
    WadiFieldDef narrow = *def;
    WadiFieldMethod method = wadi_field_zhu_bridson;
    method.is_inside_where_filled = NULL;
    WadiArena arena = { 0 };
    WadiError error = { 0 };
    WadiBins bins;
    WadiField field;
    CHECK_OK(wadi_bins_build(&bins, cloud, def->support, &arena, &error), error);
    CHECK_OK(wadi_field_build_by(&field, &method, cloud, &bins, &narrow, &arena, &error), error);
    uint64_t hash = field_hash(&field);
    *sampled = field.sampled;
    wadi_arena_free(&arena);
    return hash;
}

static bool is_not_in_cavity(WadiVec3 x)
{
    return wadi_norm(wadi_sub(x, wadi_vec3(0.5, 0.5, 0.5))) > 0.13;
}

static bool is_in_sheet(WadiVec3 x)
{
    return fabs(x.z - 0.5 - 0.2 * x.x) < 0.03 || x.y < 0.3;
}

enum { CLOUDS = 10 };

static void make_cloud(WadiCloud *f, int kind, uint64_t seed)
{
    WadiBox unit = { { 0, 0, 0 }, { 1, 1, 1 } };
    double s = 0.03;
    switch (kind) {
    case 0: cloud_add_lattice(f, wadi_box_grown(unit, -0.5 * s), s, 0.25, seed, NULL); break;
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
            cloud_add(f, wadi_add(wadi_vec3(0.5, 0.5, 0.5), wadi_scale(cloud_jitter(seed, (uint64_t)n), 0.6)),
                      0.01);
        }
        break;
    case 8: /* piles of eight: as many as would fill the space, in an eighth of the places */
        for (int n = 0; n < 4600; ++n) {
            for (int m = 0; m < 8; ++m) {
                cloud_add(f, wadi_scale(cloud_jitter(seed, (uint64_t)n), 0.5), s);
            }
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
        WadiCloud f = { 0 };
        make_cloud(&f, kind, (uint64_t)kind + 7);
        for (int c = 0; c < 2; ++c) {
            WadiFieldDef def = default_def((c == 0 ? 0.55 : 0.3) * fmax(f.spacing_min, 0.25 * f.spacing_max));
            def.offset = c == 0 ? 0.0 : 0.28;
            def.smoothing = c == 0;
            def.lowering = c == 0;
            def.flatten = c == 0 ? 4.0 : 0.0;
            Built b;
            build(&b, &f, &def);
            int64_t all;
            assert_true(field_hash(&b.field) == hash_of_all_rows(&f, &def, &all));
            assert_true(b.field.sampled <= all);
            if (kind == 0 && c == 1) {
                assert_true(b.field.sampled < all * 3 / 4);
            }
            release(&b);
        }
        cloud_free(&f);
    }
}

static void same_bytes_for_any_threads(void **unused)
{
    (void)unused;
    for (int kind = 1; kind < CLOUDS; kind += 3) {
        WadiCloud f = { 0 };
        make_cloud(&f, kind, 1);
        WadiFieldDef def = default_def(0.5 * fmax(f.spacing_min, 0.25 * f.spacing_max));
        def.smoothing = 1;
        def.lowering = 1;
        def.is_clipped = true;
        def.clip = (WadiBox){ { -1.0, 0.113, -1.0 }, { 0.47, 2.0, 2.0 } };
        const int threads[3] = { 1, 2, 5 };
        uint64_t hash[3];
        for (int t = 0; t < 3; ++t) {
            wadi_parallel_set_threads(threads[t]);
            Built b;
            build(&b, &f, &def);
            hash[t] = field_hash(&b.field);
            release(&b);
        }
        wadi_parallel_set_threads(0);
        assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
        cloud_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skipped_rows_change_nothing),
        cmocka_unit_test(same_bytes_for_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
