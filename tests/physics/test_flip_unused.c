/* flip: a material that no body and no emitter is made of changes nothing. */
#include <stdio.h>
#include <string.h>

#include "scene_sim.h"
#include "sim/sim.h"

/* What falls, pours and splashes in a box of 0.4 x 0.4 x 0.4, with cells of 4 cm. */
static WadiSim *run(const char *materials, const char *of)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{wadi: 1, solver: flip, cell_size: 0.04, domain: {min: [0, 0, 0], max: [0.4, 0.4, 0.4]},\n"
             " materials: {%s},\n"
             " bodies: [{material: %s, shape: {box: {min: [0, 0, 0], max: [0.2, 0.4, 0.24]}}}],\n"
             " emitters: [{material: %s, rate: 0.01, velocity: [0, 0, -0.5], shape: {sphere: {center: [0.3, "
             "0.2, 0.3], radius: 0.05}}}]}\n",
             materials, of, of);
    WadiSim *sim = start_sim(load_scene(text), 1);
    run_frames(sim, 8);
    return sim;
}

static void end(WadiSim *sim)
{
    const WadiScene *scene = sim->scene;
    wadi_sim_destroy(sim);
    wadi_scene_destroy((WadiScene *)scene);
}

static void check_same(const char *alone, const char *beside, const char *of)
{
    WadiSim *a = run(alone, of), *b = run(beside, of);
    const WadiParticles *p = &a->particles, *q = &b->particles;
    print_message("%s: %d and %d particles, %lld and %lld steps\n", beside, p->count, q->count,
                  (long long)a->steps, (long long)b->steps);
    assert_int_equal(a->steps, b->steps);
    assert_int_equal(p->count, q->count);
    const size_t count = (size_t)p->count;
    assert_memory_equal(p->x, q->x, count * sizeof *p->x);
    assert_memory_equal(p->y, q->y, count * sizeof *p->y);
    assert_memory_equal(p->z, q->z, count * sizeof *p->z);
    assert_memory_equal(p->vx, q->vx, count * sizeof *p->vx);
    assert_memory_equal(p->vz, q->vz, count * sizeof *p->vz);
    end(a);
    end(b);
}

#define WATER "water: {kind: water, viscosity: 0.001}"
#define SAND "sand: {kind: sand, friction_angle: 33}"
#define APIC "apic: {kind: water, transfer: apic}"
#define HONEY "honey: {kind: water, density: 1400, viscosity: 10, surface_tension: 0.1, transfer: apic}"

static void unused_materials_change_nothing(void **unused)
{
    (void)unused;
    check_same(WATER, WATER ", " SAND, "water");
    check_same(WATER, SAND ", " WATER, "water");
    check_same(WATER, WATER ", " HONEY, "water");
    check_same(WATER, HONEY ", " SAND ", " WATER, "water");
    check_same(SAND, SAND ", " WATER, "sand");
    check_same(SAND, HONEY ", " SAND, "sand");
    check_same(APIC, SAND ", " APIC, "apic");
    check_same(HONEY, SAND ", " HONEY, "honey");
    check_same(WATER ", " SAND, HONEY ", " WATER ", " SAND, "sand");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(unused_materials_change_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
