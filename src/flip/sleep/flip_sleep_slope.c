/* Surface slopes of the sand of a tile, compared with its friction angle [theory 8.3].
 *
 * The surface is a height over each column of cells along the axis nearest to gravity: the highest half-full
 * cell with a half-full one below it, plus the particles of both and of the cell above. Its gradient is that
 * of the least-squares plane through the heights within two columns. The edge of a heap, one cell thick, is
 * left out: a step one cell high stands at any angle. */
#include <math.h>

#include "flip/sleep/flip_sleep.h"
#include "matter/yield.h"

#define DEGREE (3.14159265358979323846 / 180.0)

/* Excess over the friction angle, against the noise of the slope, and fraction of the surface that must have
 * it. */
static const double EXCESS = 2.0 * DEGREE, STEEP_FRACTION = 1.0 / 3.0;

enum { RADIUS = 2, WIDE = WADI_TILE_SIDE + 2 * RADIUS, HIGH = 3 * WADI_TILE_SIDE };

/* The tile with RADIUS columns around it and a tile below and above. */
typedef struct Block {
    int up, across[2];               /* axes */
    bool is_down;                    /* levels count against the axis */
    int32_t corner[3];               /* its lowest cell */
    int32_t count[WIDE][WIDE][HIGH]; /* particles */
    float height[WIDE][WIDE];        /* cells above level 0; negative: no surface found */
    int level[WIDE][WIDE];           /* of the highest cell */
} Block;

static void add_particles(Block *block, const int32_t cell[3], int32_t count)
{
    int32_t a = cell[block->across[0]] - block->corner[block->across[0]];
    int32_t b = cell[block->across[1]] - block->corner[block->across[1]];
    int32_t level = cell[block->up] - block->corner[block->up];
    if (a >= 0 && a < WIDE && b >= 0 && b < WIDE && level >= 0 && level < HIGH) {
        block->count[a][b][block->is_down ? HIGH - 1 - level : level] += count;
    }
}

static void add_awake_tile(Block *block, const WadiTileSort *sort, int32_t t)
{
    const WadiTile tile = sort->tiles.tiles[t];
    int32_t row = sort->row_first[t];
    for (uint64_t left = sort->row_mask[t]; left != 0; left &= left - 1, ++row) {
        int index = __builtin_ctzll(left);
        for (int l = 0; l < WADI_TILE_SIDE; ++l) {
            const int32_t *start = &sort->cell_start[8 * (size_t)row + (size_t)l];
            const int32_t cell[3] = { 8 * tile.x + l, 8 * tile.y + (index & 7), 8 * tile.z + (index >> 3) };
            add_particles(block, cell, start[1] - start[0]);
        }
    }
}

static void add_sleeping_tile(Block *block, const WadiSleepTile *tile, const WadiParticles *p,
                              double per_metre)
{
    for (int32_t i = tile->first; i < tile->first + tile->count; ++i) {
        const int32_t cell[3] = { (int32_t)wadi_cell_at(p->x[i], per_metre),
                                  (int32_t)wadi_cell_at(p->y[i], per_metre),
                                  (int32_t)wadi_cell_at(p->z[i], per_metre) };
        add_particles(block, cell, 1);
    }
}

static void find_heights(Block *block, int32_t full)
{
    for (int a = 0; a < WIDE; ++a) {
        for (int b = 0; b < WIDE; ++b) {
            const int32_t *count = block->count[a][b];
            int top = HIGH - 1;
            while (top > 0 && 2 * count[top] < full) {
                --top;
            }
            bool has_surface = top > 0 && top < HIGH - 1 && 2 * count[top - 1] >= full;
            block->level[a][b] = top;
            block->height[a][b] =
                has_surface
                    ? (float)(top - 1) + (float)(count[top - 1] + count[top] + count[top + 1]) / (float)full
                    : -1.0f;
        }
    }
}

/* Gradient of the height along both axes, in cells per cell. 0.5 is added to the variances (50 when all
 * columns have a height), so that a bed one column wide has no gradient across it. */
static void find_gradient(const Block *block, int a, int b, double gradient[2])
{
    double n = 0.0, s[2] = { 0 }, ss[3] = { 0 }, h = 0.0, sh[2] = { 0 };
    for (int i = -RADIUS; i <= RADIUS; ++i) {
        for (int j = -RADIUS; j <= RADIUS; ++j) {
            double height = (double)block->height[a + i][b + j];
            if (height >= 0.0) {
                n += 1.0, h += height;
                s[0] += i, s[1] += j;
                ss[0] += i * i, ss[1] += i * j, ss[2] += j * j;
                sh[0] += i * height, sh[1] += j * height;
            }
        }
    }
    double xx = ss[0] - s[0] * s[0] / n + 0.5, xy = ss[1] - s[0] * s[1] / n,
           yy = ss[2] - s[1] * s[1] / n + 0.5;
    double xh = sh[0] - s[0] * h / n, yh = sh[1] - s[1] * h / n, det = xx * yy - xy * xy;
    gradient[0] = (yy * xh - xy * yh) / det;
    gradient[1] = (xx * yh - xy * xh) / det;
}

