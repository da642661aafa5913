/* Surfaces of simulated water and sand: they enclose the particles' volume, still water is flat, and neither
 * depends on threads or on the scene's position. */
#include <math.h>

#include "core/parallel.h"
#include "math/sym3.h"
#include "scene_sim.h"
#include "sim/sim.h"
#include "surface/mesh/surface_mesh.h"
#include "surface_rows.h"

/* A tank of water; eight particles per cell by default. */
typedef struct Tank {
    WadiBox domain;
    double cell; /* of the simulation */
    double spacing;
} Tank;

static const WadiBox TANK = { { 0, 0, 0 }, { 1, 0.4, 0.6 } };
static const Tank FIRST = { { { 0, 0, 0 }, { 1, 0.4, 0.6 } }, 1.0 / 40.0, 0.5 / 40.0 };

#define SCENE(kind, corner)                                                                                  \
    "wadi: 1\nsolver: flip\nresolution: 40\n"                                                                \
    "domain: {min: [0, 0, 0], max: [1, 0.4, 0.6]}\n"                                                         \
    "materials: {stuff: {kind: " kind "}}\n"                                                                 \
    "bodies: [{material: stuff, shape: {box: {min: [0, 0, 0], max: [" corner "]}}}]\n"

static WadiCloud cloud_in(const WadiSim *sim, const Tank *tank)
{
    const WadiParticles *p = &sim->particles;
    WadiCloud cloud = { 0 };
    for (int32_t i = 0; i < p->count; ++i) {
        cloud_add(&cloud, wadi_vec3(p->x[i], p->y[i], p->z[i]), tank->spacing);
    }
    return cloud;
}

static WadiCloud cloud_of(const WadiSim *sim)
{
    return cloud_in(sim, &FIRST);
}

/* The settings and the cell that `wadi surface` has by default. */
static WadiFieldDef def_in(const Tank *tank, WadiSurfaceMethod method)
{
    WadiFieldDef def = { .method = method,
                         .cell = tank->cell / 2.5,
                         .support = 2.0,
                         .radius = 1.0,
                         .offset = wadi_field_volume_offset(2.0, 1.0),
                         .smoothing = 1,
                         .flatten = 5.0,
                         .flatten_unit = 0.5 * tank->cell,
                         .is_clipped = true,
                         .clip = tank->domain,
                         .is_mirrored = true };
    if (method == WADI_SURFACE_MLS) {
        def.smoothing = 0;
        def.flatten = 0.0;
    }
    if (method == WADI_SURFACE_ZHU_BRIDSON || method == WADI_SURFACE_ANISOTROPIC ||
        method == WADI_SURFACE_MLS) {
        wadi_field_volume_slack(def.support, def.volume_slack);
    }
    return def;
}

static WadiFieldDef def_of(WadiSurfaceMethod method)
{
    return def_in(&FIRST, method);
}

static void wrap(WadiSurfaceMesh *surface, const WadiCloud *cloud, const WadiFieldDef *def)
{
    WadiArena arena = { 0 };
    WadiError error = { 0 };
    WadiBins bins;
    WadiField field;
    CHECK_OK(wadi_bins_build(&bins, cloud, def->support, &arena, &error), error);
    CHECK_OK(wadi_field_build(&field, cloud, &bins, def, &arena, &error), error);
    CHECK_OK(wadi_surface_march(surface, &field, &arena, &error), error);
    wadi_arena_free(&arena);
}

/* `cell` in spacings. */
static double volume_ratio(const WadiCloud *cloud, WadiSurfaceMethod method, double cell)
{
    WadiSurfaceMesh surface;
    WadiSurfaceFacts facts;
    WadiError error = { 0 };
    WadiFieldDef def = def_of(method);
    def.cell = cell * cloud->spacing_max;
    wrap(&surface, cloud, &def);
    CHECK_OK(wadi_surface_facts(&facts, &surface.mesh, &error), error);
    assert_true(facts.is_closed && facts.is_manifold && facts.is_oriented);
    wadi_surface_mesh_free(&surface);
    return facts.volume / wadi_cloud_volume(cloud);
}

