/* Nothing passes through thin walls at any speed. Which side a particle is on is decided here by formulas
 * of the scene, not by the code under test. 20,000 particles; WADI_LONG=1 in the environment: a million. */
#include <stdlib.h>

#include "core/arena.h"
#include "core/parallel.h"
#include "core/random.h"
#include "core/timer.h"
#include "particles/collide.h"
#include "scene_shapes.h"

static const double DT = 1.0 / 24.0, SPEED = 100.0, SKIN = 1e-5, PI = 3.14159265358979323846;

static WadiVec3 random_direction(uint64_t id)
{
    double u[3];
    wadi_random_unit3(77, id, WADI_RANDOM_TEST, u);
    double z = 2.0 * u[0] - 1.0, r = sqrt(1.0 - z * z), angle = 2.0 * PI * u[1];
    return wadi_vec3(r * cos(angle), r * sin(angle), z);
}

/* +1 or -1: the side of the wall; 0: in the wall, or not in the scene at all. */
typedef int (*SideFn)(WadiVec3 x, double time);

typedef struct Scene {
    WadiSolids solids;
    WadiBox start; /* particles begin at random in this box, where side() is not 0 */
    SideFn side;
    const char *name;
} Scene;

static int particle_count(void)
{
#if defined(WADI_ASAN)
    return 5000;
#else
    return is_long_run() ? 1000000 : 20000;
#endif
}

static void throw_at(const Scene *scene, int steps)
{
    WadiError error;
    int32_t first, n = particle_count();
    WadiParticles p;
    WadiArena arena = { 0 };
    double *to[3];
    int8_t *side = NULL;
    CHECK_OK(wadi_particles_init(&p, &error), error);
    CHECK_OK(wadi_particles_append(&p, n, &first, &error), error);
    CHECK_OK(WADI_ARENA_NEW(&arena, &side, (size_t)n, "sides", &error), error);
    for (int a = 0; a < 3; ++a) {
        CHECK_OK(WADI_ARENA_NEW(&arena, &to[a], (size_t)n, "targets", &error), error);
    }
    WadiVec3 size = wadi_box_size(scene->start);
    for (int32_t i = 0; i < n; ++i) {
        WadiVec3 x;
        uint64_t id = (uint64_t)i;
        do {
            double u[3];
            wadi_random_unit3(5, id, WADI_RANDOM_TEST, u);
            x = wadi_add(scene->start.min, wadi_vec3(u[0] * size.x, u[1] * size.y, u[2] * size.z));
            id += 1000003;
        } while (scene->side(x, 0.0) == 0 || wadi_solids_distance(&scene->solids, x, 0.0, 1.0) < 2.0 * SKIN);
        WadiVec3 v = wadi_scale(random_direction((uint64_t)i), SPEED);
        p.x[i] = x.x, p.y[i] = x.y, p.z[i] = x.z;
        p.vx[i] = (float)v.x, p.vy[i] = (float)v.y, p.vz[i] = (float)v.z;
        side[i] = (int8_t)scene->side(x, 0.0);
    }
    int64_t touched = 0, stuck = 0;
    double seconds = 0.0;
    for (int step = 0; step < steps; ++step) {
        WadiCollideIn in = { &scene->solids, step * DT, (step + 1) * DT, SKIN };
        for (int32_t i = 0; i < n; ++i) {
            /* Thrown anew each step, or friction and rest would make it too easy. */
            WadiVec3 v = wadi_scale(random_direction((uint64_t)(i + step * 7919)), SPEED);
            if (step > 0 && i % 2 == 0) {
                p.vx[i] = (float)v.x, p.vy[i] = (float)v.y, p.vz[i] = (float)v.z;
            }
            to[0][i] = p.x[i] + (double)p.vx[i] * DT;
            to[1][i] = p.y[i] + (double)p.vy[i] * DT;
            to[2][i] = p.z[i] + (double)p.vz[i] * DT;
        }
        double start = wadi_time_now();
        WadiCollideReport report = wadi_collide_move_all(&in, &p, to[0], to[1], to[2]);
        seconds += wadi_time_now() - start;
        touched += report.touched;
        stuck += report.stuck;
        int wrong = 0, inside = 0;
        for (int32_t i = 0; i < n; ++i) {
            WadiVec3 x = { p.x[i], p.y[i], p.z[i] };
            wrong += scene->side(x, in.t1) != side[i];
            inside += !(wadi_solids_distance(&scene->solids, x, in.t1, 1.0) >= 0.0);
        }
        assert_int_equal(wrong, 0);
        assert_int_equal(inside, 0);
    }
    print_message(
        "%s: %.0f ns a particle and step of 4.2 m on %d threads, %.0f %% had contacts, %lld stuck\n",
        scene->name, 1e9 * seconds / (double)n / steps, wadi_parallel_threads(),
        100.0 * (double)touched / n / steps, (long long)stuck);
    assert_int_equal(stuck, 0);
    wadi_particles_free(&p);
    wadi_arena_free(&arena);
}

