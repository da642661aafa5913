/* The frame scene: a frame as grains, meshes, balls and solids. */
#include <string.h>

#include "render/frame_scene.h"
#include "scene_sim.h"
#include "sim/sim.h"
#include "surface/mesh/shape_surface.h"

static const char text[] =
    "wadi: 1\nsolver: points\ncell_size: 0.1\ndomain: {min: [0, 0, 0], max: [2, 1, 1], walls: {open: "
    "[z_max]}}\n"
    "materials:\n"
    "  sand: {kind: sand, look: {preset: beach}}\n"
    "  water: {kind: water}\n"
    "  ghost: {kind: sand, look: {style: hidden}}\n"
    "bodies:\n"
    "  - {material: sand, shape: {box: {min: [0.1, 0.1, 0.1], max: [0.5, 0.5, 0.5]}}}\n"
    "  - {material: water, snap: layer, shape: {box: {min: [1, 0.1, 0.1], max: [1.5, 0.6, 0.6]}}}\n"
    "  - {material: ghost, shape: {box: {min: [1.7, 0.1, 0.1], max: [1.9, 0.3, 0.3]}}}\n"
    "colliders:\n"
    "  - {name: pillar, shape: {cylinder: {from: [0.8, 0.5, 0], to: [0.8, 0.5, 0.5], radius: 0.1}}}\n"
    "  - {name: post, shape: {cylinder: {from: [0.8, 0.2, 0], to: [0.8, 0.2, 0.5], radius: 0.05}}}\n"
    "render: {walls: glass}\n";

typedef struct Fixture {
    WadiScene *scene;
    WadiSim *sim;
    WadiState frame;
    WadiFrameScene frame_scene;
    WadiFrameSceneDef def;
} Fixture;

static void open_fixture(Fixture *f, const char *scene)
{
    WadiError error = { 0 };
    *f = (Fixture){ .scene = load_scene(scene) };
    f->sim = start_sim(f->scene, 1);
    CHECK_OK(wadi_sim_snapshot(f->sim, &f->frame, &error), error);
    f->def = (WadiFrameSceneDef){ .scene = f->scene, .world = f->sim->world };
}

static void close_fixture(Fixture *f)
{
    wadi_frame_scene_free(&f->frame_scene);
    wadi_state_free(&f->frame);
    wadi_sim_destroy(f->sim);
    wadi_scene_destroy(f->scene);
}

static void materials_become_grains_meshes_and_solids(void **unused)
{
    (void)unused;
    Fixture f;
    WadiError error = { 0 };
    open_fixture(&f, text);
    for (int round = 0; round < 2; ++round) { /* a frame scene is reused for every frame */
        CHECK_OK(wadi_frame_scene_build(&f.frame_scene, &f.def, &f.frame, 0.0, &error), error);
        assert_int_equal(f.frame_scene.part_count, 3);
        const WadiFrameScenePart *sand = &f.frame_scene.parts[0], *water = &f.frame_scene.parts[1],
                                 *ghost = &f.frame_scene.parts[2];
        assert_int_equal(sand->style, WADI_STYLE_GRAINS);
        assert_int_equal(sand->grains.count, 0); /* no particle flies alone */
        assert_true(sand->mesh.mesh.triangle_count > 100);
        assert_true(sand->owners.anchor_count > 100 && sand->owners.anchor_count <= 8 * 8 * 8);
        assert_int_equal(water->style, WADI_STYLE_SURFACE);
        assert_int_equal(water->grains.count, 0);
        WadiSurfaceFacts facts;
        CHECK_OK(wadi_surface_facts(&facts, &water->mesh.mesh, &error), error);
        assert_true(facts.is_closed && facts.is_oriented);
        CHECK_NEAR(facts.volume, 0.125, 0.1 * 0.125); /* ten particles a side: its edges are round */
        assert_int_equal(ghost->grains.count + ghost->mesh.mesh.triangle_count, 0);
        /* The pillar, the post, the four sides without floor and ceiling, and their edges. */
        assert_int_equal(f.frame_scene.solid_count, 7);
        assert_int_equal(f.frame_scene.solids[6].mesh.triangle_count, 8 * 12);
        assert_true(wadi_mesh_volume(&f.frame_scene.solids[6].mesh) > 0.0);
        assert_string_equal(f.frame_scene.solids[0].name, "pillar");
        CHECK_NEAR(wadi_mesh_volume(&f.frame_scene.solids[0].mesh), 3.14159265 * 0.01 * 0.5, 2e-4);
        /* Without a colour of their own they differ. */
        const WadiLook *pillar = &f.frame_scene.looks[f.frame_scene.solids[0].look],
                       *post = &f.frame_scene.looks[f.frame_scene.solids[1].look];
        assert_true(wadi_normf(wadi_subf(pillar->colour, post->colour)) > 0.05f);
        assert_true(f.frame_scene.ground.is_present && f.frame_scene.ground.height <= 0.0 &&
                    f.frame_scene.ground.height > -0.01);
    }
    WadiTraceScene trace;
    CHECK_OK(wadi_frame_scene_trace(&f.frame_scene, f.scene, &trace, &error), error);
    assert_int_equal(trace.spheres_count, 0);
    assert_int_equal(trace.mesh_count, 2 + 7);
    close_fixture(&f);
}

