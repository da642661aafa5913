/* Finds space that is inside without sampling it: cubes as wide as the support radius that are evenly filled,
 * as are their 26 neighbours.
 *
 * Reason, for the function of Zhu and Bridson with r about R / 2: it is positive where the weighted mean of
 * the particles is farther than r away. For that, particles beyond r on one side would have to outweigh all
 * others: 88 of them in the worst position, or 105 times the density of the others. With a smaller r (after
 * an offset) a void of 1.5 spacings is enough, so that no cube of that width may be nearly empty, wherever it
 * begins. Particles piled up in one eighth of a cube count once and must not weigh too much. Sums of kernels
 * are larger inside than at the surface as well. This is an argument and not a proof;
 * tests/unit/test_surface_band.c searches for counterexamples. A wrongly skipped row hides an enclosed hole;
 * the surface stays closed. */
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "surface/field/field_band.h"

static const float FILL_MIN = 0.3f, FILL_MAX = 4.0f; /* over the volume of a cube */
/* Occupied eighths: the minimum in any cube of eight, and the mean over the 27 cubes. Particles at their
 * spacing, ordered or random, have a mean of 5. */
enum { EIGHTHS_MIN = 3, EIGHTHS_MEAN = 4 };

typedef struct Cube {
    WadiTile at;
    float volume;
    uint8_t eighths; /* bit per eighth */
    uint8_t has_level_particles;
} Cube;

static int compare_cubes(const void *left, const void *right)
{
    const Cube *a = left, *b = right;
    if (!wadi_tile_is_same(a->at, b->at)) {
        return wadi_tile_is_before(a->at, b->at) ? -1 : 1;
    }
    return (a->volume > b->volume) - (a->volume < b->volume); /* makes sums independent of the sort */
}

/* Computes the occupancy of the bins of a level. */
typedef struct BinCubes {
    const WadiBins *bins;
    const WadiCloud *cloud;
    int level;
    Cube *cube;
} BinCubes;

static void measure_bins(void *context, int64_t first, int64_t end)
{
    BinCubes *job = context;
    const WadiCells *cells = &job->bins->level[job->level];
    const int32_t *order = job->bins->order + job->bins->first[job->level];
    const float(*point)[4] = (const float(*)[4])job->bins->point + job->bins->first[job->level];
    double scale = 1.0 / (cells->cell_size * cells->cell_size * cells->cell_size);
    float half = (float)(0.5 * cells->cell_size);
    for (int64_t b = first; b < end; ++b) {
        double volume = 0.0;
        unsigned eighths = 0;
        for (int32_t n = cells->start[b]; n < cells->start[b + 1]; ++n) {
            double spacing = (double)job->cloud->spacing[order[n]];
            volume += spacing * spacing * spacing;
            eighths |= 1U << ((point[n][0] >= half) + 2 * (point[n][1] >= half) + 4 * (point[n][2] >= half));
        }
        const int32_t *at = cells->coordinate[b];
        job->cube[b] = (Cube){ { at[0], at[1], at[2] }, (float)(volume * scale), (uint8_t)eighths, 1 };
    }
}

/* The smallest number of occupied eighths in any cube of 2^3 eighths within the 27 cubes, at most 3. A layer
 * of 6 x 6 eighths is a word, bit 6 y + x; `one`, `two` and `three` mark the cubes with at least so many. */
static int fewest_eighths(const WadiFilling *filling, const int32_t neighbour[27])
{
    uint64_t layer[6] = { 0 };
    for (int n = 0; n < 27; ++n) {
        uint64_t bits = filling->eighths[neighbour[n]];
        int corner = 12 * (n / 3 % 3) + 2 * (n % 3), z = 2 * (n / 9);
        layer[z] |= ((bits & 3) | (bits >> 2 & 3) << 6) << corner;
        layer[z + 1] |= ((bits >> 4 & 3) | (bits >> 6) << 6) << corner;
    }
    const uint64_t begins = UINT64_C(0x1f7df7df); /* cubes that begin at x and y of 0 .. 4 */
    uint64_t most[3] = { begins, begins, begins };
    for (int z = 0; z < 5; ++z) {
        uint64_t one = 0, two = 0, three = 0;
        for (int part = 0; part < 8; ++part) {
            uint64_t bits = layer[z + (part >> 2)] >> ((part & 1) + 6 * (part >> 1 & 1));
            three |= two & bits;
            two |= one & bits;
            one |= bits;
        }
        most[0] &= one;
        most[1] &= two;
        most[2] &= three;
    }
    return most[2] == begins ? 3 : most[1] == begins ? 2 : most[0] == begins;
}

static void find_inside(void *context, int64_t first, int64_t end)
{
    WadiFilling *filling = context;
    for (int64_t c = first; c < end; ++c) {
        const int32_t *neighbour = filling->map.neighbours[c];
        bool is_inside = true;
        int sum = 0;
        for (int n = 0; n < 27 && is_inside; ++n) {
            is_inside = neighbour[n] >= 0 && filling->volume[neighbour[n]] >= FILL_MIN &&
                        filling->volume[neighbour[n]] <= FILL_MAX;
            sum += is_inside ? __builtin_popcount(filling->eighths[neighbour[n]]) : 0;
        }
        filling->is_inside[c] =
            is_inside && sum >= 27 * EIGHTHS_MEAN && fewest_eighths(filling, neighbour) >= EIGHTHS_MIN;
    }
}

