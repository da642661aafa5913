/* flip: sand on walls that do not follow the grid, and on walls that move. */
#include <stdlib.h>
#include <string.h>

#include "flip/flip.h"
#include "scene_sim.h"
#include "sim/sim.h"

static const double gravity = 9.81, degree = 0.017453292519943295;

static WadiSim *start(WadiScene **scene, const char *text)
{
    *scene = load_scene(text);
    return start_sim(*scene, 1);
}

static void end(WadiScene *scene, WadiSim *sim)
{
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A slab, 8 cells of sand, on a plane at 30 degrees to the grid; 60 cells long, so that its ends do not matter in
 * the middle. Sliding: g t (sin - mu cos). Speeds along the plane of the middle 20 cells, and of the layer at
 * the wall. */
static void plane_speed(double wall_angle, const char *solids, double *mean, double *bottom, double *iterations)
{
    char text[1200];
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 20\n"
             "domain: {min: [-2, 0, -2], max: [2, 0.08, 2], walls: {friction: 0}}\n"
             "flip: {solids: %s}\n"
             "materials: {sand: {kind: sand, friction_angle: 40}}\n"
             "bodies: [{material: sand, shape: {box: {min: [-0.6, 0, 0.0], max: [0.6, 0.08, 0.16]}, "
             "rotate: [0, 30, 0]}}]\n"
             "colliders: [{friction: %.9f, shape: {half_space: {point: [0, 0, 0], normal: [0.5, 0, "
             "0.86602540378]}}}]\n",
             solids, tan(wall_angle * degree));
    WadiScene *scene;
    WadiSim *sim = start(&scene, text);
    const WadiParticles *p = &sim->particles;
    WadiFlip *flip = sim->solver;
    *iterations = 0.0;
    for (int frame = 0; frame < 10; ++frame) {
        run_frames(sim, 1);
        *iterations = fmax(*iterations, flip->friction_report.iterations);
    }
    double c = cos(30.0 * degree), s = sin(30.0 * degree), middle = 0.0, sum[2] = { 0 };
    int count[2] = { 0 };
    for (int32_t i = 0; i < p->count; ++i) {
        middle += (c * p->x[i] - s * p->z[i]) / p->count;
    }
    for (int32_t i = 0; i < p->count; ++i) {
        double along = c * p->x[i] - s * p->z[i] - middle, depth = s * p->x[i] + c * p->z[i];
        if (fabs(along) < 0.2) {
            double speed = c * (double)p->vx[i] - s * (double)p->vz[i];
            sum[0] += speed;
            count[0] += 1;
            if (depth < 0.02) {
                sum[1] += speed;
                count[1] += 1;
            }
        }
    }
    *mean = sum[0] / count[0];
    *bottom = sum[1] / count[1];
    end(scene, sim);
}

static void sand_slides_on_an_oblique_plane_as_coulomb_says(void **unused)
{
    (void)unused;
    static const struct {
        double angle, tolerance;
    } row[3] = { { 20.0, 0.06 }, { 26.0, 0.10 }, { 32.0, 0.0 } };
    for (int n = 0; n < 3; ++n) {
        double mean, bottom, iterations;
        plane_speed(row[n].angle, "cut_cells", &mean, &bottom, &iterations);
        double exact = 0.5 * gravity * fmax(0.0, sin(30.0 * degree) - tan(row[n].angle * degree) * cos(30.0 * degree));
        print_message("wall %g deg: %.4f m/s, layer at the wall %.4f, exact %.3f, at most %g iterations\n",
                      row[n].angle, mean, bottom, exact, iterations);
        if (exact > 0.0) {
            CHECK_NEAR(mean, exact, row[n].tolerance * exact);
        } else {
            CHECK_AT_MOST(fabs(bottom), 0.01);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sand_slides_on_an_oblique_plane_as_coulomb_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
