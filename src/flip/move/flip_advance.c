#include "flip/move/flip_advance.h"

#include <stdatomic.h>

#include "core/parallel.h"
#include "flip/transfer/flip_transfer_block.h"

enum { PART = WADI_FLIP_LONG_MAX, TILE_BLOCK = 2 }; /* a full tile of eight particles a cell is one part */

typedef struct Advance {
    WadiFlipGather gather;
    const WadiFlipWatch *watch;
    WadiFlipMover mover;
    atomic_llong tested, touched, stuck; /* sums of integers: the order does not matter */
} Advance;

static void advance_tiles(void *context, int64_t begin, int64_t end)
{
    Advance *advance = context;
    const int32_t *start = advance->gather.in->sort->tile_start;
    WadiCollideReport report = { 0 };
    WadiFlipGatherScratch scratch;
    double x[PART], y[PART], z[PART];
    for (int32_t t = (int32_t)begin; t < end; ++t) {
        WadiFlipDisplacements displacements = { 0 };
        wadi_flip_gather_fill(&advance->gather, t, &scratch);
        for (int32_t first = start[t]; first < start[t + 1]; first += PART) {
            int32_t next = start[t + 1] - first < PART ? start[t + 1] : first + PART;
            WadiFlipPath path = { .x = x, .y = y, .z = z, .first = first };
            wadi_flip_gather_part(&advance->gather, t, first, next, &path, &scratch);
            if (advance->watch != NULL) {
                wadi_flip_watch_part(advance->watch, &path, first, next, &displacements);
            }
            wadi_flip_move_part(&advance->mover, t, &path, first, next, &report);
        }
        if (advance->watch != NULL) {
            wadi_flip_watch_tile(advance->watch, t, &displacements);
        }
    }
    atomic_fetch_add(&advance->tested, report.tested);
    atomic_fetch_add(&advance->touched, report.touched);
    atomic_fetch_add(&advance->stuck, report.stuck);
}

WadiCollideReport wadi_flip_advance(WadiParticles *particles, const WadiFlipToParticlesIn *velocity,
                                    const WadiFlipWatch *watch, const WadiFlipMoveIn *move)
{
    Advance advance = { .watch = watch };
    wadi_flip_gather_begin(&advance.gather, particles, velocity);
    wadi_flip_move_begin(&advance.mover, particles, move);
    wadi_parallel_for(velocity->sort->tiles.count, TILE_BLOCK, advance_tiles, &advance);
    return (WadiCollideReport){ advance.tested, advance.touched, advance.stuck };
}

typedef struct MoveAll {
    WadiFlipMover mover;
    const WadiFlipPath *path;
    atomic_llong tested, touched, stuck; /* sums of integers: the order does not matter */
} MoveAll;

static void move_tiles(void *user, int64_t first, int64_t end)
{
    MoveAll *all = user;
    const int32_t *start = all->mover.in->sort->tile_start;
    WadiCollideReport report = { 0 };
    for (int32_t tile = (int32_t)first; tile < end; ++tile) {
        wadi_flip_move_part(&all->mover, tile, all->path, start[tile], start[tile + 1], &report);
    }
    atomic_fetch_add(&all->tested, report.tested);
    atomic_fetch_add(&all->touched, report.touched);
    atomic_fetch_add(&all->stuck, report.stuck);
}

WadiCollideReport wadi_flip_move(WadiParticles *particles, const WadiFlipPath *path, const WadiFlipMoveIn *in)
{
    MoveAll all = { .path = path };
    wadi_flip_move_begin(&all.mover, particles, in);
    if (in->solid == NULL) {
        return wadi_collide_move_all(&all.mover.collide, particles, path->x, path->y, path->z);
    }
    wadi_parallel_for(in->sort->tiles.count, 1, move_tiles, &all);
    return (WadiCollideReport){ all.tested, all.touched, all.stuck };
}
