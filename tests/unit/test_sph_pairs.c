/* sph: lists of neighbours against all pairs, and passes of eight neighbours against plain sums. */
#include "core/alloc.h"
#include "sph/pairs/sph_candidates.h"
#include "sph/pressure/sph_operator.h"
#include "sph_block.h"

enum { SIDE_MAX = 15, COUNT_MAX = SIDE_MAX * SIDE_MAX * SIDE_MAX };

/* Sand and water mixed, a knot of particles in one spot, and copies without neighbours. */
static void make_mixture(Block *b, int n, bool has_both, int32_t knot)
{
    WadiError error;
    block_make(b, n, n, n, 0.9, 0, 0.02);
    for (int32_t i = 0; i < b->count; ++i) {
        b->particles.id[i] = (uint32_t)i;
        b->particles.material[i] = (uint8_t)(has_both && i % 3 == 0);
        if (i < knot) {
            b->particles.x[i] = 0.02 * (2.0 + 0.4 / knot * i);
            b->particles.y[i] = b->particles.z[i] = 0.04 + 1e-5 * (i % 7);
        }
    }
    CHECK_OK(wadi_tile_sort(&b->sort, &b->particles, WADI_SPH_WATER_SUPPORT * b->spacing, &b->arena, &error),
             error);
}

/* `has_sizes`: particles of different ones, with volumes to match. */
static void find(Block *b, uint8_t *role, float *volume, float *size, bool has_sizes)
{
    WadiError error;
    const size_t count = (size_t)b->count;
    CHECK_OK(WADI_ARENA_NEW(&b->arena, &b->density, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&b->arena, &b->is_sand, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&b->arena, &b->ones, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&b->arena, &b->velocity, count, "test", &error), error);
    for (int32_t i = 0; i < b->count; ++i) {
        double u[3];
        wadi_random_unit3(5, (uint64_t)i, WADI_RANDOM_TEST, u);
        b->velocity[i] = (WadiF4){ (float)u[0], (float)u[1], (float)u[2], 0.0f };
        b->is_sand[i] = b->particles.material[i];
        b->ones[i] = 1.0f;
        role[i] = b->particles.id[i] % 11 == 5 ? WADI_SPH_GHOST : WADI_SPH_ACTIVE;
        volume[i] = 0.25f + 0.01f * (float)(b->particles.id[i] % 70);
        size[i] = 1.0f;
        if (has_sizes) {
            size[i] += 0.03f * (float)(b->particles.id[i] % 41) * (b->particles.x[i] > 0.12 ? 1.0f : 0.0f);
        }
        volume[i] *= size[i] * size[i] * size[i];
    }
    block_find_walls(b);
    const WadiSphPairsIn pairs = { .sort = &b->sort,
                                   .particles = &b->particles,
                                   .kernel = &b->kernel,
                                   .walls = &b->walls,
                                   .spacing = b->spacing,
                                   .is_sand = b->is_sand,
                                   .volume = volume,
                                   .has_sizes = has_sizes,
                                   .size = size,
                                   .role = role };
    CHECK_OK(wadi_sph_pairs_find(&b->pairs, b->density, &pairs, &b->arena, &error), error);
}

/* The kernel of a pair. */
static const WadiSphSpline *spline_of(const Block *b, int32_t i, int32_t j)
{
    return &b->kernel.of[b->is_sand[i] != 0 || b->is_sand[j] != 0];
}

/* Distance over the support of their kernel. */
static double distance(const Block *b, int32_t i, int32_t j)
{
    const WadiSphPairs *pairs = &b->pairs;
    const WadiF4 d = WADI_SPH_OFFSET(pairs->place[i], pairs->place[j]) * (float)(1.0 / WADI_SPH_PLACES);
    const float size = wadi_sph_size(pairs, i) + wadi_sph_size(pairs, j);
    return sqrt((double)(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])) /
           (0.5 * (double)spline_of(b, i, j)->support * (double)size);
}