/* A block of 6 x 6 x 6 particles against a wall, and three that fly alone. */
static void particles_that_fly_alone_are_single_grains(void **unused)
{
    (void)unused;
    enum { SIDE = 6, BLOCK = SIDE * SIDE * SIDE };
    WadiError error = { 0 };
    WadiArena arena = { 0 };
    WadiCloud cloud, bulk, loose;
    float *drop;
    WadiVec3 x[BLOCK + 3];
    for (int i = 0; i < BLOCK; ++i) {
        x[i] = wadi_vec3(0.01 * (i % SIDE) + 0.005, 0.01 * (i / SIDE % SIDE), 0.01 * (i / SIDE / SIDE));
    }
    for (int i = 0; i < 3; ++i) {
        x[BLOCK + i] = wadi_vec3(0.5 + 0.1 * i, 0.0, 0.2);
    }
    CHECK_OK(wadi_cloud_from_points(&cloud, x, BLOCK + 3, 0.01, &error), error);
    WadiBox walls = { { 0.0, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
    CHECK_OK(wadi_sand_split(&bulk, &loose, &drop, &cloud, walls, &arena, &error), error);
    assert_int_equal(bulk.count, BLOCK);
    assert_int_equal(loose.count, 3);
    for (int i = 0; i < 3; ++i) {
        CHECK_NEAR(loose.position[i].x, 0.5 + 0.1 * i, 1e-12);
        assert_int_equal(loose.id[i], BLOCK + i);
    }
    /* Grains of 2 mm fill 0.6 of a cube of 10 mm: 0.6 * 125 * 6 / pi = 143 of them, cut to 100. */
    WadiLooseDef def = {
        .size = 0.002, .floor = -INFINITY, .count_max = 1000, .palette = { .fraction = { 1.0f } }
    };
    WadiGrains grains, fewer;
    CHECK_OK(wadi_loose_grains(&grains, &loose, wadi_vec3(0, 0, 0), &def, &arena, &error), error);
    assert_int_equal(grains.count, 3 * 143);
    def.count_max = 100;
    CHECK_OK(wadi_loose_grains(&fewer, &loose, wadi_vec3(0, 0, 0), &def, &arena, &error), error);
    assert_int_equal(fewer.count, 3 * 100);
    for (size_t g = 0; g < 100; ++g) { /* the same grains, only fewer */
        assert_memory_equal(grains.sphere[g], fewer.sphere[g], sizeof grains.sphere[g]);
        CHECK_NEAR((double)grains.sphere[g][3], 0.001, 0.00026);
        CHECK_NEAR((double)grains.sphere[g][0], 0.5, 0.0151);
    }
    /* Pixels of 4 mm: a quarter of them, twice as wide, with the same area. */
    def = (WadiLooseDef){
        .size = 0.002, .smallest = 0.004, .floor = -INFINITY, .count_max = 1000, .palette = def.palette
    };
    CHECK_OK(wadi_loose_grains(&fewer, &loose, wadi_vec3(0, 0, 0), &def, &arena, &error), error);
    assert_int_equal(fewer.count, 3 * 36);
    wadi_cloud_free(&cloud);
    wadi_arena_free(&arena);
}

/* The foot of a heap. Of a layer one particle deep on the floor, 6 x 6 of them, those at the corners have
 * few neighbours, counting images: 1 + 2 * 0.42 + 0.125 and 0.42 + 2 * 0.125 + 0.016, 2.65 in all; at the
 * sides it is 3.3. A block of 4 x 4 x 2 hangs 15 mm above the floor, one and a half spacings: its lower
 * layer gets copies that stand on the floor. */
static void sand_on_a_floor_thins_out_and_does_not_hang(void **unused)
{
    (void)unused;
    enum { LAYER = 36, HANGING = 32 };
    WadiError error = { 0 };
    WadiArena arena = { 0 };
    WadiCloud cloud, bulk, loose;
    float *drop;
    WadiVec3 x[LAYER + HANGING];
    for (int i = 0; i < LAYER; ++i) {
        x[i] = wadi_vec3(0.01 * (i % 6), 0.01 * (i / 6 % 6), 1.005);
    }
    for (int i = 0; i < HANGING; ++i) {
        x[LAYER + i] = wadi_vec3(1.0 + 0.01 * (i % 4), 0.01 * (i / 4 % 4), 1.015 + 0.01 * (i / 16 % 2));
    }
    CHECK_OK(wadi_cloud_from_points(&cloud, x, LAYER + HANGING, 0.01, &error), error);
    WadiBox walls = { { -INFINITY, -INFINITY, 1.0 }, { INFINITY, INFINITY, INFINITY } };
    CHECK_OK(wadi_sand_split(&bulk, &loose, &drop, &cloud, walls, &arena, &error), error);
    assert_int_equal(loose.count, 4);
    assert_int_equal(bulk.count, LAYER - 4 + HANGING + 16);
    int copies = 0;
    for (int32_t i = 0; i < bulk.count; ++i) {
        if (bulk.id[i] >= LAYER && fabs(bulk.position[i].z - 1.005) < 1e-9) {
            WadiVec3 from = x[bulk.id[i]];
            assert_true(from.z < 1.02 && bulk.position[i].x == from.x && bulk.position[i].y == from.y);
            ++copies;
        }
    }
    assert_int_equal(copies, 16);
    for (int i = 0; i < 4; ++i) { /* the corners of the layer, half a spacing above the floor */
        CHECK_NEAR((double)drop[i], 0.005, 1e-6);
    }
    WadiLooseDef def = { .size = 0.001, .floor = 1.0, .count_max = 50, .palette = { .fraction = { 1.0f } } };
    WadiGrains grains;
    CHECK_OK(wadi_loose_grains(&grains, &loose, wadi_vec3(0, 0, 0.5), &def, &arena, &error), error);
    assert_int_equal(grains.count, 4 * 50);
    for (size_t g = 0; g < grains.count; ++g) {
        assert_true((double)grains.sphere[g][2] > 0.5);
    }
    wadi_cloud_free(&cloud);
    wadi_arena_free(&arena);
}

/* A bed of 10 x 10 x 4 particles from z = 0, its top at 0.04. A particle that hovers two spacings above it
 * lies on it: its grains are on the top of the bed, not in a ball. One ten spacings above flies. */
static void strays_lie_on_the_bed(void **unused)
{
    (void)unused;
    enum { BED = 400 };
    WadiError error = { 0 };
    WadiArena arena = { 0 };
    WadiCloud cloud, bulk, loose;
    float *drop;
    WadiVec3 x[BED + 2];
    for (int i = 0; i < BED; ++i) {
        x[i] = wadi_vec3(0.01 * (i % 10), 0.01 * (i / 10 % 10), 0.005 + 0.01 * (i / 100));
    }
    x[BED] = wadi_vec3(0.05, 0.05, 0.06);
    x[BED + 1] = wadi_vec3(0.05, 0.05, 0.14);
    CHECK_OK(wadi_cloud_from_points(&cloud, x, BED + 2, 0.01, &error), error);
    WadiBox walls = { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
    CHECK_OK(wadi_sand_split(&bulk, &loose, &drop, &cloud, walls, &arena, &error), error);
    assert_int_equal(loose.count, 2);
    CHECK_NEAR((double)drop[0], 0.02, 1e-6);
    assert_true(isinf(drop[1]));
    WadiLooseDef def = {
        .size = 0.001, .floor = -INFINITY, .count_max = 50, .drop = drop, .palette = { .fraction = { 1.0f } }
    };
    WadiGrains grains;
    CHECK_OK(wadi_loose_grains(&grains, &loose, wadi_vec3(0, 0, 0), &def, &arena, &error), error);
    assert_int_equal(grains.count, 100);
    double highest = 0.0;
    for (size_t g = 0; g < 100; ++g) {
        const double z = (double)grains.sphere[g][2];
        if (g < 50) {
            CHECK_NEAR(z, 0.04, 1e-6);
        } else {
            highest = fmax(highest, fabs(z - 0.14));
        }
    }
    assert_true(highest > 0.005);
    wadi_cloud_free(&cloud);
    wadi_arena_free(&arena);
}

/* Against all pairs: the first owner of a vertex is its nearest particle. */
static void grains_belong_to_the_nearest_particle(void **unused)
{
    (void)unused;
    Fixture f;
    WadiError error = { 0 };
    open_fixture(&f, text);
    CHECK_OK(wadi_frame_scene_build(&f.frame_scene, &f.def, &f.frame, 0.0, &error), error);
    const WadiFrameScenePart *sand = &f.frame_scene.parts[0];
    for (size_t v = 0; v < sand->mesh.mesh.vertex_count; v += 7) {
        WadiVec3 p = wadi_sub(sand->mesh.mesh.vertices[v], f.frame_scene.origin);
        double nearest = 1e9, owned = 1e9;
        for (size_t a = 0; a < sand->owners.anchor_count; ++a) {
            const float *at = sand->owners.anchor[a];
            double d = wadi_norm(wadi_sub(p, wadi_vec3((double)at[0], (double)at[1], (double)at[2])));
            nearest = fmin(nearest, d);
            owned = a == sand->owners.owner[v][0] ? d : owned;
        }
        CHECK_NEAR(owned, nearest, 1e-6);
    }
    close_fixture(&f);
}

/* Grains of 5 cm among particles of 5 cm are stones, one to a particle. */
static void large_grains_are_stones(void **unused)
{
    (void)unused;
    Fixture f;
    WadiError error = { 0 };
    open_fixture(&f, text);
    f.scene->materials[0].grain_size = 0.05;
    CHECK_OK(wadi_frame_scene_build(&f.frame_scene, &f.def, &f.frame, 0.0, &error), error);
    const WadiFrameScenePart *sand = &f.frame_scene.parts[0];
    assert_int_equal(sand->grains.count, 8 * 8 * 8);
    assert_true(sand->is_angular && sand->mesh.mesh.triangle_count > 100);
    close_fixture(&f);
}

/* Single grains of the solver dem are stones, a little larger than the spheres that they stand for, unless
 * balls are asked for. */
static void single_grains_are_stones(void **unused)
{
    (void)unused;
    static const char *const look[3] = { "", ", look: {style: balls}",
                                         ", look: {style: balls, ball_size: 1.5}" };
    static const double size[3] = { 1.15, 1.0, 1.5 };
    for (int n = 0; n < 3; ++n) {
        char scene[400];
        snprintf(scene, sizeof scene,
                 "wadi: 1\nsolver: dem\ncell_size: 0.1\ndomain: {min: [0, 0, 0], max: [1, 1, 1]}\n"
                 "materials: {sand: {kind: sand%s}}\n"
                 "bodies:\n  - {material: sand, shape: {box: {min: [0.2, 0.2, 0], max: [0.8, 0.8, 0.5]}}}\n",
                 look[n]);
        Fixture f;
        WadiError error = { 0 };
        open_fixture(&f, scene);
        CHECK_OK(wadi_frame_scene_build(&f.frame_scene, &f.def, &f.frame, 0.0, &error), error);
        const WadiFrameScenePart *part = &f.frame_scene.parts[0];
        WadiCloud cloud;
        CHECK_OK(wadi_cloud_from_frame(&cloud, &f.frame, 0, 0.0, &error), error);
        assert_true(part->grains.count > 100 && part->grains.count == (size_t)cloud.count);
        assert_int_equal(part->is_angular, n == 0);
        for (size_t g = 0; g < part->grains.count; ++g) {
            CHECK_NEAR((double)part->grains.sphere[g][3], size[n] * 0.5 * (double)cloud.spacing[g], 1e-6);
        }
        wadi_cloud_free(&cloud);
        close_fixture(&f);
    }
}

/* Sand is drawn as wet as it is, and at least as wet as its look, as is a ground of sand. */
static void looks_are_the_least_wetness(void **unused)
{
    (void)unused;
    static const char *const solver[3] = { "sph", "sph", "points" }; /* points has no wetness */
    static const char *const saturation[3] = { ", saturation: 0.2", ", saturation: 0.9", "" };
    static const double expected[3] = { 0.6, 0.9, 0.6 };
    for (int n = 0; n < 3; ++n) {
        char scene[600];
        snprintf(scene, sizeof scene,
                 "wadi: 1\nsolver: %s\ncell_size: 0.1\ndomain: {min: [0, 0, 0], max: [1, 1, 1]}\n"
                 "materials: {sand: {kind: sand, look: {wetness: 0.6}}}\n"
                 "bodies:\n  - {material: sand%s, shape: {box: {min: [0.2, 0.2, 0], max: [0.8, 0.8, 0.5]}}}\n"
                 "render: {ground: sand}\n",
                 solver[n], saturation[n]);
        Fixture f;
        WadiTraceScene trace;
        WadiError error = { 0 };
        open_fixture(&f, scene);
        CHECK_OK(wadi_frame_scene_build(&f.frame_scene, &f.def, &f.frame, 0.0, &error), error);
        CHECK_OK(wadi_frame_scene_trace(&f.frame_scene, f.scene, &trace, &error), error);
        CHECK_NEAR((double)trace.ground.wetness, 0.6, 1e-6);
        assert_true(trace.mesh_count >= 1 && trace.meshes[0].vertex_count > 0);
        for (size_t v = 0; v < trace.meshes[0].vertex_count; ++v) {
            CHECK_NEAR((double)trace.meshes[0].wetness[v], expected[n], 0.02);
        }
        close_fixture(&f);
    }
}

/* Gravel begins at 2 mm: sand drawn as gravel has stones of 8 mm, gravel its own size, other sand always. */
static void gravel_is_coarse(void **unused)
{
    (void)unused;
    WadiMaterial gravel = { .kind = WADI_MATERIAL_SAND,
                            .grain_size = 0.0004,
                            .look.preset = WADI_PRESET_GRAVEL };
    CHECK_NEAR(wadi_frame_scene_grain_size(&gravel), 0.008, 0.0);
    gravel.grain_size = 0.03;
    CHECK_NEAR(wadi_frame_scene_grain_size(&gravel), 0.03, 0.0);
    WadiMaterial sand = { .kind = WADI_MATERIAL_SAND,
                          .grain_size = 0.0004,
                          .look.preset = WADI_PRESET_DESERT };
    CHECK_NEAR(wadi_frame_scene_grain_size(&sand), 0.0004, 0.0);
}

/* Two pieces of a stream whose boxes are 1.8 spacings apart: drops of water, one rope of honey. */
static void streams_of_honey_have_no_gaps(void **unused)
{
    (void)unused;
    for (int is_honey = 0; is_honey < 2; ++is_honey) {
        char scene[600];
        snprintf(scene, sizeof scene,
                 "wadi: 1\nsolver: points\ncell_size: 0.1\ndomain: {min: [0, 0, 0], max: [1, 1, 2]}\n"
                 "materials: {stream: {kind: water%s}}\n"
                 "bodies:\n"
                 "  - {material: stream, shape: {box: {min: [0.3, 0.3, 0.3], max: [0.7, 0.7, 1.0]}}}\n"
                 "  - {material: stream, shape: {box: {min: [0.3, 0.3, 1.09], max: [0.7, 0.7, 1.7]}}}\n",
                 is_honey ? ", viscosity: 10" : "");
        Fixture f;
        WadiError error = { 0 };
        open_fixture(&f, scene);
        CHECK_OK(wadi_frame_scene_build(&f.frame_scene, &f.def, &f.frame, 0.0, &error), error);
        WadiSurfaceFacts facts;
        CHECK_OK(wadi_surface_facts(&facts, &f.frame_scene.parts[0].mesh.mesh, &error), error);
        assert_true(is_honey ? facts.parts == 1 : facts.parts >= 2);
        close_fixture(&f);
    }
}

/* An edge of a box of sand: sand that coheres is drawn with more of it. */
static void sand_that_coheres_has_edges(void **unused)
{
    (void)unused;
    double edge[2];
    for (int coheres = 0; coheres < 2; ++coheres) {
        char scene[400];
        snprintf(
            scene, sizeof scene,
            "wadi: 1\nsolver: points\ncell_size: 0.1\ndomain: {min: [0, 0, 0], max: [3, 3, 3]}\n"
            "materials: {sand: {kind: sand%s}}\n"
            "bodies:\n  - {material: sand, snap: layer, shape: {box: {min: [1, 1, 0], max: [2, 2, 1]}}}\n",
            coheres ? ", cohesion: 900" : "");
        Fixture f;
        WadiError error = { 0 };
        open_fixture(&f, scene);
        CHECK_OK(wadi_frame_scene_build(&f.frame_scene, &f.def, &f.frame, 0.0, &error), error);
        const WadiMesh *mesh = &f.frame_scene.parts[0].mesh.mesh;
        edge[coheres] = 0.0;
        for (size_t v = 0; v < mesh->vertex_count; ++v) {
            const WadiVec3 x = mesh->vertices[v];
            if (fabs(x.y - 1.5) < 0.2) {
                edge[coheres] = fmax(edge[coheres], x.x + x.z);
            }
        }
        close_fixture(&f);
    }
    /* The edge of the body is at 3, of its particles at 2.95: the low pass takes less of what coheres. */
    print_message("edge of dry sand at %.3f, of cohesive sand at %.3f\n", edge[0], edge[1]);
    assert_true(edge[1] > edge[0] + 0.005 && edge[1] > 2.85 && edge[1] < 3.05);
}

/* Real water leaves a third of red light after 3 m: a beach has that, a bath is clearer in metres only. */
static void liquids_have_their_colour_by_scale(void **unused)
{
    (void)unused;
    WadiMaterial water = { .kind = WADI_MATERIAL_WATER, .look = { .colour = { -1, -1, -1 }, .clarity = -1 } };
    WadiLook bath = wadi_frame_scene_liquid(&water, 0.5), beach = wadi_frame_scene_liquid(&water, 15.0);
    CHECK_NEAR((double)beach.absorption.x, 1.1 / 3.0, 1e-6);
    CHECK_NEAR((double)bath.absorption.x, 1.1 / 1.0, 1e-6);
    assert_true(bath.haze == 0.0f && beach.haze > 0.05f);
    water.viscosity.constant.value[0] = 10.0; /* honey: amber without being told */
    WadiLook honey = wadi_frame_scene_liquid(&water, 0.3);
    assert_true(honey.absorption.z > 3.0f * honey.absorption.x && honey.haze_colour.x > honey.haze_colour.z);
    water.look.cloudiness = 1.0;
    assert_int_equal(wadi_frame_scene_liquid(&water, 0.3).kind, WADI_LOOK_PLAIN); /* milk */
}

static void cuts_leave_what_is_behind(void **unused)
{
    (void)unused;
    Fixture f;
    WadiError error = { 0 };
    open_fixture(&f, text);
    f.def.has_cut = true;
    f.def.cut_point = wadi_vec3(0.3, 0.0, 0.0);
    f.def.cut_normal = wadi_vec3(1.0, 0.0, 0.0);
    CHECK_OK(wadi_frame_scene_build(&f.frame_scene, &f.def, &f.frame, 0.0, &error), error);
    const WadiGrains *grains = &f.frame_scene.parts[0].grains;
    CHECK_NEAR((double)grains->count, 5 * 8 * 8 * 8,
               250.0); /* half of them, except for those across the cut */
    for (size_t g = 0; g < grains->count; ++g) {
        CHECK_AT_MOST((double)grains->sphere[g][0] + f.frame_scene.origin.x, 0.3 + 1e-6);
    }
    assert_int_equal(f.frame_scene.parts[1].grains.count, 0); /* water lies in front */
    assert_int_equal(f.frame_scene.parts[1].mesh.mesh.triangle_count, 0);
    close_fixture(&f);
}

static void textures_need_their_attribute(void **unused)
{
    (void)unused;
    Fixture f;
    WadiError error = { 0 };
    open_fixture(&f, text);
    f.scene->materials[0].look.style = WADI_STYLE_TEXTURE;
    assert_int_equal(wadi_frame_scene_build(&f.frame_scene, &f.def, &f.frame, 0.0, &error),
                     WADI_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "material sand"));
    assert_non_null(strstr(error.text, "texture: true"));
    assert_int_equal(f.frame_scene.part_count, 0);
    close_fixture(&f);
}

/* Lowest y of a solid as it is drawn. */
static double front_of(const WadiTraceMesh *mesh)
{
    double front = INFINITY;
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        front = fmin(front, mesh->vertices[v].y);
    }
    return front;
}

/* Three steps whose fronts lie in the plane y = 0.2: the second is drawn behind the first, the third behind
 * both, by less than a thousandth of the scene. The fourth touches none and is drawn where it is. Exports
 * have them all in the plane. */
static void faces_in_one_plane_are_apart(void **unused)
{
    (void)unused;
    static const char scene[] =
        "wadi: 1\nsolver: points\ncell_size: 0.1\ndomain: {min: [0, 0, 0], max: [2, 2, 1]}\n"
        "materials: {sand: {kind: sand}}\n"
        "bodies:\n  - {material: sand, shape: {box: {min: [1, 1, 0.5], max: [1.2, 1.2, 0.7]}}}\n"
        "colliders:\n"
        "  - {name: a, shape: {box: {min: [0.1, 0.2, 0], max: [0.5, 1, 0.6]}}}\n"
        "  - {name: b, shape: {box: {min: [0.1, 0.2, 0], max: [0.8, 1, 0.4]}}}\n"
        "  - {name: c, shape: {box: {min: [0.1, 0.2, 0], max: [1.1, 1, 0.2]}}}\n"
        "  - {name: d, shape: {box: {min: [1.5, 0.2, 0], max: [1.8, 1, 0.2]}}}\n";
    Fixture f;
    WadiError error = { 0 };
    open_fixture(&f, scene);
    CHECK_OK(wadi_frame_scene_build(&f.frame_scene, &f.def, &f.frame, 0.0, &error), error);
    WadiTraceScene trace;
    CHECK_OK(wadi_frame_scene_trace(&f.frame_scene, f.scene, &trace, &error), error);
    assert_int_equal(f.frame_scene.solid_count, 4);
    for (int i = 0; i < 4; ++i) {
        CHECK_NEAR(wadi_mesh_bounds(&f.frame_scene.solids[i].mesh).min.y, 0.2, 1e-12);
    }
    const WadiTraceMesh *solids = trace.meshes + trace.mesh_count - 4;
    CHECK_NEAR(front_of(&solids[0]), 0.2, 1e-12);
    assert_true(front_of(&solids[1]) > 0.2 + 1e-5 && front_of(&solids[2]) > front_of(&solids[1]) + 1e-5);
    assert_true(front_of(&solids[2]) < 0.2 + 3e-3);
    CHECK_NEAR(front_of(&solids[3]), 0.2, 1e-12);
    close_fixture(&f);
}

static void nothing_stands_on_a_floor_in_space(void **unused)
{
    (void)unused;
    static const struct {
        const char *keys;
        bool has_ground;
    } cases[] = { { "gravity: [0, 0, 0]\n", false },
                  { "", true },
                  { "gravity: [0, 0, 0]\nrender: {ground: slabs}\n", true },
                  { "gravity: [0, 0, 0]\ndomain: {min: [0, 0, 0], max: [1, 1, 1]}\n", true } };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; ++n) {
        char scene[400];
        snprintf(
            scene, sizeof scene,
            "wadi: 1\nsolver: points\ncell_size: 0.1\n%smaterials: {sand: {kind: sand}}\n"
            "bodies:\n  - {material: sand, shape: {box: {min: [0.1, 0.1, 0.1], max: [0.4, 0.4, 0.4]}}}\n",
            cases[n].keys);
        Fixture f;
        WadiError error = { 0 };
        open_fixture(&f, scene);
        CHECK_OK(wadi_frame_scene_build(&f.frame_scene, &f.def, &f.frame, 0.0, &error), error);
        assert_int_equal(f.frame_scene.ground.is_present, cases[n].has_ground);
        close_fixture(&f);
    }
}

