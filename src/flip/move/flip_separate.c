/* Push apart pairs of particles closer than a diameter, each by half of the overlap.
 * Source: [A24], which proposes it in place of the density correction; [theory 7.4].
 * Differs: all pairs of an iteration are pushed from the same positions, so that the order does not
 * matter. A push is divided by the larger contact count of its two particles: equal and opposite, so the
 * centre of mass stays, and no particle moves further than its deepest overlap. */
#include "flip/move/flip_separate.h"

#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "core/random.h"
#include "particles/cells.h"

enum { PARTICLE_BLOCK = 2048 };

/* Applied to particles with several contacts; 8 iterations on random positions at the rest density remove
 * 70 % of the overlap, 61 % with a factor of 1. */
static const double OVER_RELAXATION = 1.5;

typedef struct Separate {
    const WadiParticles *at; /* the store with its positions replaced */
    const WadiNeighbours *near;
    int32_t *contacts;
    double *move[3];
    double *position[3];
    double diameter;
} Separate;

static double count_contacts(void *user, int64_t first, int64_t end)
{
    const Separate *work = user;
    int64_t sum = 0;
    for (int64_t i = first; i < end; ++i) {
        work->contacts[i] = (int32_t)(work->near->start[i + 1] - work->near->start[i]);
        sum += work->contacts[i];
    }
    return (double)sum;
}

WadiVec3 wadi_flip_any_direction(uint32_t id, uint32_t other)
{
    double u[3];
    uint64_t low = id < other ? id : other, high = id < other ? other : id;
    wadi_random_unit3(low, high, WADI_RANDOM_JITTER, u);
    double z = 2.0 * u[0] - 1.0, angle = 6.283185307179586 * u[1], r = sqrt(fmax(0.0, 1.0 - z * z));
    return wadi_scale(wadi_vec3(r * cos(angle), r * sin(angle), z), id < other ? 1.0 : -1.0);
}

static void push_apart(void *user, int64_t first, int64_t end)
{
    const Separate *work = user;
    for (int64_t i = first; i < end; ++i) {
        WadiVec3 x = { work->position[0][i], work->position[1][i], work->position[2][i] }, sum = { 0 };
        for (int64_t n = work->near->start[i]; n < work->near->start[i + 1]; ++n) {
            int32_t j = work->near->index[n];
            WadiVec3 apart =
                wadi_sub(x, wadi_vec3(work->position[0][j], work->position[1][j], work->position[2][j]));
            double distance = wadi_norm(apart);
            int32_t contacts = work->contacts[i] > work->contacts[j] ? work->contacts[i] : work->contacts[j];
            double push = 0.5 * (work->diameter - distance) * fmin(1.0, OVER_RELAXATION / contacts);
            if (distance > 1e-9 * work->diameter) {
                sum = wadi_add_scaled(sum, apart, push / distance);
            } else {
                sum = wadi_add_scaled(sum, wadi_flip_any_direction(work->at->id[i], work->at->id[j]), push);
            }
        }
        work->move[0][i] = sum.x;
        work->move[1][i] = sum.y;
        work->move[2][i] = sum.z;
    }
}

static void add_moves(void *user, int64_t first, int64_t end)
{
    const Separate *work = user;
    for (int a = 0; a < 3; ++a) {
        for (int64_t i = first; i < end; ++i) {
            work->position[a][i] += work->move[a][i];
        }
    }
}

WadiStatus wadi_flip_separate(const WadiFlipSeparateIn *in, double *x, double *y, double *z,
                              WadiArena *scratch, WadiFlipSeparateReport *report, WadiError *error)
{
    WADI_ASSERT(in->diameter > 0.0 && in->iterations >= 0);
    *report = (WadiFlipSeparateReport){ 0 };
    const int32_t count = in->particles->count;
    if (count == 0) {
        return WADI_OK;
    }
    WadiParticles at = *in->particles;
    at.x = x;
    at.y = y;
    at.z = z;
    Separate work = { .at = &at, .position = { x, y, z }, .diameter = in->diameter };
    double *partials = NULL;
    WADI_TRY(WADI_ARENA_NEW(scratch, &work.contacts, (size_t)count, "separation", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &partials, (size_t)wadi_parallel_block_count(count, PARTICLE_BLOCK),
                            "separation", error));
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(scratch, &work.move[a], (size_t)count, "separation", error));
    }
    for (int k = 0; k < in->iterations; ++k) {
        WadiCells cells;
        WadiNeighbours near;
        /* Eight particles a cell: half the time of cells of one diameter. */
        WADI_TRY(wadi_cells_build(&cells, &at, 2.0 * in->diameter, scratch, error));
        WADI_TRY(wadi_neighbours_fixed(&near, &cells, &at, in->diameter, scratch, error));
        work.near = &near;
        double sum = wadi_parallel_sum(count, PARTICLE_BLOCK, count_contacts, &work, partials);
        report->contacts = (int64_t)(sum / 2.0);
        wadi_parallel_for(count, PARTICLE_BLOCK, push_apart, &work);
        wadi_parallel_for(count, PARTICLE_BLOCK, add_moves, &work);
    }
    return WADI_OK;
}
