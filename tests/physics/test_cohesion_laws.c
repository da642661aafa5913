/* Laws of cohesive sand, solver by solver: lumps spin and blocks topple as rigid bodies, overhangs break off
 * at the length of beam theory, cuts fall at the critical height, sand without cohesion bears no tension
 * [theory 6.13]. */
#include "same_bytes.h"

/* What a solver reaches. */
typedef struct Solver {
    const char *name;
    int per_cell;       /* particles */
    int width;          /* cells of a block that topples */
    bool holds_edges;   /* walls hold the edge of a block also where it would lift off */
    double momentum;    /* least angular momentum of a lump after 1.5 rad, over that at the start */
    double strain;      /* largest strain of lumps and blocks */
    double time;        /* largest relative error of the time in which a block topples */
    double overhang[2]; /* lengths over that of beam theory: stands, breaks off */
    double cut[2];      /* heights over the critical one: stands, falls */
} Solver;

static const Solver solvers[] = {
    { "flip", 8, 8, true, 0.99, 0.05, 0.05, { 0.7, 1.3 }, { 0.6, 1.6 } },
    { "sph", 1, 12, false, 0.999, 0.05, 0.05, { 0.7, 1.3 }, { 0.6, 1.6 } },
};
enum { SOLVERS = sizeof solvers / sizeof solvers[0] };

typedef struct Run {
    WadiScene *scene;
    WadiSim *sim;
    int32_t count;
    double *start; /* positions at the start, by id */
} Run;

static Run start_run(const char *text)
{
    Run run = { .scene = load_scene(text) };
    run.sim = start_sim(run.scene, 1);
    const WadiParticles *p = &run.sim->particles;
    run.count = p->count;
    run.start = calloc((size_t)p->count, 3 * sizeof *run.start);
    assert_non_null(run.start);
    for (int32_t i = 0; i < p->count; ++i) {
        double *to = run.start + 3 * (size_t)p->id[i];
        to[0] = p->x[i], to[1] = p->y[i], to[2] = p->z[i];
    }
    return run;
}

static void end_run(Run *run)
{
    free(run->start);
    wadi_sim_destroy(run->sim);
    wadi_scene_destroy(run->scene);
}

/* Deformation x = F X about the centres, by least squares, of the particles that began at x > from. */
typedef struct Fit {
    double f[3][3];
    double fall;     /* of their centre along z, m */
    double residual; /* root of the mean square distance from the fit, m */
} Fit;

static void invert(double a[3][3], double inverse[3][3])
{
    double det = 0.0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            inverse[j][i] = a[i1][j1] * a[i2][j2] - a[i1][j2] * a[i2][j1];
        }
    }
    for (int i = 0; i < 3; ++i) {
        det += a[0][i] * inverse[i][0];
    }
    for (int i = 0; i < 9; ++i) {
        inverse[i / 3][i % 3] /= det;
    }
}

static Fit fit_run(const Run *run, double from)
{
    const WadiParticles *p = &run->sim->particles;
    double centre[2][3] = { { 0 } }, n = 0.0, aa[3][3] = { { 0 } }, ba[3][3] = { { 0 } }, inverse[3][3];
    for (int32_t i = 0; i < p->count; ++i) {
        const double *a = run->start + 3 * (size_t)p->id[i], b[3] = { p->x[i], p->y[i], p->z[i] };
        for (int k = 0; k < 3 && a[0] > from; ++k) {
            centre[0][k] += a[k];
            centre[1][k] += b[k];
        }
        n += a[0] > from;
    }
    for (int k = 0; k < 6; ++k) {
        centre[k / 3][k % 3] /= n;
    }
    for (int32_t i = 0; i < p->count; ++i) {
        const double *a = run->start + 3 * (size_t)p->id[i], b[3] = { p->x[i], p->y[i], p->z[i] };
        for (int k = 0; k < 9 && a[0] > from; ++k) {
            const double ak = a[k % 3] - centre[0][k % 3];
            aa[k / 3][k % 3] += (a[k / 3] - centre[0][k / 3]) * ak;
            ba[k / 3][k % 3] += (b[k / 3] - centre[1][k / 3]) * ak;
        }
    }
    Fit fit = { .fall = centre[0][2] - centre[1][2] };
    invert(aa, inverse);
    for (int k = 0; k < 27; ++k) {
        fit.f[k / 9][k % 3] += ba[k / 9][k / 3 % 3] * inverse[k / 3 % 3][k % 3];
    }
    double square = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        const double *a = run->start + 3 * (size_t)p->id[i], b[3] = { p->x[i], p->y[i], p->z[i] };
        for (int k = 0; k < 3 && a[0] > from; ++k) {
            double apart = b[k] - centre[1][k];
            for (int l = 0; l < 3; ++l) {
                apart -= fit.f[k][l] * (a[l] - centre[0][l]);
            }
            square += apart * apart;
        }
    }
    fit.residual = sqrt(square / n);
    return fit;
}