static void check_volumes(const char *what, const WadiCloud *cloud)
{
    double bridson = volume_ratio(cloud, WADI_SURFACE_ZHU_BRIDSON, 0.8);
    double stretched = volume_ratio(cloud, WADI_SURFACE_ANISOTROPIC, 0.8);
    double planes = volume_ratio(cloud, WADI_SURFACE_MLS, 0.8);
    print_message("%s: volume %.4f with zhu_bridson, %.4f with anisotropic, %.4f with mls\n", what, bridson,
                  stretched, planes);
    CHECK_NEAR(planes, 1.0, 0.03);
    CHECK_NEAR(bridson, 1.0, 0.03);
    CHECK_NEAR(stretched, 1.0, 0.025);
}

/* Heights of the vertices of a level surface about the best-fit plane, in spacings, two spacings from the
 * walls, so that a slowly sloshing tank counts as flat. Voids in the water are ignored. */
static double bumps_of(const WadiCloud *cloud, const WadiFieldDef *def, double height)
{
    WadiSurfaceMesh surface;
    wrap(&surface, cloud, def);
    WadiBox tank = def->clip;
    double margin = 2.0 * cloud->spacing_max;
    WadiVec3 middle = wadi_scale(wadi_add(tank.min, tank.max), 0.5);
    WadiSym3 sum = { 0 }; /* of x, y and z about the middle; means in the next */
    WadiVec3 mean = { 0 };
    int count = 0;
    for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
        WadiVec3 x = surface.mesh.vertices[v], d = wadi_sub(x, wadi_vec3(middle.x, middle.y, height));
        if (x.x > tank.min.x + margin && x.x < tank.max.x - margin && x.y > tank.min.y + margin &&
            x.y < tank.max.y - margin && fabs(d.z) < 1.5 * cloud->spacing_max) {
            mean = wadi_add(mean, d);
            sum.xx += d.x * d.x;
            sum.yy += d.y * d.y;
            sum.zz += d.z * d.z;
            sum.xy += d.x * d.y;
            sum.xz += d.x * d.z;
            sum.yz += d.y * d.z;
            ++count;
        }
    }
    assert_true(count > 500);
    wadi_surface_mesh_free(&surface);
    mean = wadi_scale(mean, 1.0 / count);
    sum = wadi_sym3_scale(sum, 1.0 / count);
    sum.xx -= mean.x * mean.x;
    sum.yy -= mean.y * mean.y;
    sum.zz -= mean.z * mean.z;
    sum.xy -= mean.x * mean.y;
    sum.xz -= mean.x * mean.z;
    sum.yz -= mean.y * mean.z;
    /* Within half a spacing of where the water was filled to. */
    CHECK_NEAR(mean.z / cloud->spacing_max, 0.0, 0.5);
    double det = sum.xx * sum.yy - sum.xy * sum.xy;
    double along_x = (sum.xz * sum.yy - sum.yz * sum.xy) / det;
    double along_y = (sum.yz * sum.xx - sum.xz * sum.xy) / det;
    return sqrt(fmax(0.0, sum.zz - along_x * sum.xz - along_y * sum.yz)) / cloud->spacing_max;
}

/* Flat: under 10 % of a spacing, under 5 % with the better method. */
static void check_bumps(const char *what, const WadiCloud *cloud, const Tank *tank, double height)
{
    double bumps[2][2];
    for (int n = 0; n < 4; ++n) {
        WadiFieldDef def = def_in(tank, n < 2 ? WADI_SURFACE_ZHU_BRIDSON : WADI_SURFACE_ANISOTROPIC);
        def.flatten = n % 2 == 0 ? 0.0 : def.flatten;
        bumps[n / 2][n % 2] = bumps_of(cloud, &def, height);
    }
    print_message(
        "%s: bumps of %.3f spacings with zhu_bridson, %.3f with anisotropic; not flattened %.3f, %.3f\n",
        what, bumps[0][1], bumps[1][1], bumps[0][0], bumps[1][0]);
    WadiFieldDef planes = def_in(tank, WADI_SURFACE_MLS);
    const double of_planes = bumps_of(cloud, &planes, height);
    print_message("%s: bumps of %.3f spacings with mls, without smoothing\n", what, of_planes);
    assert_true(of_planes < fmax(bumps[0][0], bumps[1][0]));
    assert_true(bumps[0][1] < 0.1);
    assert_true(bumps[1][1] < 0.05);
}

