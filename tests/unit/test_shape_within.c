/* Distances beside shapes that are cut from others: against those by hand, and against a search for the
 * nearest point that is inside. */
#include <math.h>

#include "io_scratch.h"
#include "scene_sim.h"
#include "sim/sim.h"

static const double DIAMETER = 0.01;

static WadiSim *start_with(const char *shape, WadiScene **scene)
{
    char text[4096];
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: dem\ncell_size: 0.1\n"
             "domain: {min: [-1, -1, -1], max: [1, 1, 1]}\n"
             "materials: {sand: {kind: sand, friction_angle: 30}}\n"
             "bodies: [{material: sand, shape: {box: {min: [0.6, 0.6, 0.6], max: [0.8, 0.8, 0.8]}}}]\n"
             "colliders: [{shape: %s}]\n",
             shape);
    *scene = load_scene(text);
    return start_sim(*scene, 1);
}

/* Distances from points up to three diameters from `edge` are those of `expected`, within a hundredth of a
 * diameter, and normals are their directions of growth. */
static void check_distances(const char *shape, WadiVec3 edge, double (*expected)(WadiVec3 x))
{
    WadiScene *scene = NULL;
    WadiSim *sim = start_with(shape, &scene);
    const WadiShape *solid = sim->world->solids.solids[0].shape;
    int outside = 0;
    for (int n = 0; n < 2000; ++n) {
        double u[3];
        wadi_random_unit3(7, (uint64_t)n, WADI_RANDOM_TEST, u);
        const WadiVec3 away = { u[0] - 0.5, u[1] - 0.5, u[2] - 0.5 };
        const WadiVec3 x = wadi_add_scaled(edge, away, 6.0 * DIAMETER);
        const double distance = expected(x);
        if (!(distance > 0.02 * DIAMETER)) {
            continue;
        }
        outside += 1;
        const WadiSurfacePoint s = wadi_shape_sample_within(solid, x, 0.0, 8.0 * DIAMETER);
        CHECK_NEAR(s.distance, distance, 0.015 * DIAMETER);
        CHECK_NEAR(wadi_norm(s.normal), 1.0, 1e-9);
        CHECK_NEAR(expected(wadi_add_scaled(x, s.normal, 0.2 * DIAMETER)), distance + 0.2 * DIAMETER,
                   0.02 * DIAMETER);
    }
    assert_true(outside > 500);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A plate from z = -0.3 to 0 with a hole of radius 0.06. */
static double from_plate(WadiVec3 x)
{
    const double radial = 0.06 - sqrt(x.x * x.x + x.y * x.y), high = x.z;
    if (radial > 0.0 && high > 0.0) {
        return sqrt(radial * radial + high * high);
    }
    return fmax(radial, high);
}

static void the_rim_of_a_hole_is_round(void **unused)
{
    (void)unused;
    check_distances("{difference: [{box: {min: [-0.5, -0.5, -0.3], max: [0.5, 0.5, 0]}}, "
                    "{cylinder: {from: [0, 0, -1], to: [0, 0, 1], radius: 0.06}}]}",
                    (WadiVec3){ 0.036, 0.048, 0.0 }, from_plate);
}

/* The same, turned by 90 degrees about x and moved: z becomes -y. */
static double from_turned_plate(WadiVec3 x)
{
    return from_plate((WadiVec3){ x.x - 0.1, x.z, -(x.y + 0.2) });
}

static void turned_and_moved_shapes_have_the_same_rim(void **unused)
{
    (void)unused;
    check_distances("{difference: [{box: {min: [-0.5, -0.5, -0.3], max: [0.5, 0.5, 0]}}, "
                    "{cylinder: {from: [0, 0, -1], to: [0, 0, 1], radius: 0.06}}], rotate: [90, 0, 0], "
                    "translate: [0.1, -0.2, 0]}",
                    (WadiVec3){ 0.16, -0.2, 0.0 }, from_turned_plate);
}

/* A ball of radius 0.3 cut at z = 0.1: its rim is a circle. */
static double from_cut_ball(WadiVec3 x)
{
    const double rim = sqrt(0.09 - 0.01), radial = sqrt(x.x * x.x + x.y * x.y), far = wadi_norm(x);
    if (x.z > 0.1 && radial < rim) {
        return x.z - 0.1;
    }
    /* The foot on the sphere counts while it is below the cut. */
    if (far < 0.3 || x.z * 0.3 / far <= 0.1) {
        return far - 0.3;
    }
    return sqrt((radial - rim) * (radial - rim) + (x.z - 0.1) * (x.z - 0.1));
}

static void a_cut_ball_has_a_rim(void **unused)
{
    (void)unused;
    check_distances("{intersection: [{sphere: {center: [0, 0, 0], radius: 0.3}}, "
                    "{half_space: {point: [0, 0, 0.1], normal: [0, 0, 1]}}]}",
                    (WadiVec3){ sqrt(0.08), 0.0, 0.1 }, from_cut_ball);
}

/* Where three half-spaces meet. */
static double from_corner(WadiVec3 x)
{
    const double a = fmax(x.x, 0.0), b = fmax(x.y, 0.0), c = fmax(x.z, 0.0);
    return a + b + c > 0.0 ? sqrt(a * a + b * b + c * c) : fmax(x.x, fmax(x.y, x.z));
}

static void corners_of_three_planes_are_round(void **unused)
{
    (void)unused;
    check_distances("{intersection: [{half_space: {point: [0, 0, 0], normal: [1, 0, 0]}}, "
                    "{half_space: {point: [0, 0, 0], normal: [0, 1, 0]}}, "
                    "{half_space: {point: [0, 0, 0], normal: [0, 0, 1]}}]}",
                    (WadiVec3){ 0.0, 0.0, 0.0 }, from_corner);
}

typedef struct Inside {
    double square; /* of the distance, m^2 */
    WadiVec3 at;
} Inside;

/* Rounding may leave nothing but a skin between two faces that coincide: that is not inside. */
static bool is_inside(const WadiShape *shape, WadiVec3 x, double time)
{
    const WadiVec3 by = { 3e-8, 5e-8, -7e-8 };
    return wadi_shape_contains(shape, x, time) && wadi_shape_contains(shape, wadi_add(x, by), time) &&
           wadi_shape_contains(shape, wadi_sub(x, by), time);
}

enum { KEPT = 6, COARSE = 10, HALVINGS = 9 };

/* Distance from x to the nearest point inside, INFINITY if it is farther than `within`: a coarse lattice, and
 * ever finer ones around its nearest points inside. */
static double nearest_inside(const WadiShape *shape, WadiVec3 x, double time, double within)
{
    Inside kept[KEPT];
    int count = 0;
    const double step = within / COARSE;
    for (int k = -COARSE; k <= COARSE; ++k) {
        for (int j = -COARSE; j <= COARSE; ++j) {
            for (int i = -COARSE; i <= COARSE; ++i) {
                const double square = step * step * (i * i + j * j + k * k);
                const WadiVec3 at = wadi_add_scaled(x, (WadiVec3){ i, j, k }, step);
                if (square > 1.2 * within * within || (count == KEPT && square >= kept[KEPT - 1].square) ||
                    !is_inside(shape, at, time)) {
                    continue;
                }
                int to = count < KEPT ? count++ : KEPT - 1;
                for (; to > 0 && kept[to - 1].square > square; --to) {
                    kept[to] = kept[to - 1];
                }
                kept[to] = (Inside){ square, at };
            }
        }
    }
    double best = INFINITY;
    for (int n = 0; n < count; ++n) {
        Inside nearest = kept[n];
        double by = 0.5 * step;
        for (int h = 0; h < HALVINGS;) {
            const WadiVec3 from = nearest.at;
            for (int d = 0; d < 125; ++d) {
                const WadiVec3 to = { d % 5 - 2, d / 5 % 5 - 2, d / 25 - 2 };
                const WadiVec3 at = wadi_add_scaled(from, to, by), way = wadi_sub(at, x);
                if (wadi_dot(way, way) < nearest.square && is_inside(shape, at, time)) {
                    nearest = (Inside){ wadi_dot(way, way), at };
                }
            }
            if (nearest.at.x == from.x && nearest.at.y == from.y && nearest.at.z == from.z) {
                by *= 0.5;
                ++h;
            }
        }
        best = fmin(best, sqrt(nearest.square));
    }
    return best;
}

/* Of points up to 1.5 diameters from `edge`: no point inside is nearer than the distance, up to one diameter,
 * and the foot of the normal is on the solid. */
static void check_nearest_at(const char *shape, WadiVec3 edge, double time)
{
    WadiScene *scene = NULL;
    WadiSim *sim = start_with(shape, &scene);
    const WadiShape *solid = sim->world->solids.solids[0].shape;
    int outside = 0, wrong = 0;
    double worst = 0.0;
    for (int n = 0; n < 20; ++n) {
        double u[3];
        wadi_random_unit3(7, (uint64_t)n, WADI_RANDOM_TEST, u);
        const WadiVec3 away = { u[0] - 0.5, u[1] - 0.5, u[2] - 0.5 };
        const WadiVec3 x = wadi_add_scaled(edge, away, 3.0 * DIAMETER);
        if (wadi_shape_contains(solid, x, time)) {
            continue;
        }
        outside += 1;
        const WadiSurfacePoint s = wadi_shape_sample_within(solid, x, time, DIAMETER);
        const double expected = nearest_inside(solid, x, time, DIAMETER);
        const double error = fmax(0.0, fmin(s.distance, DIAMETER) - expected);
        double off = 0.0;
        if (s.distance < DIAMETER) {
            off = nearest_inside(solid, wadi_add_scaled(x, s.normal, -s.distance), time, 0.25 * DIAMETER);
        }
        worst = fmax(worst, fmax(error, off));
        wrong += error > 0.02 * DIAMETER || off > 0.03 * DIAMETER;
        if ((error > 0.02 * DIAMETER || off > 0.03 * DIAMETER) && wrong <= 3) {
            print_message("at %.5f %.5f %.5f: %.3f, the solid %.3f diameters, foot off by %.3f\n", x.x, x.y,
                          x.z, s.distance / DIAMETER, expected / DIAMETER, off / DIAMETER);
        }
    }
    if (wrong > 0 || outside <= 5) {
        print_message("%d of %d wrong, by up to %.3f diameters: %s\n", wrong, outside, worst / DIAMETER,
                      shape);
    }
    assert_true(outside > 5);
    assert_int_equal(wrong, 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* The same, and turned and moved. */
static void check_nearest(const char *body, WadiVec3 edge)
{
    char text[2048];
    snprintf(text, sizeof text, "{%s}", body);
    check_nearest_at(text, edge, 0.0);
    const WadiVec3 turn = { 31, -17, 53 }, move = { 0.03, -0.02, 0.05 }, zero = { 0, 0, 0 },
                   one = { 1, 1, 1 };
    const WadiAffine map = wadi_affine_compose(move, turn, one, zero);
    snprintf(text, sizeof text, "{%s, rotate: [31, -17, 53], translate: [0.03, -0.02, 0.05]}", body);
    check_nearest_at(text, wadi_affine_point(&map, edge), 0.0);
}

/* A plate with its upper face at z = 0 and a cutter that ends `beyond` diameters above it, the height # of
 * the pattern: at the rim of the hole and near its middle. */
static void check_cutter(const char *pattern, double beyond)
{
    char text[1024];
    size_t length = 0;
    for (const char *c = pattern; *c != '\0' && length < sizeof text - 32; ++c) {
        length += (size_t)(*c == '#' ? snprintf(text + length, 32, "%.9g", beyond * DIAMETER)
                                     : snprintf(text + length, 2, "%c", *c));
    }
    check_nearest(text, (WadiVec3){ 0.024, 0.018, 0.0 });
    check_nearest(text, (WadiVec3){ 0.005, 0.0, 0.0 });
}

#define PLATE "{box: {min: [-0.1, -0.1, -0.03], max: [0.1, 0.1, 0]}}"

static const double BEYOND[] = { 0.0, 1e-4, 0.3, 0.9, 2.0 };
enum { BEYOND_COUNT = 5 };

static void a_cylinder_that_ends_beyond_a_face_leaves_nothing_there(void **unused)
{
    (void)unused;
    for (int n = 0; n < BEYOND_COUNT; ++n) {
        check_cutter("difference: [" PLATE ", {cylinder: {from: [0, 0, -0.1], to: [0, 0, #], radius: 0.03}}]",
                     BEYOND[n]);
    }
    /* At both faces of a thin plate. */
    check_nearest("difference: [{box: {min: [-0.1, -0.1, -0.005], max: [0.1, 0.1, 0]}}, "
                  "{cylinder: {from: [0, 0, -0.0051], to: [0, 0, 0.0001], radius: 0.008}}]",
                  (WadiVec3){ 0.004, 0.0, 0.0 });
}

static void other_cutters_leave_nothing_either(void **unused)
{
    (void)unused;
    static const char *const cutter[] = {
        "difference: [" PLATE ", {box: {min: [-0.008, -0.5, -0.1], max: [0.03, 0.5, #]}}]",
        "difference: [" PLATE
        ", {cone: {from: [0, 0, -0.1], to: [0, 0, #], radius: 0.05, top_radius: 0.03}}]",
        "difference: [" PLATE
        ", {intersection: [{cylinder: {from: [0, 0, -1], to: [0, 0, 1], radius: 0.03}}, "
        "{half_space: {point: [0, 0, #], normal: [0, 0, 1]}}]}]",
        "difference: [{half_space: {point: [0, 0, 0], normal: [0, 0, 1]}}, "
        "{cylinder: {from: [0, 0, -0.1], to: [0, 0, #], radius: 0.03}}]",
        "difference: [{union: [{box: {min: [-0.1, -0.1, -0.03], max: [0.01, 0.1, 0]}}, "
        "{box: {min: [0.005, -0.1, -0.03], max: [0.1, 0.1, 0]}}]}, "
        "{cylinder: {from: [0, 0, -0.1], to: [0, 0, #], radius: 0.03}}]",
        "intersection: [" PLATE ", {difference: [{box: {min: [-0.2, -0.2, -0.2], max: [0.2, 0.2, #]}}, "
        "{cylinder: {from: [0, 0, -0.1], to: [0, 0, #], radius: 0.03}}]}]",
        "union: [{difference: [" PLATE ", {cylinder: {from: [0, 0, -0.1], to: [0, 0, #], radius: 0.03}}]}, "
        "{sphere: {center: [0.02, 0.02, -0.01], radius: 0.012}}]",
        "difference: [" PLATE ", {union: [{cylinder: {from: [0, 0, -0.1], to: [0, 0, #], radius: 0.03}}, "
        "{cylinder: {from: [0.02, 0.01, -0.1], to: [0.02, 0.01, #], radius: 0.02}}]}]",
        /* Scaled: 1.5, 1 and 10 times. */
        "difference: [" PLATE ", {cylinder: {from: [0, 0, -0.01], to: [0, 0, #], radius: 0.02}, "
        "scale: [1.5, 1, 10]}]",
        "difference: [{box: {min: [-0.1, -0.1, -0.3], max: [0.1, 0.1, 0]}}, "
        "{cylinder: {from: [0, 0, -0.5], to: [0, 0, #], radius: 0.03}}], scale: [1, 1, 0.1]",
    };
    for (size_t c = 0; c < sizeof cutter / sizeof *cutter; ++c) {
        check_cutter(cutter[c], 0.0);
        check_cutter(cutter[c], 0.3);
    }
}

static void round_and_oblique_cutters_leave_nothing(void **unused)
{
    (void)unused;
    /* The cutter's surface is just beyond the face, flat or round. */
    check_nearest("difference: [" PLATE
                  ", {capsule: {from: [0, 0, -0.05], to: [0, 0, -0.026], radius: 0.03}}]",
                  (WadiVec3){ 0.01, 0.01, 0.0 });
    check_nearest("difference: [" PLATE ", {sphere: {center: [0, 0, -0.016], radius: 0.02}}]",
                  (WadiVec3){ 0.005, 0.006, 0.0 });
    check_nearest("difference: [" PLATE ", {ellipsoid: {center: [0, 0, -0.01], radii: [0.03, 0.02, 0.013]}}]",
                  (WadiVec3){ 0.01, 0.004, 0.0 });
    check_nearest("difference: [" PLATE ", {torus: {center: [0, 0, -0.006], axis: [0, 0, 1], radius: 0.03, "
                  "tube: 0.008}}]",
                  (WadiVec3){ 0.03, 0.0, 0.0 });
    check_nearest("difference: [" PLATE
                  ", {cylinder: {from: [-0.05, 0, -0.1], to: [0.001, 0, 0.002], radius: "
                  "0.02}}]",
                  (WadiVec3){ 0.0, 0.01, 0.0 });
    check_nearest("difference: [" PLATE ", {smooth_union: {radius: 0.01, shapes: [{cylinder: {from: [0, 0, "
                  "-0.1], to: [0, 0, 0.003], radius: 0.02}}, {box: {min: [0, -0.01, -0.1], max: [0.05, 0.01, "
                  "0.003]}}]}}]",
                  (WadiVec3){ 0.01, 0.005, 0.0 });
    /* A hole that breaks through the side of the plate. */
    check_nearest("difference: [" PLATE ", {cylinder: {from: [0.1, 0, -0.1], to: [0.1, 0, 0.003], radius: "
                  "0.012}}]",
                  (WadiVec3){ 0.1, 0.0, 0.0 });
}

static void what_is_left_is_there(void **unused)
{
    (void)unused;
    /* A blind hole, and a skin of a tenth of a diameter over a hole from below. */
    check_nearest("difference: [" PLATE
                  ", {cylinder: {from: [0, 0, -0.01], to: [0, 0, 0.001], radius: 0.03}}]",
                  (WadiVec3){ 0.022, 0.018, -0.005 });
    check_nearest("difference: [" PLATE
                  ", {cylinder: {from: [0, 0, -0.1], to: [0, 0, -0.001], radius: 0.03}}]",
                  (WadiVec3){ 0.005, 0.0, 0.0 });
    check_nearest("intersection: [{cone: {from: [0, 0, 0], to: [0, 0, 0.1], radius: 0.03, top_radius: 0}}, "
                  "{half_space: {point: [0.004, 0, 0], normal: [1, 0, 0]}}]",
                  (WadiVec3){ 0.0, 0.0, 0.1 });
}

static void unevenly_scaled_shapes_have_true_distances(void **unused)
{
    (void)unused;
    check_nearest("box: {min: [-1, -1, -1], max: [1, 1, 1]}, scale: [0.1, 0.05, 0.004]",
                  (WadiVec3){ 0.1, 0.05, 0.004 });
    check_nearest("sphere: {center: [0, 0, 0], radius: 0.1}, scale: [0.4, 0.2, 0.1]",
                  (WadiVec3){ 0.035, 0, 0.005 });
    check_nearest("cylinder: {from: [0, 0, 0], to: [0, 0, 1], radius: 1}, scale: [0.04, 0.02, 0.005]",
                  (WadiVec3){ 0.038, 0, 0.005 });
}

static void write_prism(const char *path, double radius, double low, double high)
{
    enum { SIDES = 6 };
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int n = 0; n < 2 * SIDES; ++n) {
        const double angle = 6.283185307179586 * (n / 2) / SIDES;
        fprintf(file, "v %.9f %.9f %.9f\n", radius * cos(angle), radius * sin(angle),
                n % 2 == 0 ? low : high);
    }
    for (int n = 0; n < SIDES; ++n) {
        const int a = 2 * n + 1, b = 2 * ((n + 1) % SIDES) + 1;
        fprintf(file, "f %d %d %d %d\n", a, b, b + 1, a + 1);
    }
    fprintf(file, "f 2 4 6 8 10 12\nf 11 9 7 5 3 1\n");
    fclose(file);
}

static void meshes_cut_and_are_cut(void **unused)
{
    (void)unused;
    char path[600], text[2048];
    snprintf(path, sizeof path, "%s/prism.obj", scratch);
    write_prism(path, 0.03, -0.1, 0.003);
    snprintf(text, sizeof text, "difference: [" PLATE ", {mesh: {file: %s}}]", path);
    check_nearest(text, (WadiVec3){ 0.021, 0.012, 0.0 });
    check_nearest(text, (WadiVec3){ 0.005, 0.0, 0.0 });
    snprintf(path, sizeof path, "%s/plate.obj", scratch);
    write_prism(path, 0.1, -0.03, 0.0);
    snprintf(
        text, sizeof text,
        "difference: [{mesh: {file: %s}}, {cylinder: {from: [0, 0, -0.1], to: [0, 0, 0.003], radius: 0.03}}]",
        path);
    check_nearest(text, (WadiVec3){ 0.024, 0.018, 0.0 });
    check_nearest(text, (WadiVec3){ 0.005, 0.0, 0.0 });
}

static void moving_solids_have_the_same_holes(void **unused)
{
    (void)unused;
    check_nearest_at("{difference: [" PLATE
                     ", {cylinder: {from: [0, 0, -0.1], to: [0, 0, 0.003], radius: 0.03}}], "
                     "translate: {keys: [[0, [0, 0, 0]], [1, [0.1, 0, 0]]]}}",
                     (WadiVec3){ 0.074, 0.018, 0.0 }, 0.5);
    check_nearest_at("{difference: [" PLATE
                     ", {cylinder: {from: [0, 0, -0.1], to: [0, 0, 0.003], radius: 0.03}, "
                     "translate: {keys: [[0, [0, 0, 0]], [1, [0.1, 0, 0]]]}}]}",
                     (WadiVec3){ 0.055, 0.005, 0.0 }, 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rim_of_a_hole_is_round),
        cmocka_unit_test(turned_and_moved_shapes_have_the_same_rim),
        cmocka_unit_test(a_cut_ball_has_a_rim),
        cmocka_unit_test(corners_of_three_planes_are_round),
        cmocka_unit_test(a_cylinder_that_ends_beyond_a_face_leaves_nothing_there),
        cmocka_unit_test(other_cutters_leave_nothing_either),
        cmocka_unit_test(round_and_oblique_cutters_leave_nothing),
        cmocka_unit_test(what_is_left_is_there),
        cmocka_unit_test(unevenly_scaled_shapes_have_true_distances),
        cmocka_unit_test(meshes_cut_and_are_cut),
        cmocka_unit_test(moving_solids_have_the_same_holes),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