/* Bounds of the inside cubes: most tiles of a spray lie outside and need no search. */
static void bound_inside(WadiFilling *filling)
{
    WadiTile low = { INT32_MAX, INT32_MAX, INT32_MAX }, high = { INT32_MIN, INT32_MIN, INT32_MIN };
    for (int32_t c = 0; c < filling->map.count; ++c) {
        if (filling->is_inside[c]) {
            WadiTile at = filling->map.tiles[c];
            low.x = at.x < low.x ? at.x : low.x;
            low.y = at.y < low.y ? at.y : low.y;
            low.z = at.z < low.z ? at.z : low.z;
            high.x = at.x > high.x ? at.x : high.x;
            high.y = at.y > high.y ? at.y : high.y;
            high.z = at.z > high.z ? at.z : high.z;
        }
    }
    filling->low = low;
    filling->high = high;
}

/* From sorted cubes without repetitions. */
static WadiStatus make_filling(WadiFilling *filling, const Cube *cube, size_t count, bool is_wanted,
                               WadiArena *arena, WadiError *error)
{
    WadiTile *at;
    WADI_TRY(WADI_ARENA_NEW(arena, &filling->volume, count, "filled cubes", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &filling->eighths, count, "filled cubes", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &filling->is_inside, count, "filled cubes", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &filling->has_level_particles, count, "filled cubes", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &at, count, "filled cubes", error));
    for (size_t c = 0; c < count; ++c) {
        at[c] = cube[c].at;
        filling->volume[c] = cube[c].volume;
        filling->eighths[c] = cube[c].eighths;
        filling->has_level_particles[c] = cube[c].has_level_particles != 0;
    }
    WADI_TRY(wadi_tile_map_create_in_arena(&filling->map, at, count, arena, error));
    memset(filling->is_inside, 0, count);
    filling->has_inside = is_wanted;
    if (is_wanted) {
        wadi_parallel_for(filling->map.count, 1024, find_inside, filling);
    }
    bound_inside(filling);
    return WADI_OK;
}

/* From the finest level to the coarsest: a cube's volume is that of its particles and of the eight finer
 * cubes in it. */
WadiStatus wadi_field_fill(WadiFieldBand *band, WadiArena *arena, WadiError *error)
{
    const WadiBins *bins = band->sampler->bins;
    const WadiFieldDef *def = band->sampler->def;
    bool is_wanted =
        band->method->is_inside_where_filled != NULL && band->method->is_inside_where_filled(def);
    band->filling_count = bins->level_count;
    const Cube *finer = NULL;
    size_t finer_count = 0;
    for (int level = bins->level_count - 1; level >= 0; --level) {
        const WadiCells *cells = &bins->level[level];
        Cube *cube;
        size_t bin_count = (size_t)cells->cell_count;
        WADI_TRY(WADI_ARENA_NEW(arena, &cube, bin_count + finer_count, "filled cubes", error));
        BinCubes job = { bins, band->sampler->cloud, level, cube };
        wadi_parallel_for(cells->cell_count, 1024, measure_bins, &job);
        for (size_t c = 0; c < finer_count; ++c) {
            WadiTile at = finer[c].at;
            int eighth = (at.x & 1) + 2 * (at.y & 1) + 4 * (at.z & 1);
            cube[bin_count + c] = (Cube){
                { at.x >> 1, at.y >> 1, at.z >> 1 }, 0.125f * finer[c].volume, (uint8_t)(1 << eighth), 0
            };
        }
        size_t count = bin_count + finer_count;
        if (finer_count > 0) {
            qsort(cube, count, sizeof *cube, compare_cubes);
            size_t kept = 0;
            for (size_t c = 0; c < count; ++c) {
                if (kept > 0 && wadi_tile_is_same(cube[kept - 1].at, cube[c].at)) {
                    cube[kept - 1].volume += cube[c].volume;
                    cube[kept - 1].has_level_particles |= cube[c].has_level_particles;
                    cube[kept - 1].eighths |= cube[c].eighths;
                } else {
                    cube[kept++] = cube[c];
                }
            }
            count = kept;
        }
        band->filling[level].size = cells->cell_size;
        WADI_TRY(make_filling(&band->filling[level], cube, count, is_wanted, arena, error));
        finer = cube;
        finer_count = count;
    }
    return WADI_OK;
}

/* Range of cubes along one axis that nodes first .. last lie in. */
static void cubes_along(const WadiFilling *filling, double cell, int64_t first, int64_t last,
                        int64_t range[2])
{
    range[0] = (int64_t)floor((double)first * cell / filling->size);
    range[1] = (int64_t)floor((double)last * cell / filling->size);
}