/* Largest component of the strain (F^T F - 1) / 2, which no rotation changes. */
static double strain_of(const Fit *fit)
{
    double largest = 0.0;
    for (int k = 0; k < 9; ++k) {
        double sum = k / 3 == k % 3 ? -1.0 : 0.0;
        for (int l = 0; l < 3; ++l) {
            sum += fit->f[l][k / 3] * fit->f[l][k % 3];
        }
        largest = fmax(largest, fabs(0.5 * sum));
    }
    return largest;
}

/* Volume of a particle over that of the finest. */
static double volume_of(const WadiParticles *p, int32_t i)
{
    for (int c = 0; c < p->column_count; ++c) {
        if (strcmp(p->column[c].name, "volume") == 0) {
            return ((const double *)p->column[c].data)[i];
        }
    }
    return 1.0;
}

/* Angular momentum about the centre, along an axis. */
static double spin_of(const WadiSim *sim, const double axis[3])
{
    const WadiParticles *p = &sim->particles;
    double x[3] = { 0 }, v[3] = { 0 }, mass = 0.0, sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        const double m = volume_of(p, i);
        mass += m;
        x[0] += m * p->x[i], x[1] += m * p->y[i], x[2] += m * p->z[i];
        v[0] += m * (double)p->vx[i], v[1] += m * (double)p->vy[i], v[2] += m * (double)p->vz[i];
    }
    for (int32_t i = 0; i < p->count; ++i) {
        const double r[3] = { p->x[i] - x[0] / mass, p->y[i] - x[1] / mass, p->z[i] - x[2] / mass };
        const double u[3] = { (double)p->vx[i] - v[0] / mass, (double)p->vy[i] - v[1] / mass,
                              (double)p->vz[i] - v[2] / mass };
        for (int k = 0; k < 3; ++k) {
            sum += volume_of(p, i) * axis[k] *
                   (r[(k + 1) % 3] * u[(k + 2) % 3] - r[(k + 2) % 3] * u[(k + 1) % 3]);
        }
    }
    return sum;
}

static double energy_of(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    double sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += volume_of(p, i) * (double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]);
    }
    return sum;
}

/* A lump of 10 x 5 x 5 cells turns by 1.5 rad in a quarter second, at rest or in flight: it keeps its shape
 * and its angular momentum. The same without cohesion flies apart. */
static void lumps_spin_as_bodies(void **unused)
{
    (void)unused;
    static const double axes[3][3] = { { 0, 0, 1 }, { 0, 0.6, 0.8 }, { 0, 0, 1 } };
    static const double cohesion[3] = { 5000.0, 5000.0, 0.0 }, speed[3] = { 0.0, 2.0, 0.0 };
    for (int n = 0; n < 3 * SOLVERS; ++n) {
        const Solver *solver = &solvers[n / 3];
        const double *axis = axes[n % 3];
        char text[1024];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: %s\nparticles_per_cell: %d\ncell_size: 0.02\nfps: 24\ngravity: [0, 0, 0]\n"
                 "materials: {sand: {kind: sand, cohesion: %g, friction_angle: 35}}\n"
                 "bodies: [{material: sand, velocity: [%g, 0, 0], angular_velocity: [0, %g, %g], "
                 "shape: {box: {center: [0, 0, 0], size: [0.2, 0.1, 0.1]}}}]\n",
                 solver->name, solver->per_cell, cohesion[n % 3], speed[n % 3], 6.0 * axis[1], 6.0 * axis[2]);
        Run run = start_run(text);
        const double before = spin_of(run.sim, axis);
        run_frames(run.sim, 6);
        const Fit fit = fit_run(&run, -INFINITY);
        print_message("%s, %g Pa: angular momentum %.3f, strain %.3f\n", solver->name, cohesion[n % 3],
                      spin_of(run.sim, axis) / before, strain_of(&fit));
        if (cohesion[n % 3] > 0.0) {
            CHECK_AT_MOST(solver->momentum, spin_of(run.sim, axis) / before);
            CHECK_AT_MOST(strain_of(&fit), solver->strain);
        } else {
            CHECK_AT_MOST(0.2, strain_of(&fit));
        }
        end_run(&run);
    }
}

