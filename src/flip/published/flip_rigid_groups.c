/* Rigid groups: face-connected RIGID cells, and the rigid motion nearest to the velocities on their faces.
 * Source: [ZB05 sec. 3.2].
 * Differs: total momentum over mass with one inertia tensor is right only if the three staggered
 * components have equal masses and centres. Weighted least squares over the faces leave a residual
 * orthogonal to all rigid motions: linear and angular momentum are conserved exactly (in this quadrature),
 * a second projection changes nothing, and the energy cannot grow.
 * Chosen: the paper does not say how solids enter a group. A group that friction holds at a solid takes the
 * rigid motion nearest to that of the solid, at the sides where it is held. */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "flip/published/flip_rigid_cells.h"

static int32_t root_of(int32_t *parent, int32_t c)
{
    while (parent[c] != c) {
        parent[c] = parent[parent[c]];
        c = parent[c];
    }
    return c;
}

static bool row_has_group(const WadiRows *rows, const uint8_t *rigid, int32_t row)
{
    const int32_t *neighbour = rows->neighbour[row];
    return (rigid[row] | rigid[neighbour[WADI_ROW_X_MIN]] >> 7 | rigid[neighbour[WADI_ROW_Y_MIN]] |
            rigid[neighbour[WADI_ROW_Z_MIN]]) != 0;
}

/* Serial: the smallest cell of a group is its root, so the numbering does not depend on the order of
 * joins. */
WadiStatus wadi_rigid_groups(const WadiRows *rows, const uint8_t *rigid, WadiRigidGroups *groups,
                             WadiArena *arena, WadiError *error)
{
    *groups = (WadiRigidGroups){ 0 };
    int32_t *parent, cells = 8 * rows->count;
    WADI_TRY(WADI_ARENA_NEW(arena, &parent, (size_t)cells, "rigid groups", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &groups->group, (size_t)cells, "rigid groups", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &groups->row, (size_t)rows->count, "rigid groups", error));
    for (int32_t c = 0; c < cells; ++c) {
        parent[c] = c;
        groups->group[c] = -1;
    }
    for (int32_t row = 1; row < rows->count; ++row) {
        if (row_has_group(rows, rigid, row)) {
            groups->row[groups->row_count++] = row;
        }
    }
    for (int32_t c = 8; c < cells; ++c) {
        for (int axis = 0; wadi_cell_bit(rigid, c) && axis < 3; ++axis) {
            int32_t low = wadi_cell_neighbour(rows, c, 2 * axis);
            if (wadi_cell_bit(rigid, low)) {
                int32_t a = root_of(parent, c), b = root_of(parent, low);
                parent[a > b ? a : b] = a > b ? b : a;
            }
        }
    }
    for (int32_t c = 8; c < cells; ++c) {
        if (wadi_cell_bit(rigid, c)) {
            int32_t root = root_of(parent, c);
            groups->group[c] = root == c ? groups->count++ : groups->group[root];
        }
    }
    return WADI_OK;
}

/* A face of a group: its weight and its row (n, r x n) of the least squares. */
typedef struct Face {
    int32_t group;
    double mass;
    WadiVec3 position; /* cells */
    double speed;
} Face;

static Face face_of(const WadiFrictionGrid *grid, const WadiRigidGroups *groups, int32_t c, int axis)
{
    int32_t low = wadi_cell_neighbour(grid->rows, c, 2 * axis), cell[3];
    Face face = { .group = groups->group[c] >= 0 ? groups->group[c] : groups->group[low] };
    if (face.group < 0 || !wadi_face_is_free(grid, c, axis)) {
        face.group = -1;
        return face;
    }
    wadi_rows_cell(grid->rows, c >> 3, cell);
    face.mass = 0.5 * (wadi_cell_bit(grid->fluid, c) + wadi_cell_bit(grid->fluid, low));
    face.position = wadi_vec3(cell[0] + (c & 7) + (axis != 0) * 0.5, cell[1] + (axis != 1) * 0.5,
                              cell[2] + (axis != 2) * 0.5);
    return face;
}

