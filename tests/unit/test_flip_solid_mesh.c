/* flip: a moving mesh on the grid, against the exact solid. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flip_solid_fixture.h"

enum { SIDE = 24, POINTS = 24, TURNS = 3 };

/* A hollow box, in cells: half sizes of the outside, thickness of the walls. */
typedef struct Vessel {
    WadiVec3 half;
    double thickness;
} Vessel;

static void write_box(FILE *file, WadiVec3 half, bool is_cavity, int first)
{
    for (int i = 0; i < 8; ++i) {
        fprintf(file, "v %.9g %.9g %.9g\n", (i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
                (i & 4) != 0 ? half.z : -half.z);
    }
    static const int quad[6][4] = { { 1, 3, 4, 2 }, { 5, 6, 8, 7 }, { 1, 2, 6, 5 },
                                    { 3, 7, 8, 4 }, { 1, 5, 7, 3 }, { 2, 4, 8, 6 } };
    for (int n = 0; n < 6; ++n) {
        fprintf(file, "f");
        for (int c = 0; c < 4; ++c) {
            fprintf(file, " %d", first + quad[n][is_cavity ? 3 - c : c]);
        }
        fprintf(file, "\n");
    }
}

static WadiVec3 cavity_of(const Vessel *vessel)
{
    const double t = vessel->thickness;
    return wadi_sub(vessel->half, wadi_vec3(t, t, t));
}

/* At time 0 turned by `angle` degrees about two axes; it moves slowly. */
static WadiShape *moving_vessel(const Vessel *vessel, double angle)
{
    char folder[] = "/tmp/wadi_vessel_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/vessel.obj", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    write_box(file, vessel->half, false, 0);
    write_box(file, cavity_of(vessel), true, 8);
    fclose(file);
    WadiShapeDef def = wadi_shape_def(WADI_SHAPE_MESH);
    WadiError error;
    CHECK_OK(wadi_string_copy(&def.file, path, strlen(path), &error), error);
    def.translate = curve_of(0.0, wadi_vec3(12.03, 11.98, 12.1), 1.0, wadi_vec3(12.1, 12, 12));
    def.rotate = curve_of(0.0, wadi_vec3(angle, 0.6 * angle, 0), 1.0, wadi_vec3(angle, angle, 1));
    WadiShape *shape = shape_of(def);
    CHECK_OK(wadi_shape_add_bands(shape, 1.0, &error), error);
    unlink(path);
    rmdir(folder);
    return shape;
}

static bool is_in(WadiVec3 half, WadiVec3 p)
{
    return fabs(p.x) < half.x && fabs(p.y) < half.y && fabs(p.z) < half.z;
}

/* Part of a face outside the vessel, by points. */
static double exact_open(const Vessel *vessel, const WadiAffine *inverse, const double low[3], int axis)
{
    const WadiVec3 cavity = cavity_of(vessel);
    int open = 0;
    for (int n = 0; n < POINTS * POINTS; ++n) {
        double p[3] = { low[0], low[1], low[2] };
        p[(axis + 1) % 3] += (n % POINTS + 0.5) / POINTS;
        p[(axis + 2) % 3] += ((double)(n / POINTS) + 0.5) / POINTS;
        const WadiVec3 local = wadi_affine_point(inverse, wadi_vec3(p[0], p[1], p[2]));
        open += !is_in(vessel->half, local) || is_in(cavity, local);
    }
    return (double)open / (POINTS * POINTS);
}

typedef struct Errors {
    double mean, largest, bias; /* of the open fractions of cut faces that no wall has closed */
    int count;
} Errors;

static Errors face_errors(const FlipBox *box, const WadiFlipSolid *out, const Vessel *vessel, double angle)
{
    const WadiVec3 zero = { 0, 0, 0 }, one = { 1, 1, 1 };
    const WadiAffine map =
        wadi_affine_compose(wadi_vec3(12.03, 11.98, 12.1), wadi_vec3(angle, 0.6 * angle, 0), one, zero);
    WadiAffine inverse;
    assert_true(wadi_affine_inverse(&map, &inverse));
    Errors errors = { 0 };
    for (int n = 0; n < SIDE * SIDE * SIDE; ++n) {
        const int at[3] = { n % SIDE, n / SIDE % SIDE, n / (SIDE * SIDE) };
        for (int axis = 0; axis < 3; ++axis) {
            const size_t cell = wadi_table_cell(out->row, flip_box_at(box, at[0], at[1], at[2]));
            const double open = (double)out->open[axis][cell];
            const double low[3] = { at[0], at[1], at[2] };
            if (open == 0.0 || out->distance[cell] > 1.5f) {
                continue;
            }
            const double exact = exact_open(vessel, &inverse, low, axis);
            if (open == 1.0 && exact == 1.0) {
                continue;
            }
            const double error = open - exact;
            errors.mean += fabs(error);
            errors.bias += error;
            errors.largest = fmax(errors.largest, fabs(error));
            errors.count += 1;
        }
    }
    errors.mean /= errors.count;
    errors.bias /= errors.count;
    return errors;
}

/* Cells that a path over open faces joins to the middle of the box. */
static int flood(const FlipBox *box, const WadiFlipSolid *out)
{
    static int stack[SIDE * SIDE * SIDE];
    static bool is_wet[SIDE * SIDE * SIDE];
    memset(is_wet, 0, sizeof is_wet);
    int top = 0, count = 0;
    stack[top++] = (12 * SIDE + 12) * SIDE + 12;
    is_wet[stack[0]] = true;
    while (top > 0) {
        const int n = stack[--top];
        count += 1;
        for (int side = 0; side < 6; ++side) {
            int at[3] = { n % SIDE, n / SIDE % SIDE, n / (SIDE * SIDE) }, face[3];
            memcpy(face, at, sizeof face);
            at[side / 2] += side % 2 == 0 ? -1 : 1;
            face[side / 2] += side % 2;
            if (at[side / 2] < 0 || at[side / 2] >= SIDE) {
                continue;
            }
            const size_t cell = wadi_table_cell(out->row, flip_box_at(box, face[0], face[1], face[2]));
            const int next = (at[2] * SIDE + at[1]) * SIDE + at[0];
            if (out->open[side / 2][cell] > 0.0f && !is_wet[next]) {
                is_wet[next] = true;
                stack[top++] = next;
            }
        }
    }
    return count;
}

/* The vessel holds what is in it whatever its walls and angle, and its faces are open as they should be. */
static void a_moving_vessel_is_tight_and_has_known_areas(void **unused)
{
    (void)unused;
    static const double thickness[] = { 0.02, 0.1, 0.3, 0.7, 2.0 };
    static const double limit[] = { 0.02, 0.07, 0.012, 0.006, 0.006 };
    FlipBox box;
    flip_box_make(&box, (const int[3]){ 0, 0, 0 }, (const int[3]){ SIDE, SIDE, SIDE });
    for (int w = 0; w < 5; ++w) {
        const Vessel vessel = { { 6.13, 5.07, 7.21 }, thickness[w] };
        Errors all = { 0 };
        for (int turn = 0; turn < TURNS; ++turn) {
            WadiShape *shape = moving_vessel(&vessel, 3.0 + 17.0 * turn);
            WadiSolid solid;
            WadiSolids solids = solids_of(&solid, shape);
            WadiFlipSolid out = sample(&box, &solids, 1.0, NULL);
            CHECK_AT_MOST(flood(&box, &out), 1.05 * 8.0 * 6.13 * 5.07 * 7.21);
            const Errors errors = face_errors(&box, &out, &vessel, 3.0 + 17.0 * turn);
            all.count += errors.count;
            all.mean += errors.mean / TURNS;
            all.bias += errors.bias / TURNS;
            all.largest = fmax(all.largest, errors.largest);
            wadi_shape_destroy(shape);
        }
        print_message(
            "walls of %.2f cells: %d cut faces, open fractions off by %.4f in the mean (bias %+.4f), "
            "%.3f at most\n",
            thickness[w], all.count, all.mean, all.bias, all.largest);
        /* Faces are sampled at quarters of a cell: thinner walls narrow them too little. */
        CHECK_AT_MOST(all.mean, limit[w]);
        CHECK_AT_MOST(all.largest, 0.25);
    }
    flip_box_free(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moving_vessel_is_tight_and_has_known_areas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
