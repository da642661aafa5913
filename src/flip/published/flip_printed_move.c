/* Paths of particles as printed. [ZB05 sec. 4.2.5]: RK2 in five parts of the step; particles inside a solid
 * are moved out along the normal, to just outside. [A24 sec. I-A]: x + dt v, and the same at solids.
 * A wall thinner than the length of a part does not hold them. */
#include <math.h>
#include <stdatomic.h>

#include "core/parallel.h"
#include "flip/published/flip_printed.h"

enum { BLOCK = 1024 };

/* Distance of particles outside a solid that they have left, in cells. */
static const double SKIN = 1e-3;
/* A corner of the domain has three walls. */
enum { PUSHES = 3 };
/* From the centre of a cell to its corner, in cells. */
static const double HALF_DIAGONAL = 0.8661;

typedef struct Move {
    const WadiPrintedMoveIn *in;
    WadiParticles *particles;
    atomic_llong touched; /* a sum of integers: the order does not matter */
} Move;

/* The solids at the time of the grid are far from the cell of x. */
static bool is_far(const WadiPrintedMoveIn *in, WadiVec3 x)
{
    const double h = in->cell_size;
    const double cell[3] = { floor(x.x / h), floor(x.y / h), floor(x.z / h) };
    for (int a = 0; a < 3; ++a) {
        if (!(fabs(cell[a]) < 2147483584.0)) {
            return false;
        }
    }
    const int32_t i = (int32_t)cell[0];
    const int32_t row = wadi_rows_find(&in->grid->rows, i, (int32_t)cell[1], (int32_t)cell[2]);
    if (row == 0) {
        return false;
    }
    const float distance =
        in->solid->distance[wadi_table_cell(in->solid->row, 8 * (size_t)row + (size_t)(i & 7))];
    return (double)distance > (HALF_DIAGONAL + SKIN) * h;
}

static bool push_out(const WadiPrintedMoveIn *in, double time, bool is_moving, WadiVec3 *x, WadiVec3 *v)
{
    bool was_inside = false;
    if (!is_moving && is_far(in, *x)) {
        return false;
    }
    for (int n = 0; n < PUSHES; ++n) {
        const WadiSolidPoint point = wadi_solids_sample(in->solids, *x, time);
        if (!(point.surface.distance < 0.0)) {
            break;
        }
        const WadiVec3 normal = point.surface.normal;
        *x = wadi_add_scaled(*x, normal, SKIN * in->cell_size - point.surface.distance);
        const double into = wadi_dot(*v, normal);
        if (in->is_stopped && into < 0.0) {
            *v = wadi_add_scaled(*v, normal, -into);
        }
        was_inside = true;
    }
    return was_inside;
}

static WadiVec3 velocity_at(const WadiPrintedMoveIn *in, WadiVec3 x, WadiVec3 otherwise)
{
    const double position[3] = { x.x / in->cell_size, x.y / in->cell_size, x.z / in->cell_size };
    double u[3] = { otherwise.x, otherwise.y, otherwise.z };
    wadi_flip_grid_sample(in->grid, position, u);
    return wadi_vec3(u[0], u[1], u[2]);
}

static void move_block(void *context, int64_t first, int64_t end)
{
    Move *move = context;
    const WadiPrintedMoveIn *in = move->in;
    WadiParticles *p = move->particles;
    const bool is_moving = wadi_solids_are_moving(in->solids);
    const int parts = in->substeps > 0 ? in->substeps : 1;
    const double part = in->dt / parts;
    long long touched = 0;
    for (int64_t i = first; i < end; ++i) {
        WadiVec3 x = wadi_vec3(p->x[i], p->y[i], p->z[i]);
        WadiVec3 v = wadi_vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]), u = v;
        bool has_contact = false;
        for (int n = 0; n < parts; ++n) {
            if (in->substeps > 0) {
                u = velocity_at(in, x, u);
                u = velocity_at(in, wadi_add_scaled(x, u, 0.5 * part), u);
            }
            x = wadi_add_scaled(x, u, part);
            has_contact = push_out(in, in->time + (n + 1) * part, is_moving, &x, &v) || has_contact;
        }
        p->x[i] = x.x;
        p->y[i] = x.y;
        p->z[i] = x.z;
        if (in->is_stopped && has_contact) {
            p->vx[i] = (float)v.x;
            p->vy[i] = (float)v.y;
            p->vz[i] = (float)v.z;
        }
        touched += has_contact;
    }
    atomic_fetch_add(&move->touched, touched);
}

WadiCollideReport wadi_printed_move(WadiParticles *particles, const WadiPrintedMoveIn *in)
{
    Move move = { .in = in, .particles = particles };
    atomic_init(&move.touched, 0);
    wadi_parallel_for(particles->count, BLOCK, move_block, &move);
    return (WadiCollideReport){ .tested = particles->count, .touched = atomic_load(&move.touched) };
}