/* Velocity of the solid along an axis at the middle of a side of a cell. */
static Face contact_of(const WadiFrictionGrid *grid, const WadiRigidGroups *groups, int32_t c, int side,
                       int axis)
{
    const int32_t beside = wadi_cell_neighbour(grid->rows, c, side), normal = side >> 1;
    const int32_t face = axis == normal ? (side & 1 ? beside : c) : beside;
    int32_t cell[3];
    wadi_rows_cell(grid->rows, c >> 3, cell);
    Face contact = { .group = groups->group[c], .mass = 1.0 };
    contact.speed = (double)wadi_solid_speed(grid, axis, face);
    if (axis != normal) {
        const int32_t next = wadi_cell_neighbour(grid->rows, beside, 2 * axis + 1);
        contact.speed = 0.5 * (contact.speed + (double)wadi_solid_speed(grid, axis, next));
    }
    const double end = side & 1 ? 1.0 : 0.0;
    contact.position = wadi_vec3(cell[0] + (c & 7) + (normal == 0 ? end : 0.5),
                                 cell[1] + (normal == 1 ? end : 0.5), cell[2] + (normal == 2 ? end : 0.5));
    return contact;
}

static void basis_row(WadiVec3 arm, int axis, double row[6])
{
    WadiVec3 normal = wadi_vec3(axis == 0, axis == 1, axis == 2), turn = wadi_cross(arm, normal);
    memcpy(row, (double[6]){ normal.x, normal.y, normal.z, turn.x, turn.y, turn.z }, 6 * sizeof *row);
}

typedef struct Sums {
    double mass,
        radius;   /* radius: root mean square distance of the faces from the centre, the unit of arms */
    bool is_held; /* faces are contacts with solids */
    WadiVec3 centre;
    double a[6][6], b[6];
} Sums;

/* Eigenvalues on the diagonal of `a`, eigenvectors in the columns of v: cyclic Jacobi. */
static void diagonalise(double a[6][6], double v[6][6])
{
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            v[i][j] = i == j;
        }
    }
    for (int sweep = 0; sweep < 30; ++sweep) {
        for (int p = 0; p < 5; ++p) {
            for (int q = p + 1; q < 6; ++q) {
                if (a[p][q] == 0.0) {
                    continue;
                }
                double half = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
                double t = copysign(1.0, half) / (fabs(half) + sqrt(half * half + 1.0));
                double cosine = 1.0 / sqrt(t * t + 1.0), sine = t * cosine;
                for (int i = 0; i < 6; ++i) {
                    double ip = a[i][p], iq = a[i][q];
                    a[i][p] = cosine * ip - sine * iq;
                    a[i][q] = sine * ip + cosine * iq;
                }
                for (int i = 0; i < 6; ++i) {
                    double pi = a[p][i], qi = a[q][i], vp = v[i][p], vq = v[i][q];
                    a[p][i] = cosine * pi - sine * qi;
                    a[q][i] = sine * pi + cosine * qi;
                    v[i][p] = cosine * vp - sine * vq;
                    v[i][q] = sine * vp + cosine * vq;
                }
            }
        }
    }
}

/* Least squares solution of smallest norm: some rotations of a single cell or a line of cells change no
 * face. */
static void solve_motion(Sums *sums, WadiRigidMotion *motion)
{
    double v[6][6], x[6] = { 0 }, largest = 0.0;
    diagonalise(sums->a, v);
    for (int n = 0; n < 6; ++n) {
        largest = fmax(largest, sums->a[n][n]);
    }
    for (int n = 0; n < 6; ++n) {
        if (sums->a[n][n] > 1e-10 * largest) {
            double along = 0.0;
            for (int i = 0; i < 6; ++i) {
                along += v[i][n] * sums->b[i];
            }
            for (int i = 0; i < 6; ++i) {
                x[i] += v[i][n] * along / sums->a[n][n];
            }
        }
    }
    double turn = sums->radius > 0.0 ? 1.0 / sums->radius : 0.0;
    *motion = (WadiRigidMotion){ .centre = sums->centre,
                                 .velocity = wadi_vec3(x[0], x[1], x[2]),
                                 .spin = wadi_scale(wadi_vec3(x[3], x[4], x[5]), turn),
                                 .mass = sums->mass / 3.0 };
}

double wadi_rigid_face_speed(const WadiRigidMotion *motion, const int32_t cell[3], int axis)
{
    WadiVec3 position =
        wadi_vec3(cell[0] + (axis != 0) * 0.5, cell[1] + (axis != 1) * 0.5, cell[2] + (axis != 2) * 0.5);
    WadiVec3 speed = wadi_add(motion->velocity, wadi_cross(motion->spin, wadi_sub(position, motion->centre)));
    return wadi_component(speed, axis);
}