/* A slide of 3 m/s along x, a wheel that turns once in a second about z through the origin, a box that jumps,
 * and one at rest, while the shutter is open for 1/48 s about 0.5 s. */
static void moving_colliders_have_velocities(void **unused)
{
    (void)unused;
    static const char scene[] =
        "wadi: 1\nsolver: points\ncell_size: 0.1\nfps: 24\ndomain: {min: [-4, -4, -4], max: [4, 4, 4]}\n"
        "materials: {sand: {kind: sand}}\n"
        "bodies:\n  - {material: sand, shape: {box: {min: [2, 2, 2], max: [2.2, 2.2, 2.2]}}}\n"
        "colliders:\n"
        "  - {name: slide, shape: {box: {min: [-3, -3, 0], max: [-2.8, -2.8, 0.2]},\n"
        "      translate: {keys: [[0, [0, 0, 0]], [1, [3, 0, 0]]]}}}\n"
        "  - {name: wheel, shape: {box: {min: [0.8, -0.1, 0], max: [1, 0.1, 0.2]},\n"
        "      rotate: {keys: [[0, [0, 0, 0]], [1, [0, 0, 360]]]}}}\n"
        "  - {name: jump, shape: {box: {min: [-3, 2, 0], max: [-2.8, 2.2, 0.2]},\n"
        "      translate: {keys: [[0, [0, 0, 0]], [0.5, [1, 0, 0]]], interpolation: step}}}\n"
        "  - {name: post, shape: {box: {min: [-3, 3, 0], max: [-2.8, 3.2, 0.2]}}}\n";
    Fixture f;
    WadiError error = { 0 };
    open_fixture(&f, scene);
    CHECK_OK(wadi_frame_scene_build(&f.frame_scene, &f.def, &f.frame, 0.5, &error), error);
    const WadiFrameSceneSolid *solids = f.frame_scene.solids, *slide = &solids[0], *wheel = &solids[1];
    assert_true(slide->velocity != NULL && wheel->velocity != NULL);
    assert_true(solids[2].velocity == NULL && solids[3].velocity == NULL);
    for (size_t v = 0; v < slide->mesh.vertex_count; ++v) {
        CHECK_NEAR((double)slide->velocity[v][0], 3.0, 1e-5);
        CHECK_NEAR((double)slide->velocity[v][1], 0.0, 1e-5);
    }
    /* The chord over 7.5 degrees is shorter than the arc by the sine of a half of it over that. */
    const double angle = 2.0 * 3.14159265358979 / 48.0, chord = sin(0.5 * angle) / (0.5 * angle);
    for (size_t v = 0; v < wheel->mesh.vertex_count; ++v) {
        const WadiVec3 x = wheel->mesh.vertices[v];
        CHECK_NEAR((double)wheel->velocity[v][0], -2.0 * 3.14159265358979 * chord * x.y, 1e-4);
        CHECK_NEAR((double)wheel->velocity[v][1], 2.0 * 3.14159265358979 * chord * x.x, 1e-4);
    }
    /* As rigid motions: a point at (1, 0, 0) of the frame's time has turned by 3.75 degrees either way. */
    assert_true(slide->is_rigid && wheel->is_rigid);
    CHECK_NEAR(wadi_affine_point(&slide->closing, wadi_vec3(1, 2, 3)).x, 1.0 + 3.0 / 96.0, 1e-9);
    const WadiVec3 open = wadi_affine_point(&wheel->opening, wadi_vec3(1, 0, 0)),
                   close = wadi_affine_point(&wheel->closing, wadi_vec3(1, 0, 0));
    CHECK_NEAR(open.y, -sin(0.5 * angle), 1e-9);
    CHECK_NEAR(close.y, sin(0.5 * angle), 1e-9);
    CHECK_NEAR(close.x, cos(0.5 * angle), 1e-9);
    WadiTraceScene trace;
    CHECK_OK(wadi_frame_scene_trace(&f.frame_scene, f.scene, &trace, &error), error);
    const WadiTraceMesh *traced = &trace.meshes[trace.mesh_count - 4];
    assert_non_null(traced->velocity);
    CHECK_NEAR((double)traced->velocity[traced->vertex_count - 1][0], 3.0, 1e-5);
    f.scene->render.shutter = 0.0;
    CHECK_OK(wadi_frame_scene_build(&f.frame_scene, &f.def, &f.frame, 0.5, &error), error);
    assert_null(f.frame_scene.solids[0].velocity);
    close_fixture(&f);
}