static bool is_neighbour(const Block *b, int32_t i, int32_t j)
{
    const WadiSphSpline *spline = spline_of(b, i, j);
    return j != i && (double)spline->support * distance(b, i, j) < (double)spline->reach;
}

/* Both sides of a pair have the same number. */
static void check_other_side(const WadiSphPairs *pairs, const uint8_t *role, int32_t i, int32_t j, int64_t n)
{
    int64_t back = pairs->start[j];
    while (back < pairs->start[j + 1] && wadi_sph_other(pairs, back) != i) {
        ++back;
    }
    assert_true(role[j] == WADI_SPH_GHOST ||
                (back < pairs->start[j + 1] && pairs->slope[back] == pairs->slope[n]));
}

/* The list of i has every particle within its reach once, of its own kind first, with the slope of the
 * kernel; the density is their sum. */
static void check_list(const Block *b, const uint8_t *role, const float *volume, int32_t i)
{
    const WadiSphPairs *pairs = &b->pairs;
    const double own = (double)wadi_sph_size(pairs, i);
    double density = (double)spline_of(b, i, i)->own * (double)volume[i] / (own * own * own);
    int32_t found = 0;
    for (int32_t j = 0; j < b->count; ++j) {
        found += is_neighbour(b, i, j);
    }
    assert_int_equal(pairs->start[i + 1] - pairs->start[i], role[i] == WADI_SPH_GHOST ? 0 : found);
    int32_t last[2] = { -1, -1 };
    for (int64_t n = pairs->start[i]; n < pairs->start[i + 1]; ++n) {
        const int32_t j = wadi_sph_other(pairs, n);
        const int is_other = n >= pairs->start[i] + pairs->same[i];
        assert_int_equal(b->is_sand[i] != b->is_sand[j], is_other);
        const double q = distance(b, i, j), t = 1.0 - q, m = fmax(0.0, 0.5 - q);
        const double slope = q < 0.5 ? 2.0 - 3.0 * q : t * t / q;
        assert_true(is_neighbour(b, i, j) && j != last[is_other]);
        const WadiSphSpline *spline = spline_of(b, i, j);
        const double h = (double)spline->support;
        const double steepest = (double)spline->scale * 12.0 / (h * h);
        last[is_other] = j;
        const double size = 0.5 * (own + (double)wadi_sph_size(pairs, j)), cube = size * size * size;
        CHECK_NEAR((double)wadi_sph_pair_slope(pairs, n) * WADI_SPH_PLACES / steepest,
                   0.5 * slope * (double)volume[i] * (double)volume[j] / (cube * size * size),
                   0.6 * (double)pairs->slope_unit * WADI_SPH_PLACES / steepest);
        density += (double)spline->scale * (2.0 * t * t * t - 8.0 * m * m * m - (double)spline->cut) *
                   (double)volume[j] / cube;
        check_other_side(pairs, role, i, j, n);
    }
    CHECK_NEAR((double)b->density[i], role[i] == WADI_SPH_GHOST ? 1.0 : density, 1e-5 * density);
}

static void lists_are_those_of_all_pairs(void **unused)
{
    (void)unused;
    /* A knot is more than a list holds before its kernels are computed; the last two are more than is copied
     * for a cell or block of cells. */
    for (int n = 0; n < 6; ++n) {
        Block b;
        uint8_t role[COUNT_MAX];
        float volume[COUNT_MAX], size[COUNT_MAX];
        const int32_t knot = n < 4 ? 400 : WADI_SPH_CANDIDATES_MAX + 100;
        make_mixture(&b, n < 4 ? 12 : SIDE_MAX, n % 2 != 0, knot);
        find(&b, role, volume, size, n >= 2 && n != 5);
        int64_t longest = 0;
        for (int32_t i = 0; i < b.count; i += n < 4 ? 1 : 50) {
            check_list(&b, role, volume, i);
            const int64_t length = b.pairs.start[i + 1] - b.pairs.start[i];
            longest = length > longest ? length : longest;
        }
        CHECK_AT_MOST(0.75 * knot, (double)longest);
        block_free(&b);
    }
}

