/* sph: the same bytes for any number of threads, and resumed as unbroken. */
#include "same_bytes.h"

/* Water and sand, a jet, honey, moving and thin solids, corners: all stages. */
static const char scene_text[] =
    "{wadi: 1, solver: sph, resolution: 14, fps: 24, domain: {min: [0, 0, 0], max: [1, 0.6, 0.6], walls: "
    "{friction: 0.4, open: [x_max]}}, materials: {water: {kind: water, surface_tension: 0.07}, sand: {kind: "
    "sand, density: 1600, "
    "friction_angle: 32}, honey: {kind: water, density: 1300, viscosity: 5}}, bodies: [{material: sand, "
    "shape: {box: {min: [0, 0, 0], max: [0.3, 0.6, 0.2]}}}, {material: water, shape: {box: {min: [0.3, 0, "
    "0], max: [0.8, 0.6, 0.2]}}}, {material: honey, shape: {sphere: {center: [0.3, 0.3, 0.4], radius: "
    "0.1}}}], emitters: [{material: water, shape: {sphere: {center: [0.1, 0.3, 0.5], radius: 0.05}}, "
    "velocity: [1, 0, 0], rate: 0.01}], colliders: [{friction: 0.3, shape: {box: {min: [0.5, 0.1, 0.02], "
    "max: [0.52, 0.5, 0.3]}, pivot: [0.51, 0.3, 0], rotate: {keys: [[0, [0, 0, 0]], [1, [0, 0, 360]]], "
    "repeat: true}}}, {shape: {difference: [{box: {min: [0.8, 0.1, 0], max: [0.9, 0.5, 0.1]}}, {box: {min: "
    "[0.82, 0.12, 0.02], max: [0.88, 0.48, 0.2]}}]}}]}";

static void threads_and_resuming_change_no_byte(void **unused)
{
    (void)unused;
    check_same_bytes(scene_text, 4, 4);
}

/* Sand that water reaches, splits and merges. */
static void nor_do_they_in_published_methods(void **unused)
{
    (void)unused;
    static const char *const method[2] = { "ld09", "t10, adaptive: {interval: 7}" };
    for (int m = 0; m < 2; ++m) {
        char text[600];
        snprintf(
            text, sizeof text,
            "{wadi: 1, solver: sph, cell_size: 0.024, fps: 60, sph: {published: %s}, domain: {min: [0, 0, "
            "0], max: [0.2, 0.12, 0.16], walls: {friction: 0.4}}, materials: {sand: {kind: sand}, water: "
            "{kind: water}}, bodies: [{material: sand, saturation: 0.1, shape: {box: {min: [0, 0, 0], max: "
            "[0.08, 0.12, 0.08]}}}, {material: water, shape: {box: {min: [0.09, 0, 0], max: [0.2, 0.12, "
            "0.1]}}}]}",
            method[m]);
        check_same_bytes(text, 2, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(threads_and_resuming_change_no_byte),
                                        cmocka_unit_test(nor_do_they_in_published_methods) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