/* Lumps of sph of any shape, strength and speed keep their angular momentum and their energy over a
 * revolution; moist ones over a fifth. */
static void moist_and_odd_lumps_spin(void **unused)
{
    (void)unused;
    static const struct {
        const char *what, *material, *body, *shape, *sph;
        double speed, turns;
    } lumps[] = {
        { "moist", "", "sculpture: true", "{box: {size: [0.2, 0.1, 0.1]}}", "{}", 2.0, 0.2 },
        { "strong", "cohesion: 1e5", "jitter: 0.5", "{box: {size: [0.2, 0.1, 0.1]}}", "{}", 10.0, 1.0 },
        { "a plate", "cohesion: 2000", "jitter: 0.5", "{box: {size: [0.2, 0.2, 0.03]}}", "{}", 5.0, 1.0 },
        { "a ball", "cohesion: 1000", "jitter: 0.5", "{sphere: {radius: 0.08}}", "{}", 5.0, 1.0 },
        { "adaptive", "cohesion: 5000", "jitter: 0.5", "{sphere: {radius: 0.1}}", "{adaptive: {}}", 5.0,
          1.0 },
    };
    static const double axis[3] = { 0, 0.6, 0.8 };
    for (size_t n = 0; n < sizeof lumps / sizeof lumps[0]; ++n) {
        char text[1024];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: sph\nparticles_per_cell: 1\ncell_size: 0.015\nfps: %.9g\n"
                 "gravity: [0, 0, 0]\nsph: %s\n"
                 "materials: {sand: {kind: sand, friction_angle: 35, %s}}\n"
                 "bodies: [{material: sand, %s, angular_velocity: [0, %g, %g], shape: %s}]\n",
                 8.0 * lumps[n].speed / (2.0 * 3.14159265 * lumps[n].turns), lumps[n].sph, lumps[n].material,
                 lumps[n].body, axis[1] * lumps[n].speed, axis[2] * lumps[n].speed, lumps[n].shape);
        Run run = start_run(text);
        const double spin = spin_of(run.sim, axis), energy = energy_of(run.sim);
        for (int frame = 0; frame < 8; ++frame) {
            run_frames(run.sim, 1);
            CHECK_AT_MOST(energy_of(run.sim), 1.002 * energy);
        }
        print_message("%s, %g rad/s: angular momentum %.4f, energy %.4f\n", lumps[n].what, lumps[n].speed,
                      spin_of(run.sim, axis) / spin, energy_of(run.sim) / energy);
        CHECK_NEAR(spin_of(run.sim, axis) / spin, 1.0, 0.001);
        CHECK_AT_MOST(0.98, energy_of(run.sim) / energy);
        end_run(&run);
    }
}

/* Blocks of flip on a floor, or on a plane that cuts cells, stay where they are. */
static void blocks_rest(void **unused)
{
    (void)unused;
    static const struct {
        const char *what;
        double angle, size[3];
    } blocks[] = {
        { "cube", 0, { 0.08, 0.08, 0.08 } },
        { "tower", 0, { 0.04, 0.04, 0.12 } },
        { "cube on a plane", 10, { 0.08, 0.08, 0.08 } },
        { "cube on a plane", 20, { 0.08, 0.08, 0.08 } },
        { "slab on a plane", 15, { 0.12, 0.08, 0.04 } },
    };
    for (size_t n = 0; n < sizeof blocks / sizeof blocks[0]; ++n) {
        const double *size = blocks[n].size, angle = blocks[n].angle;
        char text[1024];
        snprintf(
            text, sizeof text,
            "wadi: 1\nsolver: flip\ncell_size: 0.01\nfps: 50\n"
            "domain: {min: [-0.2, -0.2, -0.1], max: [0.2, 0.2, 0.2]}\n"
            "colliders: [{friction: 1, shape: {box: {min: [-1, -1, -1], max: [1, 1, 0]}, rotate: [0, %g, "
            "0]}}]\n"
            "materials: {sand: {kind: sand, cohesion: 5000, friction_angle: 35}}\n"
            "bodies: [{material: sand, shape: {box: {min: [%g, 0, 0], max: [%g, %g, %g]}, rotate: [0, %g, "
            "0]}}]\n",
            angle, -0.5 * size[0], 0.5 * size[0], size[1], size[2], angle);
        Run run = start_run(text);
        const WadiParticles *p = &run.sim->particles;
        double moved[3] = { 0 };
        run_frames(run.sim, 25);
        for (int32_t i = 0; i < p->count; ++i) {
            const double *from = run.start + 3 * (size_t)p->id[i];
            moved[0] += (p->x[i] - from[0]) / p->count;
            moved[1] += (p->y[i] - from[1]) / p->count;
            moved[2] += (p->z[i] - from[2]) / p->count;
        }
        const double cells = sqrt(moved[0] * moved[0] + moved[1] * moved[1] + moved[2] * moved[2]) / 0.01;
        print_message("%s, %g degrees: moved by %.3f cells\n", blocks[n].what, angle, cells);
        CHECK_AT_MOST(cells, 0.05);
        end_run(&run);
    }
}

