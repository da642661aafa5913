/* geom: a failing allocation at any call gives an error and no leak. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "failing_alloc.h"
#include "geom/mesh/mesh_solid.h"
#include "geom/sdf_band.h"
#include "geom/shape.h"

static const char open_box[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n";

static WadiStatus make_everything(void)
{
    WadiError error;
    WadiMesh mesh;
    WadiMeshSolid solid;
    WADI_TRY(wadi_mesh_read_memory(&mesh, open_box, strlen(open_box), "obj", "box", &error));
    WADI_TRY(wadi_mesh_solid_create(&solid, &mesh, true, &error));
    wadi_mesh_solid_free(&solid);

    WadiKey keys[2] = { { 0, { 0, 0, 0 } }, { 1, { 1, 0, 0 } } };
    WadiShapeDef parts[2] = { wadi_shape_def(WADI_SHAPE_SPHERE), wadi_shape_def(WADI_SHAPE_SPHERE) };
    parts[0].parameter[1] = parts[1].parameter[1] = wadi_curve_constant(0.5);
    WadiShapeDef def = wadi_shape_def(WADI_SHAPE_UNION);
    def.children = parts;
    def.child_count = 2;
    WadiShape *shape = NULL;
    WadiSdfBand *band = NULL;
    WadiStatus status =
        wadi_curve_create(&def.translate, keys, 2, 3, WADI_INTERPOLATION_LINEAR, false, &error);
    if (status == WADI_OK) {
        status = wadi_shape_create(&shape, &def, NULL, &error);
    }
    if (status == WADI_OK) {
        status = wadi_sdf_band_create(&band, shape, 0.2, 2, 0.5, &error);
    }
    wadi_sdf_band_destroy(band);
    wadi_shape_destroy(shape);
    wadi_curve_free(&def.translate);
    return status;
}

static void every_failing_allocation_is_reported_and_nothing_leaks(void **unused)
{
    (void)unused;
    wadi_set_allocator(&failing_allocator);
    size_t live = wadi_alloc_live_bytes();
    int failures = 0;
    for (int n = 0;; ++n) {
        alloc_calls_left = n;
        WadiStatus status = make_everything();
        assert_int_equal(wadi_alloc_live_bytes(), live);
        if (status == WADI_OK) {
            break;
        }
        assert_int_equal(status, WADI_ERR_MEMORY);
        ++failures;
        assert_true(n < 1000);
    }
    wadi_set_allocator(NULL);
    assert_true(failures > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        every_failing_allocation_is_reported_and_nothing_leaks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