/* First mass and centre, then the radius, then the equations. */
static void add_face(Sums *sum, const Face *face, int axis, int pass)
{
    if (pass == 0) {
        sum->mass += face->mass;
        sum->centre = wadi_add_scaled(sum->centre, face->position, face->mass);
        return;
    }
    WadiVec3 arm = wadi_sub(face->position, sum->centre);
    if (pass == 1) {
        sum->radius += face->mass * wadi_dot(arm, arm);
        return;
    }
    double row[6];
    basis_row(wadi_scale(arm, 1.0 / sum->radius), axis, row);
    for (int i = 0; i < 6; ++i) {
        sum->b[i] += face->mass * row[i] * face->speed;
        for (int j = 0; j < 6; ++j) {
            sum->a[i][j] += face->mass * row[i] * row[j];
        }
    }
}

static unsigned held_sides(const WadiRigidGroups *groups, int32_t c)
{
    return groups->held != NULL && groups->group[c] >= 0 ? groups->held[c] : 0;
}

/* Serial sums in cell order: the same bytes for any thread count. */
static void gather(const WadiFrictionGrid *grid, const WadiRigidGroups *groups, float *const velocity[3],
                   Sums *sums)
{
    for (int32_t n = 0; n < 8 * groups->row_count; ++n) {
        const int32_t c = 8 * groups->row[n >> 3] + (n & 7);
        if (held_sides(groups, c) != 0) {
            sums[groups->group[c]].is_held = true;
        }
    }
    for (int pass = 0; pass < 3; ++pass) {
        for (int32_t n = 0; n < 8 * groups->row_count; ++n) {
            int32_t c = 8 * groups->row[n >> 3] + (n & 7);
            for (int axis = 0; axis < 3; ++axis) {
                Face face = face_of(grid, groups, c, axis);
                if (face.group >= 0 && !sums[face.group].is_held) {
                    face.speed = (double)velocity[axis][c];
                    add_face(&sums[face.group], &face, axis, pass);
                }
                for (unsigned left = held_sides(groups, c); left != 0; left &= left - 1) {
                    face = contact_of(grid, groups, c, __builtin_ctz(left), axis);
                    add_face(&sums[face.group], &face, axis, pass);
                }
            }
        }
        for (int32_t g = 0; g < groups->count; ++g) {
            if (pass == 0 && sums[g].mass > 0.0) {
                sums[g].centre = wadi_scale(sums[g].centre, 1.0 / sums[g].mass);
            } else if (pass == 1) {
                /* A single face has no arm: any unit is valid. */
                double radius = sums[g].mass > 0.0 ? sqrt(sums[g].radius / sums[g].mass) : 0.0;
                sums[g].radius = radius > 0.0 ? radius : 1.0;
            }
        }
    }
}

WadiStatus wadi_rigid_project(const WadiFrictionGrid *grid, const WadiRigidGroups *groups,
                              float *const velocity[3], WadiRigidMotion **motion, WadiArena *arena,
                              WadiError *error)
{
    *motion = NULL;
    size_t count = (size_t)groups->count;
    if (count == 0) {
        return WADI_OK;
    }
    Sums *sums;
    WADI_TRY(WADI_ARENA_NEW(arena, &sums, count, "rigid groups", error));
    WADI_TRY(WADI_ARENA_NEW(arena, motion, count, "rigid groups", error));
    memset(sums, 0, count * sizeof *sums);
    gather(grid, groups, velocity, sums);
    for (size_t g = 0; g < count; ++g) {
        solve_motion(&sums[g], &(*motion)[g]);
    }
    for (int32_t n = 0; n < 8 * groups->row_count; ++n) {
        int32_t c = 8 * groups->row[n >> 3] + (n & 7);
        for (int axis = 0; axis < 3; ++axis) {
            Face face = face_of(grid, groups, c, axis);
            if (face.group >= 0) {
                int32_t cell[3];
                wadi_rows_cell(grid->rows, c >> 3, cell);
                cell[0] += c & 7;
                velocity[axis][c] = (float)wadi_rigid_face_speed(&(*motion)[face.group], cell, axis);
            }
        }
    }
    return WADI_OK;
}