/* Time, s, in which a rigid block of this width and height tips about its edge by an angle, in gravity g that
 * is turned by 45 degrees. */
static double tipping_time(double width, double height, double g, double angle)
{
    const double inertia = (width * width + height * height) / 3.0, dt = 1e-5;
    double turned = 0.0, rate = 0.0, time = 0.0;
    for (; turned < angle; time += dt) {
        const double x = -0.5 * width * cos(turned) + 0.5 * height * sin(turned);
        const double z = 0.5 * width * sin(turned) + 0.5 * height * cos(turned);
        rate += sqrt(0.5) * g * (z + x) / inertia * dt;
        turned += rate * dt;
    }
    return time;
}

/* A block of 1 x 1/2 x 3 widths topples about its edge like a rigid one, and is unharmed after it has landed.
 * At 0.7 rad a rigid block lifts off its edge; it then lands sliding, and may rear up. */
static void blocks_topple_as_blocks(void **unused)
{
    (void)unused;
    static const double sizes[2] = { 0.01, 0.4 };
    for (int n = 0; n < 2 * SOLVERS; ++n) {
        const Solver *solver = &solvers[n / 2];
        const double h = sizes[n % 2], g = 9.81, second = sqrt(h / 0.01), angles[3] = { 0.4, 0.8, 1.2 };
        char text[1024];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: %s\nparticles_per_cell: %d\ncell_size: %.9g\nfps: %.9g\ngravity: [%.9g, "
                 "0, %.9g]\n"
                 "domain: {min: [%.9g, %.9g, 0], max: [%.9g, %.9g, %.9g], walls: {friction: 2}}\n"
                 "materials: {sand: {kind: sand, cohesion: %.9g, friction_angle: 35}}\n"
                 "bodies: [{material: sand, jitter: 0, shape: {box: {min: [0, 0, 0], max: [%.9g, %.9g, "
                 "%.9g]}}}]\n",
                 solver->name, solver->per_cell, 8.0 * h / solver->width, 100.0 / second, sqrt(0.5) * g,
                 -sqrt(0.5) * g, -8 * h, -8 * h, 48 * h, 12 * h, 32 * h, 20000.0 * h / 0.01, 8 * h, 4 * h,
                 24 * h);
        Run run = start_run(text);
        double last = 0.0;
        int passed = 0;
        for (int frame = 1; frame <= 45; ++frame) {
            run_frames(run.sim, 1);
            const Fit fit = fit_run(&run, -INFINITY);
            const double angle = atan2(fit.f[0][2], fit.f[2][2]);
            for (; passed < 3 && angle >= angles[passed]; ++passed) {
                const double part = (angles[passed] - last) / (angle - last);
                const double time = (frame - 1 + part) * 0.01 * second;
                const double rigid = tipping_time(8 * h, 24 * h, g, angles[passed]);
                print_message("%s, cells of %g m: turned by %g rad after %.4f s, rigid %.4f s, strain %.3f\n",
                              solver->name, h, angles[passed], time, rigid, strain_of(&fit));
                CHECK_NEAR(time / rigid, 1.0, solver->time);
            }
            CHECK_AT_MOST(strain_of(&fit), solver->strain);
            last = angle;
        }
        assert_int_equal(passed, 3);
        CHECK_NEAR(last, 1.5708, solver->holds_edges ? 0.1 : 0.3);
        end_run(&run);
    }
}

/* An overhang of height h breaks where the tension at its root, 3 rho g L^2 / h, reaches the strength of the
 * yield law in tension along one axis, c / (1/sqrt 3 + k/3): there p = -s/3 and sigma_bar = s/sqrt 3. A
 * shorter one stands, a longer one breaks off and falls in one piece. */