static void still_water_is_flat(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(SCENE("water", "1, 0.4, 0.2"));
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 12);
    WadiCloud cloud = cloud_of(sim);
    check_bumps("simulated tank", &cloud, &FIRST, 0.2);
    check_volumes("simulated tank", &cloud);
    cloud_free(&cloud);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);

    /* Particles that were not initialized at one depth. */
    cloud = (WadiCloud){ 0 };
    cloud_add_block(&cloud, TANK.min, 80, 32, 16, 0.0125, 0.25);
    check_bumps("jittered lattice", &cloud, &FIRST, 0.2);
    check_volumes("jittered lattice", &cloud);
    cloud_free(&cloud);
}

/* A broken dam that came to rest, viscous enough for that to take ten seconds. A particle is at rest at any
 * height within its cell, so that the uppermost ones are uneven by a third of a spacing. */
static void water_that_sloshed_is_flat(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: flip\nresolution: 40\nfps: 30\n"
                   "domain: {min: [0, 0, 0], max: [1, 0.4, 0.6]}\n"
                   "materials: {stuff: {kind: water, viscosity: 1}}\n"
                   "bodies: [{material: stuff, shape: {box: {min: [0, 0, 0], max: [0.3, 0.4, 0.4]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 300);
    WadiCloud cloud = cloud_of(sim);
    check_bumps("tank that sloshed", &cloud, &FIRST, 0.12);
    check_volumes("tank that sloshed", &cloud);
    cloud_free(&cloud);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Other tanks: a block that falls into water, with another transfer; more particles per cell, whose spacing
 * is not the scale of the bumps; finer and wider ones in long tests. */
static void other_tanks_are_flat(void **unused)
{
    (void)unused;
    const struct {
        const char *what, *scene;
        Tank tank;
        int frames;
        double height; /* m, of the water at rest */
        bool is_long;
    } cases[] = {
        { "block in a pond, apic",
          "wadi: 1\nsolver: flip\nresolution: 20\nfps: 30\nseed: 3\n"
          "domain: {min: [0, 0, 0], max: [0.8, 0.8, 0.5]}\n"
          "materials: {stuff: {kind: water, viscosity: 2, transfer: apic}}\n"
          "bodies: [{material: stuff, shape: {box: {min: [0, 0, 0], max: [0.8, 0.8, 0.12]}}},\n"
          "         {material: stuff, shape: {box: {min: [0.2, 0.28, 0.2], max: [0.44, 0.52, 0.4]}}}]\n",
          { { { 0, 0, 0 }, { 0.8, 0.8, 0.5 } }, 0.04, 0.02 },
          240,
          0.138,
          false },
        { "dam of 27 a cell",
          "wadi: 1\nsolver: flip\nresolution: 16\nfps: 30\nseed: 5\nparticles_per_cell: 27\n"
          "domain: {min: [0, 0, 0], max: [0.8, 0.5, 0.6]}\n"
          "materials: {stuff: {kind: water, viscosity: 2}}\n"
          "bodies: [{material: stuff, shape: {box: {min: [0, 0, 0], max: [0.3, 0.5, 0.4]}}}]\n",
          { { { 0, 0, 0 }, { 0.8, 0.5, 0.6 } }, 0.05, 0.05 / 3.0 },
          240,
          0.15,
          false },
        { "square tank",
          "wadi: 1\nsolver: flip\nresolution: 24\nfps: 30\nseed: 1\n"
          "domain: {min: [0, 0, 0], max: [1, 1, 0.6]}\n"
          "materials: {stuff: {kind: water, viscosity: 1}}\n"
          "bodies: [{material: stuff, shape: {box: {min: [0, 0, 0], max: [0.4, 1, 0.4]}}}]\n",
          { { { 0, 0, 0 }, { 1, 1, 0.6 } }, 1.0 / 24.0, 1.0 / 48.0 },
          600,
          0.16,
          true },
        { "fine dam",
          "wadi: 1\nsolver: flip\nresolution: 64\nfps: 30\nseed: 5\n"
          "domain: {min: [0, 0, 0], max: [1, 0.25, 0.5]}\n"
          "materials: {stuff: {kind: water, viscosity: 2}}\n"
          "bodies: [{material: stuff, shape: {box: {min: [0, 0, 0], max: [0.3, 0.25, 0.3]}}}]\n",
          { { { 0, 0, 0 }, { 1, 0.25, 0.5 } }, 1.0 / 64.0, 1.0 / 128.0 },
          300,
          0.09,
          true },
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; ++n) {
        if (cases[n].is_long && !is_long_run()) {
            continue;
        }
        WadiScene *scene = load_scene(cases[n].scene);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, cases[n].frames);
        WadiCloud cloud = cloud_in(sim, &cases[n].tank);
        check_bumps(cases[n].what, &cloud, &cases[n].tank, cases[n].height);
        cloud_free(&cloud);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

/* Every vertex near the floor lies in it, four spacings from the other walls: no dents where water stands on
 * a wall. */
static void faces_against_walls_are_flat(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(SCENE("water", "0.3, 0.4, 0.4"));
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 60);
    WadiCloud cloud = cloud_of(sim);
    for (int method = 0; method < WADI_SURFACE_METHOD_COUNT; ++method) {
        WadiFieldDef def = def_of((WadiSurfaceMethod)method);
        double margin = 4.0 * cloud.spacing_max;
        int dents[2], count = 0;
        for (int n = 0; n < 2; ++n) {
            WadiSurfaceMesh surface;
            def.is_mirrored = n == 1;
            wrap(&surface, &cloud, &def);
            dents[n] = count = 0;
            for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
                WadiVec3 x = surface.mesh.vertices[v];
                bool is_low = x.z < 0.6 * cloud.spacing_max && x.x > margin && x.x < TANK.max.x - margin &&
                              x.y > margin && x.y < TANK.max.y - margin;
                count += is_low;
                dents[n] += is_low && x.z > 2e-3 * def.cell;
            }
            wadi_surface_mesh_free(&surface);
        }
        print_message("method %d: %d of %d vertices at the floor are in dents, %d without images\n", method,
                      dents[1], count, dents[0]);
        assert_true(count > 1000);
        assert_true(dents[1] <= count / 200 && dents[1] <= dents[0]);
    }
    cloud_free(&cloud);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Frames while the block collapses, hits the far wall and is in the air. */
static void a_splash_encloses_its_volume(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(SCENE("water", "0.3, 0.4, 0.4"));
    WadiSim *sim = start_sim(scene, 1);
    const int frames[] = { 7, 13, 22, 29 };
    for (int n = 0, at = 0; n < 4; at = frames[n++]) {
        run_frames(sim, frames[n] - at);
        WadiCloud cloud = cloud_of(sim);
        char what[32];
        snprintf(what, sizeof what, "splash, frame %d", frames[n] + 1);
        check_volumes(what, &cloud);
        cloud_free(&cloud);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void a_heap_of_sand_encloses_its_volume(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(SCENE("sand", "0.3, 0.4, 0.4"));
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 13);
    WadiCloud cloud = cloud_of(sim);
    check_volumes("sand on its way", &cloud);
    cloud_free(&cloud);
    run_frames(sim, 20);
    cloud = cloud_of(sim);
    check_volumes("heap of sand", &cloud);
    cloud_free(&cloud);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* One to six layers in the air, of which the smoothing of YT13 would lose a third. */
static void sheets_enclose_their_volume(void **unused)
{
    (void)unused;
    const int layers[] = { 1, 2, 3, 6 };
    for (int n = 0; n < 4; ++n) {
        WadiCloud cloud = { 0 };
        cloud_add_block(&cloud, wadi_vec3(0, 0, 0.3), 40, 32, layers[n], 0.0125, 0.25);
        double ratio = volume_ratio(&cloud, WADI_SURFACE_ANISOTROPIC, 0.4);
        print_message("sheet of %d layers: volume %.4f with anisotropic, %.4f with zhu_bridson\n", layers[n],
                      ratio, volume_ratio(&cloud, WADI_SURFACE_ZHU_BRIDSON, 0.4));
        CHECK_NEAR(ratio, 1.0, 0.08);
        cloud_free(&cloud);
    }
}

/* Some drops, a sheet and a block, of sizes that differ by eight. */
static WadiCloud odd_cloud(WadiVec3 low)
{
    WadiCloud cloud = { 0 };
    cloud_add_block(&cloud, low, 3, 3, 3, 0.08, 0.2);
    cloud_add_block(&cloud, wadi_add(low, wadi_vec3(0, 0, 0.24)), 14, 14, 14, 0.01, 0.3);
    cloud_add_block(&cloud, wadi_add(low, wadi_vec3(0.3, 0, 0)), 30, 30, 1, 0.01, 0.3);
    for (int i = 0; i < 20; ++i) {
        cloud_add(&cloud, wadi_add(low, wadi_vec3(0.4, 0.02 * i, 0.3 + 0.001 * i * i)), 0.01);
    }
    return cloud;
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    WadiCloud cloud = odd_cloud(wadi_vec3(0, 0, 0));
    for (int method = 0; method < WADI_SURFACE_METHOD_COUNT; ++method) {
        WadiFieldDef def = def_of((WadiSurfaceMethod)method);
        def.cell = 0.005;
        def.is_clipped = false;
        WadiSurfaceMesh one, other;
        wadi_parallel_set_threads(1);
        wrap(&one, &cloud, &def);
        assert_true(one.mesh.triangle_count > 1000);
        const int threads[] = { 2, 5 };
        for (int n = 0; n < 2; ++n) {
            wadi_parallel_set_threads(threads[n]);
            wrap(&other, &cloud, &def);
            assert_int_equal(one.mesh.vertex_count, other.mesh.vertex_count);
            assert_int_equal(one.mesh.triangle_count, other.mesh.triangle_count);
            assert_memory_equal(one.mesh.vertices, other.mesh.vertices,
                                one.mesh.vertex_count * sizeof *one.mesh.vertices);
            assert_memory_equal(one.mesh.triangles, other.mesh.triangles,
                                one.mesh.triangle_count * sizeof *one.mesh.triangles);
            wadi_surface_mesh_free(&other);
        }
        wadi_surface_mesh_free(&one);
    }
    wadi_parallel_set_threads(0);
    cloud_free(&cloud);
}

/* Moved by a multiple of the cell, the surface is the same; the volume of the whole mesh agrees to the
 * floats' resolution of a cell. */
static void position_does_not_matter(void **unused)
{
    (void)unused;
    for (int method = 0; method < WADI_SURFACE_METHOD_COUNT; ++method) {
        double volume[2];
        for (int n = 0; n < 2; ++n) {
            WadiVec3 low = n == 0 ? wadi_vec3(0, 0, 0) : wadi_vec3(8192, -4096, 512);
            WadiCloud cloud = odd_cloud(low);
            WadiFieldDef def = def_of((WadiSurfaceMethod)method);
            def.cell = 0x1p-8;
            def.is_clipped = false;
            WadiSurfaceMesh surface;
            WadiSurfaceFacts facts;
            WadiError error = { 0 };
            wrap(&surface, &cloud, &def);
            CHECK_OK(wadi_surface_facts(&facts, &surface.mesh, &error), error);
            volume[n] = facts.volume;
            wadi_surface_mesh_free(&surface);
            cloud_free(&cloud);
        }
        CHECK_NEAR(volume[1] / volume[0], 1.0, 1e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(still_water_is_flat),
        cmocka_unit_test(water_that_sloshed_is_flat),
        cmocka_unit_test(other_tanks_are_flat),
        cmocka_unit_test(a_splash_encloses_its_volume),
        cmocka_unit_test(a_heap_of_sand_encloses_its_volume),
        cmocka_unit_test(faces_against_walls_are_flat),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(position_does_not_matter),
        cmocka_unit_test(sheets_enclose_their_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
