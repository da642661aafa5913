/* Fill a shape with particles: jittered sub-cells of a lattice aligned to the origin, those near the free
 * surface moved to a set depth. [ZB05 sec. 4.2.1; theory 3.6]
 * Differs: where the surface rests on a solid it is not free and nothing is moved there.
 *
 * The jitter is a hash of the position, so every shape has the same particle there. Cells are visited by
 * blocks of 8^3, found by halving the bounding box: the distance at the centre classifies a block as
 * outside, inside or cut. Blocks are counted first and filled afterwards. */
#include "particles/seed.h"

#include <string.h>

#include "core/array.h"
#include "core/check.h"
#include "core/parallel.h"
#include "core/random.h"
#include "particles/cells.h"

enum {
    BLOCK_CELLS = 8, /* along an axis */
    ESTIMATE_BOXES = 1 << 15,
};

/* Cell coordinates must fit 32 bits, as all later stages need. */
static const double CELL_LIMIT = 2147483000.0;

/* Cells [low, high) of the lattice. */
typedef struct CellBox {
    int64_t low[3], high[3];
} CellBox;

typedef enum Fill { FILL_NONE, FILL_ALL, FILL_SOME } Fill;

typedef struct SeedBlock {
    int64_t low[3], high[3];
    Fill fill;
    bool is_deep;
    int64_t marks; /* FILL_SOME: index of its row of marks */
    int32_t count;
    int64_t first; /* index of its first particle among the new ones */
} SeedBlock;

typedef WADI_ARRAY(SeedBlock) SeedBlocks;
typedef WADI_ARRAY(CellBox) CellBoxes;

typedef struct Seeding {
    const WadiSeedIn *in;
    SeedBlocks blocks;
    uint8_t *marks; /* a row for each cut block: 1 for each particle that exists */
    int64_t marked_blocks;
    WadiVec3 center; /* of rotation */
    WadiParticles *particles;
    int64_t first;
} Seeding;

/* Distance to solids and to bodies seeded before, where no particle may be. */
static double solid_distance(const WadiSeedIn *in, WadiVec3 x, double enough)
{
    double d = in->solids != NULL ? wadi_solids_distance(in->solids, x, in->time, enough) : HUGE_VAL;
    for (int i = 0; i < in->earlier_count; ++i) {
        d = fmin(d, wadi_shape_clearance(in->earlier[i], x, in->time));
    }
    return d;
}

static bool is_in_domain(const WadiSeedIn *in, WadiVec3 x)
{
    return in->solids == NULL || wadi_box_contains(in->solids->domain, x);
}

/* Depth that particles within `range` of the free surface get. */
static void snap_depths(const WadiSeedIn *in, double *range, double *depth)
{
    double spacing = in->cell_size / in->per_axis;
    *range = in->snap == WADI_SNAP_ZB05 ? in->cell_size : in->snap == WADI_SNAP_LAYER ? spacing : 0.0;
    *depth = 0.5 * *range;
}

typedef struct Box {
    WadiVec3 low, high, center;
    double radius; /* slightly more than the half diagonal, for rounding */
} Box;

static Box box_of(const WadiSeedIn *in, const CellBox *cells)
{
    const double h = in->cell_size;
    Box box = { .low = { h * (double)cells->low[0], h * (double)cells->low[1], h * (double)cells->low[2] },
                .high = { h * (double)cells->high[0], h * (double)cells->high[1],
                          h * (double)cells->high[2] } };
    box.center = wadi_lerp(box.low, box.high, 0.5);
    box.radius = 0.5 * wadi_norm(wadi_sub(box.high, box.low)) * (1.0 + 1e-9) + 1e-9 * h;
    return box;
}

/* Whether all particles of a box are too deep to be snapped; d: distance at its centre. */
static bool is_box_deep(const WadiSeedIn *in, const Box *box, double d)
{
    double range, depth;
    snap_depths(in, &range, &depth);
    return d < -box->radius - range;
}

/* Whether all, none or some of the particles of a box of cells exist, from the distances at its centre.
 * *is_clear: it is inside the domain and contains no solid. */