static void overhangs_break_at_their_length(void **unused)
{
    (void)unused;
    const double degree = 3.14159265358979 / 180.0, k = tan(35.0 * degree);
    const double height = 0.06, length = 0.1, strength = 3.0 * 1600.0 * 9.81 * length * length / height;
    const double cohesion = strength * (1.0 / sqrt(3.0) + k / 3.0) / cos(35.0 * degree);
    for (int n = 0; n < 2 * SOLVERS; ++n) {
        const Solver *solver = &solvers[n / 2];
        const double end = 0.16 + length * solver->overhang[n % 2];
        char text[1024];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: %s\nparticles_per_cell: %d\ncell_size: 0.01\nfps: 50\n"
                 "domain: {min: [-0.1, -0.1, 0], max: [0.5, 0.2, 0.3], walls: {friction: 1}}\n"
                 "materials: {sand: {kind: sand, cohesion: %.9g, friction_angle: 35}}\n"
                 "bodies: [{material: sand, jitter: 0, snap: none, shape: {box: {min: [0, 0, 0], max: [0.16, "
                 "0.04, 0.16]}}}, {material: sand, jitter: 0, snap: none, shape: {box: {min: [0.16, 0, 0.1], "
                 "max: [%.9g, 0.04, 0.16]}}}]\n",
                 solver->name, solver->per_cell, cohesion, end);
        Run run = start_run(text);
        run_frames(run.sim, 8);
        const Fit beam = fit_run(&run, 0.17);
        print_message(
            "%s: an overhang of %.2f of its length falls by %.3f heights, strain %.3f, residual %.3f\n",
            solver->name, solver->overhang[n % 2], beam.fall / height, strain_of(&beam),
            beam.residual / height);
        if (n % 2 == 0) {
            CHECK_AT_MOST(beam.fall, 0.05 * height);
        } else {
            CHECK_AT_MOST(0.3 * height, beam.fall);
            CHECK_AT_MOST(strain_of(&beam), solver->strain);
            CHECK_AT_MOST(beam.residual, 0.05 * height);
        }
        end_run(&run);
    }
}

/* A vertical cut in plane strain stands up to about H_c = 4 C tan(45 + phi/2) / (rho g). */
static void cuts_fall_at_their_critical_height(void **unused)
{
    (void)unused;
    static const double heights[2] = { 0.2, 20.0 };
    for (int n = 0; n < 4 * SOLVERS; ++n) {
        const Solver *solver = &solvers[n / 4];
        const double height = heights[n / 2 % 2], h = height / 16.0, critical = height / solver->cut[n % 2];
        const double cohesion = critical * 1600.0 * 9.81 / (4.0 * tan(62.5 * 3.14159265358979 / 180.0));
        char text[1024];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: %s\nparticles_per_cell: %d\ncell_size: %.9g\nfps: %.9g\n"
                 "domain: {min: [0, 0, %.9g], max: [%.9g, %.9g, %.9g], walls: {friction: 0}}\n"
                 "materials: {sand: {kind: sand, cohesion: %.9g, friction_angle: 35}}\n"
                 "colliders: [{friction: 1, shape: {box: {min: [%.9g, %.9g, %.9g], max: [%.9g, %.9g, 0]}}}]\n"
                 "bodies: [{material: sand, jitter: 0, snap: none, shape: {box: {min: [0, 0, 0], max: [%.9g, "
                 "%.9g, "
                 "%.9g]}}}]\n",
                 solver->name, solver->per_cell, h, 2.0 / sqrt(height / 9.81), -2 * h, 3 * height, 4 * h,
                 1.5 * height, cohesion, -height, -height, -height, 4 * height, height, height, 4 * h,
                 height);
        Run run = start_run(text);
        run_frames(run.sim, 8);
        const Fit edge = fit_run(&run, 0.85 * height);
        print_message("%s, %g m: a cut of %.1f critical heights falls by %.3f\n", solver->name, height,
                      solver->cut[n % 2], edge.fall / height);
        if (n % 2 == 0) {
            CHECK_AT_MOST(edge.fall, 0.01 * height);
        } else {
            CHECK_AT_MOST(0.1 * height, edge.fall);
        }
        end_run(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lumps_spin_as_bodies),
        cmocka_unit_test(moist_and_odd_lumps_spin),
        cmocka_unit_test(blocks_rest),
        cmocka_unit_test(blocks_topple_as_blocks),
        cmocka_unit_test(overhangs_break_at_their_length),
        cmocka_unit_test(cuts_fall_at_their_critical_height),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
