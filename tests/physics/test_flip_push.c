/* flip: sand that a solid pushes leaves no faster than the push explains. */
#include <math.h>

#include "io_scratch.h"
#include "scene_sim.h"
#include "sim/sim.h"

static const double dx = 0.02, gravity = 9.81;

/* Grains faster than `bound`, and the largest speed. Without the downward part: sand falls behind what pushes
 * it. */
static int count_faster(const WadiSim *sim, double bound, double *most)
{
    const WadiParticles *p = &sim->particles;
    int count = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        const double up = fmax((double)p->vz[i], 0.0);
        const double speed = sqrt((double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i]) + up * up);
        *most = fmax(*most, speed);
        count += speed > bound;
    }
    return count;
}

/* Sand gives way to a solid at twice its speed at most, the slip of a flow without friction around a
 * cylinder, and slides into the gap behind it by a cell. One grain in 2,000 a frame may be faster, at most
 * twice as fast [theory 6.9]. */
static void check_push(WadiSim *sim, const char *name, double speed, int frames)
{
    const double bound = sqrt(4.0 * speed * speed + 2.0 * gravity * dx);
    double most = 0.0;
    int faster = 0;
    for (int frame = 0; frame < frames; ++frame) {
        run_frames(sim, 1);
        const int count = count_faster(sim, bound, &most);
        faster = count > faster ? count : faster;
    }
    print_message("%.16s at %.2f m/s: nothing faster than %.2f m/s, %d grains faster than %.2f\n", name,
                  speed, most, faster, bound);
    CHECK_AT_MOST(faster, sim->particles.count / 2000.0);
    CHECK_AT_MOST(most, 2.0 * bound);
}

/* A solid moves at 0.4 m/s down to less than a cell over the floor, or sideways. */
static void a_solid_throws_no_sand(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *shape;
    } pusher[] = {
        { "ball, down",
          "sphere: {radius: 0.08}, translate: {keys: [[0, [0, 0, 0.25]], [0.4, [0, 0, 0.09]]]}" },
        { "turned box, down", "box: {center: [0, 0, 0], size: [0.12, 0.12, 0.12]}, rotate: [30, 20, 10], "
                              "translate: {keys: [[0, [0, 0, 0.27]], [0.4, [0, 0, 0.11]]]}" },
        { "turned plate, sideways", "box: {center: [0, 0, 0], size: [0.05, 0.2, 0.2]}, rotate: [0, -20, 15], "
                                    "translate: {keys: [[0, [-0.08, 0, 0.18]], [0.4, [0.08, 0, 0.18]]]}" },
    };
    for (int n = 0; n < 3; ++n) {
        char text[800];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 25\n"
                 "domain: {min: [-0.2, -0.2, 0], max: [0.2, 0.2, 0.5]}\n"
                 "materials: {sand: {kind: sand}}\n"
                 "bodies: [{material: sand, shape: {box: {min: [-0.2, -0.2, 0], max: [0.2, 0.2, 0.16]}}}]\n"
                 "colliders: [{shape: {%s}}]\n",
                 pusher[n].shape);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        check_push(sim, pusher[n].name, 0.4, 10);
        assert_int_equal(wadi_sim_lost_particles(sim), 0);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static const char tetrahedron[] =
    "v 1 1 1\nv 1 -1 -1\nv -1 1 -1\nv -1 -1 1\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n";

/* Solids of many shapes, turned at random, move through steep sand at 0.2 to 0.8 m/s without touching the
 * floor. */
static void no_pusher_throws_sand(void **unused)
{
    (void)unused;
    static const struct {
        const char *shape; /* NULL: a mesh */
        double speed, angle, turn[3], way[3];
    } push[] = {
        { "box: {center: [0, 0, 0], size: [0.14, 0.11, 0.09]}",
          0.248,
          36.5,
          { 261.547, 234.254, 14.4769 },
          { -0.3837, -0.6030, -0.6994 } },
        { "sphere: {radius: 0.07}", 0.211, 39.7, { 0, 0, 0 }, { -0.0313, -0.6718, -0.7401 } },
        { "box: {center: [0, 0, 0], size: [0.03, 0.16, 0.14]}",
          0.386,
          38.6,
          { 347.265, 271.578, 110.448 },
          { 0.7339, 0.1344, -0.6658 } },
        { "cylinder: {from: [0, -0.06, 0], to: [0, 0.06, 0], radius: 0.06}",
          0.834,
          37.3,
          { 204.81, 244.462, 194.284 },
          { -0.9540, -0.2631, -0.1438 } },
        { "capsule: {from: [0, -0.05, 0], to: [0, 0.05, 0], radius: 0.05}",
          0.45,
          35.7,
          { 20, 50, 80 },
          { 0.94, -0.29, -0.18 } },
        { NULL, 0.62, 38, { 40, 110, 15 }, { 0.5, 0.5, -0.7071 } },
        { "box: {center: [0, 0, 0], size: [0.14, 0.11, 0.09]}",
          0.23905,
          36.5757,
          { 10.2053, 216.549, 184.798 },
          { 0.51466, 0.2209, -0.82845 } },
    };
    scratch_write("tetrahedron.obj", tetrahedron);
    for (size_t n = 0; n < sizeof push / sizeof *push; ++n) {
        const double seconds = fmin(0.5, 0.2 / push[n].speed), half = 0.5 * push[n].speed * seconds;
        const double *turn = push[n].turn, *way = push[n].way;
        char shape[1200], text[2400];
        if (push[n].shape != NULL) {
            snprintf(shape, sizeof shape, "%s", push[n].shape);
        } else {
            snprintf(shape, sizeof shape, "mesh: {file: %s}, scale: 0.06", scratch_path("tetrahedron.obj"));
        }
        snprintf(
            text, sizeof text,
            "wadi: 1\nsolver: flip\ncell_size: %g\nfps: 60\n"
            "domain: {min: [-0.24, -0.24, 0], max: [0.24, 0.24, 0.6]}\n"
            "materials: {sand: {kind: sand, friction_angle: %g}}\n"
            "bodies: [{material: sand, shape: {box: {min: [-0.24, -0.24, 0], max: [0.24, 0.24, 0.18]}}}]\n"
            "colliders: [{shape: {%s, rotate: [%g, %g, %g], translate: {interpolation: linear, keys: "
            "[[0, [%g, %g, %g]], [%g, [%g, %g, %g]]]}}}]\n",
            dx, push[n].angle, shape, turn[0], turn[1], turn[2], -half * way[0], -half * way[1],
            0.16 - half * way[2], seconds, half * way[0], half * way[1], 0.16 + half * way[2]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        check_push(sim, shape, push[n].speed, (int)(60.0 * seconds));
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_solid_throws_no_sand),
        cmocka_unit_test(no_pusher_throws_sand),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