static void empty_frames_have_an_empty_stage(void **unused)
{
    (void)unused;
    Fixture f;
    WadiError error = { 0 };
    open_fixture(&f, text);
    WadiState empty = { 0 };
    void *data;
    CHECK_OK(wadi_state_add(&empty, "position", WADI_TYPE_F64, 3, 0, &data, &error), error);
    CHECK_OK(wadi_state_add(&empty, "velocity", WADI_TYPE_F32, 3, 0, &data, &error), error);
    CHECK_OK(wadi_state_add(&empty, "radius", WADI_TYPE_F32, 1, 0, &data, &error), error);
    CHECK_OK(wadi_state_add(&empty, "material", WADI_TYPE_U8, 1, 0, &data, &error), error);
    CHECK_OK(wadi_frame_scene_build(&f.frame_scene, &f.def, &empty, 0.0, &error), error);
    for (int p = 0; p < f.frame_scene.part_count; ++p) {
        assert_int_equal(
            f.frame_scene.parts[p].grains.count + f.frame_scene.parts[p].mesh.mesh.triangle_count, 0);
    }
    wadi_state_free(&empty);
    close_fixture(&f);
}

/* A ball with a ball cut out of its side: marched from its distance. The remaining volume is the ball's less
 * a lens of two caps of height h = r - d / 2. */