static Fill classify(const WadiSeedIn *in, const CellBox *cells, bool *is_deep, bool *is_clear)
{
    const Box box = box_of(in, cells);
    const double d = wadi_shape_distance(in->shape, box.center, in->time);
    *is_deep = is_box_deep(in, &box, d);
    *is_clear = false;
    if (d > box.radius) {
        return FILL_NONE;
    }
    const double solid = solid_distance(in, box.center, 2.0 * box.radius);
    if (solid < -box.radius) {
        return FILL_NONE;
    }
    *is_clear = solid > box.radius && is_in_domain(in, box.low) && is_in_domain(in, box.high);
    return d < -box.radius && *is_clear ? FILL_ALL : FILL_SOME;
}

static uint64_t hash_of(const int64_t cell[3])
{
    return wadi_hash_combine(wadi_hash_combine((uint64_t)cell[0], (uint64_t)cell[1]), (uint64_t)cell[2]);
}

/* Particle `sub` of a cell, whose hash is given. */
static WadiVec3 jittered_position(const WadiSeedIn *in, const int64_t cell[3], uint64_t hash, int sub)
{
    int n = in->per_axis;
    int s[3] = { sub % n, sub / n % n, sub / (n * n) };
    uint64_t id = wadi_hash_combine(hash, (uint64_t)sub + UINT64_C(64) * (uint64_t)n);
    double u[3], x[3];
    wadi_random_unit3(in->seed, id, WADI_RANDOM_JITTER, u);
    for (int a = 0; a < 3; ++a) {
        /* The middle of each of the 2^21 values of u: never on the border of a sub-cell, where aligned
         * faces lie. */
        double inside = 0.5 + in->jitter * (u[a] + 0x1p-22 - 0.5);
        x[a] = ((double)cell[a] + (s[a] + inside) / n) * in->cell_size;
    }
    return wadi_vec3(x[0], x[1], x[2]);
}

/* is_clear: x is known to be in the domain and in no solid. */
static bool may_exist(const WadiSeedIn *in, WadiVec3 x, bool is_clear)
{
    return (is_clear || is_in_domain(in, x)) && wadi_shape_contains(in->shape, x, in->time) &&
           (is_clear || !(solid_distance(in, x, in->cell_size) < 0.0));
}

static WadiVec3 snapped(const WadiSeedIn *in, WadiVec3 x)
{
    double range, depth;
    snap_depths(in, &range, &depth);
    for (int round = 0; round < 3; ++round) { /* an edge takes two, a corner three */
        WadiSurfacePoint point = wadi_shape_sample(in->shape, x, in->time);
        if (!(-point.distance < range)) {
            break;
        }
        WadiVec3 surface_point = wadi_add_scaled(x, point.normal, -point.distance);
        if (solid_distance(in, surface_point, in->cell_size) < 0.5 * in->cell_size) {
            break;
        }
        /* Bodies thinner than the depth have no such position. */
        WadiVec3 to = wadi_add_scaled(x, point.normal, -point.distance - depth);
        if (!may_exist(in, to, false)) {
            break;
        }
        x = to;
    }
    return x;
}

static void store(const Seeding *seeding, int64_t i, WadiVec3 x)
{
    const WadiSeedIn *in = seeding->in;
    WadiParticles *p = seeding->particles;
    WadiVec3 v = wadi_add(in->velocity, wadi_cross(in->angular_velocity, wadi_sub(x, seeding->center)));
    p->x[i] = x.x;
    p->y[i] = x.y;
    p->z[i] = x.z;
    p->vx[i] = (float)v.x;
    p->vy[i] = (float)v.y;
    p->vz[i] = (float)v.z;
    p->material[i] = in->material;
}

static int per_cell(const WadiSeedIn *in)
{
    return in->per_axis * in->per_axis * in->per_axis;
}

static size_t marks_per_block(const WadiSeedIn *in)
{
    return (size_t)BLOCK_CELLS * BLOCK_CELLS * BLOCK_CELLS * (size_t)per_cell(in);
}