static int32_t cube_at(const WadiFilling *filling, int64_t x, int64_t y, int64_t z)
{
    return wadi_tile_map_find(&filling->map, (WadiTile){ (int32_t)x, (int32_t)y, (int32_t)z });
}

/* With cells much wider than the particles a search over so many cubes would cost more than it saves. */
static bool is_too_many(const int64_t x[2], const int64_t y[2], const int64_t z[2])
{
    /* In double: the product can exceed 64 bits. */
    return (double)(x[1] - x[0]) * (double)(y[1] - y[0]) * (double)(z[1] - z[0]) > 1000.0;
}

/* True when a tile, grown by the support radius, touches a cube with particles of the level itself. */
static bool is_in_support(const WadiFilling *filling, double cell, const int64_t node[3])
{
    int64_t range[3][2];
    for (int a = 0; a < 3; ++a) {
        cubes_along(filling, cell, node[a], node[a] + 7, range[a]);
    }
    if (is_too_many(range[0], range[1], range[2])) {
        return true;
    }
    for (int64_t z = range[2][0] - 1; z <= range[2][1] + 1; ++z) {
        for (int64_t y = range[1][0] - 1; y <= range[1][1] + 1; ++y) {
            for (int64_t x = range[0][0] - 1; x <= range[0][1] + 1; ++x) {
                int32_t c = cube_at(filling, x, y, z);
                if (c >= 0 && filling->has_level_particles[c]) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* True when every cube from x[0] to x[1] is inside. The middle one is tested first, since it decides most
 * cases. */
static bool is_line_inside(const WadiFilling *filling, const int64_t x[2], int64_t y, int64_t z)
{
    int64_t middle = (x[0] + x[1]) / 2;
    int32_t c = cube_at(filling, middle, y, z);
    if (c < 0 || !filling->is_inside[c]) {
        return false;
    }
    const int32_t *neighbour = filling->map.neighbours[c];
    for (int64_t at = middle; at > x[0]; --at) {
        c = neighbour[12];
        if (!filling->is_inside[c]) {
            return false;
        }
        neighbour = filling->map.neighbours[c];
    }
    neighbour = filling->map.neighbours[cube_at(filling, middle, y, z)];
    for (int64_t at = middle; at < x[1]; ++at) {
        c = neighbour[14];
        if (!filling->is_inside[c]) {
            return false;
        }
        neighbour = filling->map.neighbours[c];
    }
    return true;
}

/* Bits of the eight nodes from `first` on that lie in cube `at` along an axis. */
static unsigned nodes_touching(const WadiFilling *filling, double cell, int64_t first, int64_t at)
{
    unsigned bits = 0;
    for (int n = 0; n < 8; ++n) {
        int64_t range[2];
        cubes_along(filling, cell, first + n, first + n, range);
        bits |= (unsigned)(at == range[0]) << n;
    }
    return bits;
}

/* Rows whose nodes all lie in inside cubes of one level. */
static uint64_t rows_inside_level(const WadiFilling *filling, double cell, const int64_t node[3])
{
    int64_t x[2], y[2], z[2];
    cubes_along(filling, cell, node[0], node[0] + 7, x);
    cubes_along(filling, cell, node[1], node[1] + 7, y);
    cubes_along(filling, cell, node[2], node[2] + 7, z);
    bool is_near = x[0] <= filling->high.x && x[1] >= filling->low.x && y[0] <= filling->high.y &&
                   y[1] >= filling->low.y && z[0] <= filling->high.z && z[1] >= filling->low.z;
    if (!is_near || is_too_many(x, y, z)) {
        return 0;
    }
    uint64_t rows = ~UINT64_C(0);
    for (int64_t cz = z[0]; cz <= z[1]; ++cz) {
        uint64_t layers = 0;
        for (int64_t cy = y[0]; cy <= y[1]; ++cy) {
            if (!is_line_inside(filling, x, cy, cz)) {
                layers |= nodes_touching(filling, cell, node[1], cy);
            }
        }
        if (layers != 0) {
            unsigned touched = nodes_touching(filling, cell, node[2], cz);
            for (int k = 0; k < 8; ++k) {
                rows &= touched >> k & 1 ? ~(layers << 8 * k) : ~UINT64_C(0);
            }
        }
        if (rows == 0) {
            break;
        }
    }
    return rows;
}

uint64_t wadi_field_rows_inside(const WadiFieldBand *band, WadiTile at)
{
    double cell = band->sampler->def->cell;
    const int64_t node[3] = { INT64_C(8) * at.x, INT64_C(8) * at.y, INT64_C(8) * at.z };
    uint64_t rows = 0;
    for (int level = 0; level < band->filling_count; ++level) {
        const WadiFilling *filling = &band->filling[level];
        if (!filling->has_inside) {
            break;
        }
        rows |= rows_inside_level(filling, cell, node);
        /* A finer level decides nothing inside the support of coarser particles. */
        bool is_last = level + 1 == band->filling_count;
        if (rows == ~UINT64_C(0) || is_last || is_in_support(filling, cell, node)) {
            break;
        }
    }
    return rows;
}