static void carved_shapes_have_closed_meshes(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    const double r = 0.3, d = 0.3, h = r - d / 2.0, pi = 3.14159265358979324;
    WadiShapeDef carved = wadi_shape_def(WADI_SHAPE_DIFFERENCE), child[2];
    for (int n = 0; n < 2; ++n) {
        child[n] = wadi_shape_def(WADI_SHAPE_SPHERE);
        child[n].parameter[0] = wadi_curve_constant3(n * d, 0.1, 0.2);
        child[n].parameter[1] = wadi_curve_constant(r);
    }
    carved.children = child;
    carved.child_count = 2;
    WadiShape *shape = NULL;
    WadiMesh mesh;
    WadiArena arena = { 0 };
    CHECK_OK(wadi_shape_create(&shape, &carved, NULL, &error), error);
    CHECK_OK(
        wadi_shape_surface(&mesh, shape, 0.0, (WadiBox){ { -1, -1, -1 }, { 1, 1, 1 } }, 0.01, &arena, &error),
        error);
    WadiSurfaceFacts facts;
    CHECK_OK(wadi_surface_facts(&facts, &mesh, &error), error);
    assert_true(facts.is_closed && facts.is_manifold && facts.is_oriented);
    double lens = 2.0 * pi * h * h * (3.0 * r - h) / 3.0;
    CHECK_NEAR(facts.volume, 4.0 / 3.0 * pi * r * r * r - lens, 0.005 * facts.volume);
    wadi_mesh_free(&mesh);
    wadi_shape_destroy(shape);
    wadi_arena_free(&arena);
    for (int n = 0; n < 2; ++n) {
        wadi_shape_def_free(&child[n]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(materials_become_grains_meshes_and_solids),
        cmocka_unit_test(particles_that_fly_alone_are_single_grains),
        cmocka_unit_test(sand_on_a_floor_thins_out_and_does_not_hang),
        cmocka_unit_test(strays_lie_on_the_bed),
        cmocka_unit_test(grains_belong_to_the_nearest_particle),
        cmocka_unit_test(large_grains_are_stones),
        cmocka_unit_test(single_grains_are_stones),
        cmocka_unit_test(looks_are_the_least_wetness),
        cmocka_unit_test(gravel_is_coarse),
        cmocka_unit_test(streams_of_honey_have_no_gaps),
        cmocka_unit_test(sand_that_coheres_has_edges),
        cmocka_unit_test(liquids_have_their_colour_by_scale),
        cmocka_unit_test(cuts_leave_what_is_behind),
        cmocka_unit_test(textures_need_their_attribute),
        cmocka_unit_test(moving_colliders_have_velocities),
        cmocka_unit_test(faces_in_one_plane_are_apart),
        cmocka_unit_test(nothing_stands_on_a_floor_in_space),
        cmocka_unit_test(empty_frames_have_an_empty_stage),
        cmocka_unit_test(carved_shapes_have_closed_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