/* Cell number n of a block. */
static CellBox cell_of(const SeedBlock *block, int n)
{
    CellBox cell = { { block->low[0] + n % BLOCK_CELLS, block->low[1] + n / BLOCK_CELLS % BLOCK_CELLS,
                       block->low[2] + n / (BLOCK_CELLS * BLOCK_CELLS) },
                     { 0, 0, 0 } };
    for (int a = 0; a < 3; ++a) {
        cell.high[a] = cell.low[a] + 1;
    }
    return cell;
}

static int32_t count_block(const Seeding *seeding, const SeedBlock *block)
{
    const WadiSeedIn *in = seeding->in;
    if (block->fill == FILL_ALL) {
        return (int32_t)marks_per_block(in);
    }
    uint8_t *mark = seeding->marks + (size_t)block->marks * marks_per_block(in);
    int32_t count = 0;
    for (int n = 0; n < BLOCK_CELLS * BLOCK_CELLS * BLOCK_CELLS; ++n) {
        CellBox cell = cell_of(block, n);
        bool is_deep, is_clear = false;
        /* For one particle its own test is as cheap as that of the cell. */
        Fill fill = in->per_axis > 1 ? classify(in, &cell, &is_deep, &is_clear) : FILL_SOME;
        const uint64_t hash = fill == FILL_SOME ? hash_of(cell.low) : 0;
        for (int sub = 0; sub < per_cell(in); ++sub, ++mark) {
            *mark = fill == FILL_ALL || (fill == FILL_SOME &&
                                         may_exist(in, jittered_position(in, cell.low, hash, sub), is_clear));
            count += *mark;
        }
    }
    return count;
}

static void fill_block(const Seeding *seeding, const SeedBlock *block)
{
    const WadiSeedIn *in = seeding->in;
    bool may_snap = in->snap != WADI_SNAP_NONE && !block->is_deep;
    const uint8_t *mark =
        block->fill == FILL_SOME ? seeding->marks + (size_t)block->marks * marks_per_block(in) : NULL;
    int64_t next = seeding->first + block->first;
    for (int n = 0; n < BLOCK_CELLS * BLOCK_CELLS * BLOCK_CELLS; ++n) {
        CellBox cell = cell_of(block, n);
        bool is_deep = !may_snap;
        if (may_snap && in->per_axis > 1) {
            const Box box = box_of(in, &cell);
            is_deep = is_box_deep(in, &box, wadi_shape_distance(in->shape, box.center, in->time));
        }
        const uint64_t hash = hash_of(cell.low);
        for (int sub = 0; sub < per_cell(in); ++sub) {
            if (block->fill == FILL_SOME && *mark++ == 0) {
                continue;
            }
            WadiVec3 x = jittered_position(in, cell.low, hash, sub);
            store(seeding, next++, is_deep ? x : snapped(in, x));
        }
    }
    WADI_ASSERT(next == seeding->first + block->first + block->count);
}

static void count_blocks(void *context, int64_t first, int64_t end)
{
    Seeding *seeding = context;
    for (int64_t b = first; b < end; ++b) {
        seeding->blocks.data[b].count = count_block(seeding, &seeding->blocks.data[b]);
    }
}

static void fill_blocks(void *context, int64_t first, int64_t end)
{
    Seeding *seeding = context;
    for (int64_t b = first; b < end; ++b) {
        fill_block(seeding, &seeding->blocks.data[b]);
    }
}

static double box_particles(const WadiSeedIn *in, const CellBox *box)
{
    return (double)(box->high[0] - box->low[0]) * (double)(box->high[1] - box->low[1]) *
           (double)(box->high[2] - box->low[2]) * per_cell(in);
}

/* Halve a box at a multiple of the block size across its longest axis; false when it is a block already. */
static bool split(const CellBox *box, CellBox half[2])
{
    int axis = 0;
    int64_t longest = 0;
    for (int a = 0; a < 3; ++a) {
        int64_t blocks = (box->high[a] - box->low[a] + BLOCK_CELLS - 1) / BLOCK_CELLS;
        if (blocks > longest) {
            longest = blocks;
            axis = a;
        }
    }
    half[0] = half[1] = *box;
    half[0].high[axis] = half[1].low[axis] = box->low[axis] + longest / 2 * BLOCK_CELLS;
    return longest > 1;
}

