/* Modes with columns of the solver dem: the number of particles is exact, and none is beyond a closed wall or
 * inside a solid, however walls and solids lie in the columns. */
#include "dem/dem.h"
#include "scene_sim.h"
#include "sim/sim.h"

/* A case is written in a unit of length and moved to an origin. */
typedef struct Case {
    const char *name;
    double unit;
    WadiVec3 origin, size; /* of the domain: m, units */
    double cell;           /* units */
    const char *walls;
    /* Lists of shapes and of what else there is, with x3 for 3 tenths of the domain along x. */
    const char *bodies, *rest;
} Case;

#define CORNER "{box: {min: [x0, y0, z0], max: [x6, y5, z8]}}"
#define PILLAR "{cylinder: {from: [x5, y5, z0], to: [x5, y5, z9], radius: r3}}"
#define ALL "{box: {min: [x0, y0, z0], max: [x10, y10, z5]}}"
#define SOLIDS(list) "colliders: [" list "]\n"
#define BALL "{shape: {sphere: {center: [x3, y5, z1], radius: r2}}}"
#define BLOCK "{shape: {box: {min: [x6, y1, z0], max: [x8, y9, z3]}}}"
#define TURNED                                                                                               \
    "{shape: {box: {center: [x5, y5, z2], size: [r4, r2, r2]}, pivot: [x5, y5, z2], rotate: [20, 35, 50]}}"
#define ROLL "{shape: {cylinder: {from: [x0, y3, z2], to: [x10, y7, z4], radius: r1}}}"
#define RING "{shape: {torus: {center: [x5, y5, z2], radius: r3, tube: r1}}}"
#define SPOUT(x, y)                                                                                          \
    "emitters: [{material: sand, shape: {sphere: {center: [" x ", " y ", z9], radius: r0.6}}, "              \
    "velocity: [0.5, 0.3, -1], rate: Q}]\n"

static const Case cases[] = {
    { "on the grid", 1, { 0, 0, 0 }, { 0.4, 0.32, 0.3 }, 0.02, "", PILLAR, "" },
    { "half a column over", 1, { 0, 0, 0 }, { 0.42, 0.34, 0.3 }, 0.02, "", CORNER, "" },
    { "a sliver over", 1, { 0, 0, 0 }, { 0.4004, 0.3204, 0.3 }, 0.02, "", CORNER, "" },
    { "off the grid", 1, { 0.013, -0.207, 0.05 }, { 0.377, 0.311, 0.3 }, 0.02, "", PILLAR, "" },
    { "narrower than a column", 1, { 0.003, 0, 0 }, { 0.4, 0.027, 0.3 }, 0.02, "", CORNER, "" },
    { "far away", 1, { 1234.567, -987.654, 321.987 }, { 0.377, 0.311, 0.3 }, 0.02, "", CORNER, "" },
    { "a hundredth", 0.01, { 0.0013, 0.0007, 0 }, { 0.377, 0.311, 0.3 }, 0.02, "", CORNER, "" },
    { "a hundredfold", 100, { 1.3, 0.7, -3 }, { 0.377, 0.311, 0.3 }, 0.02, "", CORNER, "" },
    { "a ball and a block", 1, { 0.01, 0, 0 }, { 0.371, 0.3, 0.3 }, 0.02, "", ALL, SOLIDS(BALL ", " BLOCK) },
    { "a turned box", 1, { 0.01, 0, 0 }, { 0.371, 0.3, 0.3 }, 0.02, "", CORNER, SOLIDS(TURNED) },
    { "a roll and a ring", 1, { 0, 0.01, 0 }, { 0.37, 0.31, 0.3 }, 0.02, "", ALL, SOLIDS(ROLL ", " RING) },
    { "poured in a corner", 1, { 0.01, 0, 0 }, { 0.3, 0.25, 0.3 }, 0.02, "", CORNER, SPOUT("x9.6", "y0.4") },
    { "filled to the lid", 1, { 0.01, 0, 0 }, { 0.23, 0.21, 0.2 }, 0.02, "", ALL, SPOUT("x5", "y5") },
    { "an open side", 1, { 0.013, 0, 0 }, { 0.37, 0.29, 0.3 }, 0.02, "x_max", CORNER, SOLIDS(BLOCK) },
    { "open but for the floor",
      1,
      { -0.007, 0.011, 0 },
      { 0.37, 0.29, 0.3 },
      0.02,
      "x_min, x_max, y_min, y_max, z_max",
      PILLAR,
      SOLIDS(BALL) },
    { "no floor", 1, { 0.013, 0, 0 }, { 0.37, 0.29, 0.3 }, 0.02, "z_min", CORNER, SOLIDS(BLOCK) },
    { "drained",
      1,
      { 0.01, 0, 0 },
      { 0.371, 0.3, 0.3 },
      0.02,
      "",
      CORNER,
      SOLIDS(BALL) "drains: [{shape: {sphere: {center: [x7, y3, z0], radius: r1}}, start: 0.1}]\n" },
};