/* Steepest slope that the friction of a tile's particles allows, as an angle; 90 degrees with cohesion, which
 * holds any slope on a small scale. */
static double stable_angle(const WadiSleepStep *step, const WadiTileSort *sort, int32_t t)
{
    const WadiScene *scene = step->context->world->scene;
    const WadiParticles *p = step->context->particles;
    bool is_present[WADI_MATERIALS_MAX] = { false };
    double angle = 0.0;
    for (int32_t i = sort->tile_start[t]; i < sort->tile_start[t + 1]; ++i) {
        is_present[p->material[i]] = true;
    }
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        if (is_present[m] && material->kind == WADI_MATERIAL_SAND) {
            WadiYield yield = wadi_yield_of_material(material, material->yield, step->time);
            /* Slope at which a layer of one cell stands [theory 6.11]. */
            double slope = yield.stop + wadi_yield_of_stairs(yield.slide);
            angle = fmax(angle, yield.cohesion > 0.0 ? 90.0 * DEGREE : atan(slope));
        }
    }
    return angle;
}

static void fill_block(Block *block, const WadiSleep *sleep, const WadiSleepStep *step,
                       const WadiTileSort *sort, int32_t t)
{
    const WadiTile tile = sort->tiles.tiles[t];
    const int32_t at[3] = { tile.x, tile.y, tile.z };
    for (int a = 0; a < 3; ++a) {
        block->corner[a] = WADI_TILE_SIDE * at[a] - (a == block->up ? WADI_TILE_SIDE : RADIUS);
    }
    for (int n = 0; n < 27; ++n) {
        WadiTile neighbour = { tile.x + n % 3 - 1, tile.y + n / 3 % 3 - 1, tile.z + n / 9 - 1 };
        int32_t awake = sort->tiles.neighbours[t][n], asleep = wadi_sleep_find(sleep, neighbour);
        if (awake >= 0) {
            add_awake_tile(block, sort, awake);
        }
        if (asleep >= 0) {
            add_sleeping_tile(block, &sleep->tile[asleep], step->context->particles,
                              1.0 / step->context->world->cell_size);
        }
    }
    int32_t per_axis = step->context->world->scene->particles_per_axis;
    find_heights(block, per_axis * per_axis * per_axis);
}

int wadi_flip_sleep_up(WadiVec3 gravity)
{
    const double pull[3] = { gravity.x, gravity.y, gravity.z };
    int up = 0;
    for (int a = 1; a < 3; ++a) {
        up = fabs(pull[a]) > fabs(pull[up]) ? a : up;
    }
    return up;
}

uint64_t wadi_flip_sleep_steep(const WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                               int32_t t)
{
    const WadiVec3 g = wadi_curve_value3(&step->context->world->scene->gravity, step->time);
    const double pull[3] = { g.x, g.y, g.z }, angle = stable_angle(step, sort, t) + EXCESS;
    if (angle >= 85.0 * DEGREE) {
        return 0;
    }
    Block block = { .up = wadi_flip_sleep_up(g) };
    block.across[0] = (block.up + 1) % 3, block.across[1] = (block.up + 2) % 3;
    block.is_down = pull[block.up] > 0.0;
    fill_block(&block, sleep, step, sort, t);
    const double sideways[2] = { pull[block.across[0]], pull[block.across[1]] };
    const double lowest = cos(angle) * wadi_norm(g);
    uint64_t columns = 0;
    int surface_count = 0, steep_count = 0;
    for (int a = RADIUS; a < RADIUS + WADI_TILE_SIDE; ++a) {
        for (int b = RADIUS; b < RADIUS + WADI_TILE_SIDE; ++b) {
            bool is_in_tile = block.level[a][b] >= WADI_TILE_SIDE && block.level[a][b] < 2 * WADI_TILE_SIDE;
            if (!is_in_tile || block.height[a][b] < 0.0f) {
                continue;
            }
            double slope[2];
            find_gradient(&block, a, b, slope);
            /* |g| times the cosine of the angle between gravity and the normal into the sand. */
            double inwards = fabs(pull[block.up]) + slope[0] * sideways[0] + slope[1] * sideways[1];
            surface_count += 1;
            if (inwards < lowest * sqrt(1.0 + slope[0] * slope[0] + slope[1] * slope[1])) {
                columns |= UINT64_C(1) << (a - RADIUS + WADI_TILE_SIDE * (b - RADIUS));
                steep_count += 1;
            }
        }
    }
    return steep_count > STEEP_FRACTION * surface_count ? columns : 0;
}