static int side_of_plate(WadiVec3 x, double time)
{
    (void)time;
    bool is_in_room = fabs(x.x) <= 5.0 && fabs(x.y) <= 5.0 && fabs(x.z) <= 5.0;
    return !is_in_room ? 0 : x.z >= 0.001 ? 1 : x.z <= 0.0 ? -1 : 0;
}

static void nothing_passes_a_plate(void **unused)
{
    (void)unused;
    WadiCurve friction = wadi_curve_constant(0.3), restitution = wadi_curve_constant(0.8);
    WadiShape *plate = shape_of(def_of(WADI_SHAPE_BOX, wadi_vec3(-6, -6, 0), wadi_vec3(6, 6, 0.001)));
    WadiSolid solid = { plate, &friction, &restitution };
    Scene scene = { { &solid, 1, box_of(-5, 5), WADI_SIDE_ALL, &friction, &restitution },
                    box_of(-4.9, 4.9),
                    side_of_plate,
                    "plate" };
    throw_at(&scene, 5);
    wadi_shape_destroy(plate);
}

/* The lid of the room is below the rim of the bowl, so that its inside is closed. */
static int side_of_bowl(WadiVec3 x, double time)
{
    (void)time;
    double r = wadi_norm(x);
    bool is_in_room = fabs(x.x) <= 2.0 && fabs(x.y) <= 2.0 && x.z >= -2.0 && x.z <= 0.3;
    return !is_in_room ? 0 : r <= 0.999 ? 1 : r >= 1.0 ? -1 : 0;
}

static void nothing_passes_a_bowl(void **unused)
{
    (void)unused;
    WadiCurve friction = wadi_curve_constant(0.1), restitution = wadi_curve_constant(0.5);
    WadiVec3 o = { 0, 0, 0 };
    WadiShapeDef shell = def_of_two(WADI_SHAPE_DIFFERENCE, def_of_sphere(o, 1.0), def_of_sphere(o, 0.999));
    WadiShapeDef cut = def_of(WADI_SHAPE_HALF_SPACE, wadi_vec3(0, 0, 0.5), wadi_vec3(0, 0, 1));
    WadiShape *bowl = shape_of(def_of_two(WADI_SHAPE_INTERSECTION, shell, cut));
    WadiSolid solid = { bowl, &friction, &restitution };
    WadiBox room = { { -2, -2, -2 }, { 2, 2, 0.3 } };
    Scene scene = { { &solid, 1, room, WADI_SIDE_ALL, &friction, &restitution },
                    { { -1.5, -1.5, -1.5 }, { 1.5, 1.5, 0.29 } },
                    side_of_bowl,
                    "bowl" };
    throw_at(&scene, 5);
    wadi_shape_destroy(bowl);
}

static const double SPIN = 20.0; /* rad/s */

/* A drum of radius 1 m along z, halved by a paddle 1 mm thick through its axis. */
static int side_of_paddle(WadiVec3 x, double time)
{
    double y = -x.x * sin(SPIN * time) + x.y * cos(SPIN * time);
    bool is_in_drum = x.x * x.x + x.y * x.y <= 1.0 && fabs(x.z) <= 1.0;
    return !is_in_drum ? 0 : y >= 0.0005 ? 1 : y <= -0.0005 ? -1 : 0;
}

static void nothing_passes_a_rotating_paddle(void **unused)
{
    (void)unused;
    WadiCurve friction = wadi_curve_constant(0.3), restitution = wadi_curve_constant(0.3);
    WadiShapeDef paddle_def =
        def_of(WADI_SHAPE_BOX, wadi_vec3(-1.1, -0.0005, -1.1), wadi_vec3(1.1, 0.0005, 1.1));
    paddle_def.rotate = curve_of(0.0, wadi_vec3(0, 0, 0), 10.0, wadi_vec3(0, 0, 10.0 * SPIN * 180.0 / PI));
    WadiShape *paddle = shape_of(paddle_def);
    WadiShape *drum = shape_of(def_of_two(WADI_SHAPE_DIFFERENCE,
                                          def_of(WADI_SHAPE_BOX, wadi_vec3(-2, -2, -2), wadi_vec3(2, 2, 2)),
                                          def_of_cylinder(wadi_vec3(0, 0, -3), wadi_vec3(0, 0, 3), 1.0)));
    WadiSolid solids[2] = { { drum, &friction, &restitution }, { paddle, &friction, &restitution } };
    WadiBox room = { { -INFINITY, -INFINITY, -1 }, { INFINITY, INFINITY, 1 } };
    Scene scene = { { solids, 2, room, WADI_SIDE_Z_MIN | WADI_SIDE_Z_MAX, &friction, &restitution },
                    box_of(-1, 1),
                    side_of_paddle,
                    "paddle" };
    throw_at(&scene, 2);
    wadi_shape_destroy(paddle);
    wadi_shape_destroy(drum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_passes_a_plate),
        cmocka_unit_test(nothing_passes_a_bowl),
        cmocka_unit_test(nothing_passes_a_rotating_paddle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