/* Appends a text of a case: x3 is 3 tenths along x, r3 of the shortest side, Q a rate. */
static void append(const Case *c, const char *from, char *text, size_t size)
{
    const double least = fmin(c->size.x, fmin(c->size.y, c->size.z));
    size_t n = strlen(text);
    while (*from != '\0' && n + 40 < size) {
        const char *at = strchr("xyzr", *from);
        char *after = NULL;
        const double tenths = at != NULL ? strtod(from + 1, &after) : 0.0;
        if (*from == 'Q') {
            n +=
                (size_t)snprintf(text + n, size - n, "%.9g", 0.3 * pow(c->unit, 2.5) * least * least * least);
            from += 1;
        } else if (at == NULL || after == from + 1) {
            text[n++] = *from++;
        } else {
            const double start[4] = { c->origin.x, c->origin.y, c->origin.z, 0.0 };
            const double side[4] = { c->size.x, c->size.y, c->size.z, least };
            const int a = (int)(at - "xyzr");
            n += (size_t)snprintf(text + n, size - n, "%.12g", start[a] + 0.1 * tenths * c->unit * side[a]);
            from = after;
        }
        text[n] = '\0';
    }
    assert_true(*from == '\0');
}

static WadiScene *load_case(const Case *c, const char *mode)
{
    char text[4096] = "";
    snprintf(text, sizeof text, "wadi: 1\nsolver: dem\ndem: {mode: %s}\ncell_size: %.12g\nfps: %.12g\n", mode,
             c->cell * c->unit, 24.0 / sqrt(c->unit));
    append(c, "particles_per_cell: 1\nframes: 100\nmaterials: {sand: {kind: sand, friction_angle: 25}}\n",
           text, sizeof text);
    append(c, "domain: {min: [x0, y0, z0], max: [x10, y10, z10], walls: {open: [", text, sizeof text);
    strcat(text, c->walls);
    append(c, "]}}\nbodies: [{material: sand, shape: ", text, sizeof text);
    append(c, c->bodies, text, sizeof text);
    append(c, "}]\n", text, sizeof text);
    append(c, c->rest, text, sizeof text);
    return load_scene(text);
}

/* `deepest`: m, into a wall or a solid. */
static void check_number(const WadiSim *sim, const char *name, double deepest)
{
    const WadiParticles *p = &sim->particles;
    if (sim->lost[0] != 0 || p->count != sim->born[0] - sim->drained[0]) {
        fail_msg("%s, frame %d: %d particles, %d born, %d drained, %d lost", name, sim->frame, p->count,
                 (int)sim->born[0], (int)sim->drained[0], (int)sim->lost[0]);
    }
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        if (wadi_solids_distance(&sim->world->solids, x, sim->time, INFINITY) < -deepest) {
            fail_msg("%s, frame %d: particle %u at %.9g, %.9g, %.9g is inside a solid or outside a wall",
                     name, sim->frame, p->id[i], x.x, x.y, x.z);
        }
    }
}

static void check_mode(const char *mode, int frames)
{
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        WadiScene *scene = load_case(&cases[k], mode);
        WadiSim *sim = start_sim(scene, 1);
        assert_true(sim->particles.count > 20);
        for (int n = 0; n < frames; ++n) {
            run_frames(sim, 1);
            check_number(sim, cases[k].name, 1e-9 * cases[k].unit);
        }
        print_message("%s, %s: %d particles, %d drained\n", mode, cases[k].name, sim->particles.count,
                      (int)sim->drained[0]);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static void a_height_field_holds_every_particle(void **unused)
{
    (void)unused;
    check_mode("height_field", 24);
}

static void a_surface_flow_holds_every_grain(void **unused)
{
    (void)unused;
    check_mode("surface_flow", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_height_field_holds_every_particle),
        cmocka_unit_test(a_surface_flow_holds_every_grain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