/* In a closed box all within the support of a side are near, and have one to three contacts. */
static void contacts_take_no_more_room_than_they_need(void **unused)
{
    (void)unused;
    Block b;
    WadiError error;
    block_make(&b, 12, 12, 12, 0.2, 63, 0.02);
    CHECK_OK(wadi_tile_sort(&b.sort, &b.particles, WADI_SPH_WATER_SUPPORT * b.spacing, &b.arena, &error),
             error);
    float size[12 * 12 * 12];
    uint8_t is_sand[12 * 12 * 12];
    for (int32_t i = 0; i < b.count; ++i) {
        is_sand[i] = 1;
        size[i] = 1.0f;
    }
    const size_t before = b.arena.live;
    const WadiSphWallsIn in = { .solids = &b.solids,
                                .particles = &b.particles,
                                .sort = &b.sort,
                                .kernel = &b.kernel,
                                .spacing = b.spacing,
                                .size = size,
                                .is_sand = is_sand };
    CHECK_OK(wadi_sph_walls_find(&b.walls, &in, &b.arena, &error), error);
    size_t contacts = 0;
    for (int32_t n = 0; n < b.walls.count; ++n) {
        assert_ptr_equal(b.walls.contact[n], b.walls.contact[0] + contacts);
        contacts += b.walls.contact_count[n];
    }
    assert_int_equal(b.walls.count, 12 * 12 * 12 - 8 * 8 * 8);
    const size_t per_near = sizeof(uint8_t) + sizeof(WadiSphContact *) + sizeof(float) + sizeof(WadiF4);
    const size_t room = ((size_t)b.count + 63) / 64 * sizeof *b.walls.of + (size_t)b.walls.count * per_near +
                        contacts * sizeof(WadiSphContact);
    CHECK_AT_MOST((double)(b.arena.live - before), (double)room + 6 * WADI_ALIGNMENT);
    block_free(&b);
}

/* With the temporaries of the arena end the sums and the images; the lists stay. */
static void sums_end_before_the_lists(void **unused)
{
    (void)unused;
    Block b;
    uint8_t role[1728];
    float volume[1728], size[1728];
    make_mixture(&b, 12, true, 0);
    const WadiArenaMark mark = wadi_arena_mark(&b.arena);
    find(&b, role, volume, size, false);
    const size_t before = b.arena.live;
    wadi_arena_release_temporaries(&b.arena, mark);
    CHECK_AT_MOST((double)sizeof(WadiF4), (double)(before - b.arena.live) / b.count);
    for (int32_t i = 0; i < b.count; ++i) {
        check_list(&b, role, volume, i);
    }
    block_free(&b);
}