/* The cells of the bounding box, cut by the domain; blocks in it begin at multiples of the block size. */
static WadiStatus find_box(const WadiSeedIn *in, CellBox *box, WadiVec3 *center, WadiError *error)
{
    WadiBox bounds = wadi_shape_bounds(in->shape, in->time);
    if (in->solids != NULL) {
        WadiBox cut = wadi_box_intersection(bounds, in->solids->domain);
        bool is_finite = wadi_is_finite(bounds.min) && wadi_is_finite(bounds.max);
        *center = wadi_scale(is_finite ? wadi_add(bounds.min, bounds.max) : wadi_add(cut.min, cut.max), 0.5);
        bounds = cut;
    } else {
        *center = wadi_scale(wadi_add(bounds.min, bounds.max), 0.5);
    }
    *box = (CellBox){ { 0, 0, 0 }, { 0, 0, 0 } };
    if (wadi_box_is_empty(bounds)) {
        return WADI_OK;
    }
    if (!wadi_is_finite(bounds.min) || !wadi_is_finite(bounds.max)) {
        return wadi_fail(error, WADI_ERR_SCENE,
                         "the body has no end: give the scene a domain or cut the shape");
    }
    for (int a = 0; a < 3; ++a) {
        double low = floor(wadi_component(bounds.min, a) / in->cell_size);
        double high = ceil(wadi_component(bounds.max, a) / in->cell_size);
        if (!(low > -CELL_LIMIT && high < CELL_LIMIT)) {
            return wadi_fail(
                error, WADI_ERR_SCENE,
                "the body reaches from %g to %g m, too far for cells of %g m: use larger cells or "
                "move the scene nearer to the origin",
                wadi_component(bounds.min, a), wadi_component(bounds.max, a), in->cell_size);
        }
        box->low[a] = (int64_t)floor(low / BLOCK_CELLS) * BLOCK_CELLS;
        box->high[a] = (int64_t)ceil(high / BLOCK_CELLS) * BLOCK_CELLS;
    }
    return WADI_OK;
}

static WadiStatus fail_count(double count, WadiError *error)
{
    return wadi_fail(
        error, WADI_ERR_SCENE,
        "the body would have about %.0f million particles; a simulation holds at most %d million: use "
        "larger cells or a smaller body",
        1e-6 * count, (int)WADI_PARTICLES_MAX / 1000000);
}

/* Half of the cut boxes is a good guess; a shape with cut boxes only may be a thin shell. */
static const double LIKELY_FRACTION = 0.5, LEAST_FRACTION = 0.02;

/* From a few boxes, coarse to fine, before anything large is allocated: a sure lower bound and a likely
 * count. */
static WadiStatus estimate_count(const WadiSeedIn *in, const CellBox *whole, double *least, double *likely,
                                 WadiError *error)
{
    CellBoxes boxes = { 0 };
    WadiStatus status = WADI_ARRAY_PUSH(&boxes, *whole, "boxes of cells", error);
    double full = 0.0, cut = 0.0;
    for (size_t next = 0; status == WADI_OK && next < boxes.count; ++next) {
        CellBox box = boxes.data[next], half[2];
        bool is_deep, is_clear;
        Fill fill = classify(in, &box, &is_deep, &is_clear);
        if (fill == FILL_ALL) {
            full += box_particles(in, &box);
        } else if (fill == FILL_SOME && boxes.count < ESTIMATE_BOXES && split(&box, half)) {
            for (int i = 0; i < 2 && status == WADI_OK; ++i) {
                status = WADI_ARRAY_PUSH(&boxes, half[i], "boxes of cells", error);
            }
        } else if (fill == FILL_SOME) {
            cut += box_particles(in, &box);
        }
    }
    WADI_ARRAY_FREE(&boxes);
    *least = full + LEAST_FRACTION * cut;
    *likely = full + LIKELY_FRACTION * cut;
    return status;
}

static bool is_empty(const CellBox *box)
{
    return box->high[0] <= box->low[0] || box->high[1] <= box->low[1] || box->high[2] <= box->low[2];
}