/* Forces and rates as written in theory 11.4, summed in double. */
static void passes_of_eight_are_plain_sums(void **unused)
{
    (void)unused;
    Block b;
    uint8_t role[1728];
    float volume[1728], size[1728];
    make_mixture(&b, 12, true, 400);
    find(&b, role, volume, size, true);
    const WadiSphPairs *pairs = &b.pairs;
    const WadiSphPressureIn in = {
        .pairs = pairs, .walls = &b.walls, .is_sand = b.is_sand, .inverse_density = b.ones, .volume = volume
    };
    for (int32_t i = 0; i < b.count; ++i) {
        wadi_sph_set_number(pairs, i, 0.5f + (float)(i % 13));
    }
    for (int32_t i = 0; i < b.count; ++i) {
        double push[3] = { 0 }, same[3] = { 0 }, rate = 0.0, rough = 0.0, most = 0.0,
               own = (double)wadi_sph_number(pairs, i);
        for (int64_t n = pairs->start[i]; n < pairs->start[i + 1]; ++n) {
            const int32_t j = wadi_sph_other(pairs, n);
            const double number = (double)wadi_sph_number(pairs, j),
                         slope = (double)wadi_sph_slope(pairs, i, n);
            const WadiF4 d = WADI_SPH_OFFSET(pairs->place[j], pairs->place[i]);
            for (int a = 0; a < 3; ++a) {
                push[a] += slope * (double)d[a] * (own + number);
                same[a] -= n < pairs->start[i] + pairs->same[i] ? slope * (double)d[a] : 0.0;
                rate += slope * (double)d[a] * (double)(b.velocity[i][a] - b.velocity[j][a]);
            }
            most += slope * WADI_SPH_PLACES * (own + number);
            rough += n < pairs->start[i] + pairs->same[i] ? slope * WADI_SPH_PLACES * (own - number) : 0.0;
        }
        WadiF4 sum;
        CHECK_NEAR((double)wadi_sph_push(&in, i, &sum), rough, 1e-6 * most);
        for (int a = 0; a < 3; ++a) {
            CHECK_NEAR((double)sum[a], push[a], 1e-6 * most);
        }
        wadi_sph_pairs_sum_same(pairs, i, &sum);
        for (int a = 0; a < 3; ++a) {
            CHECK_NEAR((double)(sum[a] * wadi_sph_unit(pairs, i)), same[a], 1e-6 * most);
        }
        CHECK_NEAR((double)wadi_sph_compression(&in, b.velocity, i), rate, 1e-6 * most);
    }
    block_free(&b);
}

/* The Laplacian of the kernel of water, summed over the neighbours of a lattice. */
static double lattice_laplacian(const WadiSphKernel *kernel)
{
    const double h = WADI_SPH_WATER_SUPPORT;
    double sum = 0.0;
    for (int n = 0; n < 125; ++n) {
        const int x = n % 5 - 2, y = n / 5 % 5 - 2, z = n / 25 - 2;
        const double r = sqrt((double)(x * x + y * y + z * z)), t = 1.0 - r / h, m = fmax(0.0, 0.5 - r / h);
        const double slope = -6.0 * (t * t - 4.0 * m * m) / h, curve = 12.0 * (t - 4.0 * m) / (h * h);
        sum += r > 0.0 && r < h ? curve + 2.0 * slope / r : 0.0;
    }
    return sum * (double)kernel->of[0].scale;
}

/* Particles off a lattice have a larger density than on it, at the same number a volume: with a variance s^2
 * of positions along each axis by s^2 times the Laplacian. So water that is stirred swells. */
static void scattered_particles_are_denser(void **unused)
{
    (void)unused;
    enum { SIDE = 24, RIM = 3 };
    for (int n = 1; n <= 3; ++n) {
        Block b;
        const double jitter = 0.1 * n;
        block_make(&b, SIDE, SIDE, SIDE, jitter, 0, 1.0);
        block_find_pairs(&b);
        double sum = 0.0, count = 0.0;
        for (int32_t i = 0; i < b.count; ++i) {
            const double *const x[3] = { b.particles.x, b.particles.y, b.particles.z };
            bool is_inside = true;
            for (int a = 0; a < 3; ++a) {
                is_inside = is_inside && x[a][i] > RIM && x[a][i] < SIDE - RIM;
            }
            sum += is_inside ? (double)b.density[i] : 0.0;
            count += is_inside;
        }
        const double more = sum / count - 1.0,
                     expected = jitter * jitter / 12.0 * lattice_laplacian(&b.kernel);
        print_message("positions within %.2f spacings of a lattice: density %.4f\n", 0.5 * jitter,
                      1.0 + more);
        /* The lattice's gradients cancel but for pairs across the rim of the particles that count. */
        CHECK_NEAR(more, expected, 0.2 * expected + 3.0 * jitter * 1.1e-3);
        block_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_those_of_all_pairs),
        cmocka_unit_test(contacts_take_no_more_room_than_they_need),
        cmocka_unit_test(sums_end_before_the_lists),
        cmocka_unit_test(passes_of_eight_are_plain_sums),
        cmocka_unit_test(scattered_particles_are_denser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