/* Blocks that have particles, in an order that depends on the shape alone. */
static WadiStatus find_blocks(Seeding *seeding, CellBox whole, WadiError *error)
{
    CellBoxes stack = { 0 };
    WadiStatus status = WADI_ARRAY_PUSH(&stack, whole, "boxes of cells", error);
    while (status == WADI_OK && stack.count > 0) {
        CellBox box = stack.data[--stack.count], half[2];
        bool is_deep, is_clear;
        Fill fill = classify(seeding->in, &box, &is_deep, &is_clear);
        if (fill == FILL_NONE) {
            continue;
        }
        if (split(&box, half)) {
            for (int i = 1; i >= 0 && status == WADI_OK; --i) {
                status = WADI_ARRAY_PUSH(&stack, half[i], "boxes of cells", error);
            }
        } else {
            SeedBlock block = { .fill = fill, .is_deep = is_deep, .marks = seeding->marked_blocks };
            seeding->marked_blocks += fill == FILL_SOME;
            memcpy(block.low, box.low, sizeof block.low);
            memcpy(block.high, box.high, sizeof block.high);
            status = WADI_ARRAY_PUSH(&seeding->blocks, block, "blocks of cells", error);
        }
    }
    WADI_ARRAY_FREE(&stack);
    return status;
}

static WadiStatus prepare(Seeding *seeding, int64_t *count, WadiError *error)
{
    const WadiSeedIn *in = seeding->in;
    WADI_ASSERT_TRY(in->cell_size > 0.0 && in->per_axis >= 1 && in->per_axis <= 4, error);
    WADI_ASSERT_TRY(in->jitter >= 0.0 && in->jitter <= 1.0, error);
    *count = 0;
    CellBox whole;
    WADI_TRY(find_box(in, &whole, &seeding->center, error));
    if (is_empty(&whole)) {
        return WADI_OK;
    }
    double least, likely;
    WADI_TRY(estimate_count(in, &whole, &least, &likely, error));
    if (least > WADI_PARTICLES_MAX) {
        return fail_count(likely, error);
    }
    WADI_TRY(find_blocks(seeding, whole, error));
    WADI_TRY(wadi_alloc((void **)&seeding->marks, (size_t)seeding->marked_blocks, marks_per_block(in),
                        "marks of particles", error));
    wadi_parallel_for((int64_t)seeding->blocks.count, 1, count_blocks, seeding);
    for (size_t b = 0; b < seeding->blocks.count; ++b) {
        seeding->blocks.data[b].first = *count;
        *count += seeding->blocks.data[b].count;
    }
    return *count > WADI_PARTICLES_MAX ? fail_count((double)*count, error) : WADI_OK;
}

static void release(Seeding *seeding)
{
    wadi_free(seeding->marks, (size_t)seeding->marked_blocks, marks_per_block(seeding->in));
    WADI_ARRAY_FREE(&seeding->blocks);
}

WadiStatus wadi_seed_expect(const WadiSeedIn *in, double *least, double *likely, WadiError *error)
{
    CellBox whole;
    WadiVec3 center;
    *least = *likely = 0.0;
    WADI_TRY(find_box(in, &whole, &center, error));
    return is_empty(&whole) ? WADI_OK : estimate_count(in, &whole, least, likely, error);
}

WadiStatus wadi_seed_count(const WadiSeedIn *in, int64_t *count, WadiError *error)
{
    Seeding seeding = { .in = in };
    WadiStatus status = prepare(&seeding, count, error);
    release(&seeding);
    return status;
}

WadiStatus wadi_seed_fill(const WadiSeedIn *in, WadiParticles *particles, int64_t *count, WadiError *error)
{
    Seeding seeding = { .in = in };
    int32_t first = 0;
    WadiStatus status = prepare(&seeding, count, error);
    if (status == WADI_OK && *count > 0) {
        status = wadi_particles_append(particles, *count, &first, error);
        if (status == WADI_OK) {
            seeding.particles = particles;
            seeding.first = first;
            wadi_parallel_for((int64_t)seeding.blocks.count, 1, fill_blocks, &seeding);
            status = wadi_particles_order_by_cell(particles, first, in->cell_size, error);
            if (status != WADI_OK) {
                wadi_particles_drop_newest(particles, *count);
            }
        }
    }
    if (status != WADI_OK) {
        *count = 0;
    }
    release(&seeding);
    return status;
}
