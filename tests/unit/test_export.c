/* What is exported, byte by byte, where the answer is known: a triangle and two grains. */
#include "export/export_pbrt.h"
#include "export/export_ply.h"
#include "export/export_pov.h"
#include "export/export_sky.h"
#include "io_scratch.h"

enum { TEXT_MAX = 1 << 20 };

/* A material with a mesh of one triangle and two grains, a camera on the y axis. */
typedef struct Fixture {
    WadiScene scene;
    WadiMaterial material;
    WadiFrameScene frame_scene;
    WadiFrameScenePart part;
    WadiLook looks[2];
    WadiVec3 vertices[3];
    uint32_t triangles[1][3];
    float normals[3][3];
    float spheres[2][4];
    WadiTraceColour colours[2];
    WadiExportFrame frame;
    WadiArena arena;
} Fixture;

static void fixture_init(Fixture *f, WadiLook mesh_look)
{
    static char name[] = "sea-1";
    *f = (Fixture){
        .material = { .name = name },
        .looks = { mesh_look, wadi_look_sand(wadi_grey(0.5f)) },
        .vertices = { { 0, 0, 0 }, { 1, 0, 0.25 }, { 0, 1, 0 } },
        .triangles = { { 0, 1, 2 } },
        .normals = { { 0, 0, 1 }, { 0, 0, 1 }, { 0, 0.6f, 0.8f } },
        .spheres = { { 0.5f, 0.25f, -0.125f, 0.0625f }, { 0, 0, 1, 0.0625f } },
        .colours = { { 255, 0, 0, 0 }, { 0, 0, 255, 255 } },
    };
    f->scene = (WadiScene){ .materials = &f->material, .material_count = 1 };
    f->scene.render.width = 200;
    f->scene.render.height = 100;
    f->part = (WadiFrameScenePart){ .style = WADI_STYLE_GRAINS,
                                    .mesh_look = 0,
                                    .look = 1,
                                    .mesh = { .mesh = { .vertices = f->vertices,
                                                        .vertex_count = 3,
                                                        .triangles = f->triangles,
                                                        .triangle_count = 1 },
                                              .cell = 0.5,
                                              .normal = f->normals },
                                    .grains = { .count = 2, .sphere = f->spheres, .colour = f->colours } };
    f->frame_scene = (WadiFrameScene){
        .parts = &f->part,
        .part_count = 1,
        .looks = f->looks,
        .look_count = 2,
        .ground = { .is_present = true, .height = -1.0, .look = wadi_look_plain(wadi_grey(0.5f)) }
    };
    f->frame = (WadiExportFrame){ .scene = &f->scene,
                                  .frame_scene = &f->frame_scene,
                                  .camera = { .eye = { 0, -4, 0 }, .up = { 0, 0, 1 }, .view_angle = 90.0 },
                                  .light = wadi_default_light_def(),
                                  .name = "a",
                                  .frame = 7,
                                  .time = 0.25,
                                  .fps = 24,
                                  .key = 0x12 };
    f->frame.light.surround = WADI_SURROUND_UNIFORM;
    f->frame.light.sun = wadi_vec3(0, 0, 1);
}

static const char *read_text(const char *path)
{
    static char text[TEXT_MAX];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    return text;
}

static void test_numbers_are_short_and_exact(void **state)
{
    (void)state;
    const struct {
        double value;
        int decimals;
        const char *text;
    } cases[] = { { 0.0, 5, "0" },       { -0.0, 5, "0" },
                  { 1.5, 3, "1.5" },     { -2.25, 2, "-2.25" },
                  { 0.1, 9, "0.1" },     { 1e-9, 3, "0" },
                  { -1e-9, 3, "0" },     { 100.0, 0, "100" },
                  { 0.0625, 2, "0.06" }, { 12345.678, 1, "12345.7" },
                  { 1e18, 2, "1e+18" },  { 0.005, 3, "0.005" } };
    WadiError error = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        WadiExportOut out;
        wadi_out_open(&out, scratch_path("number"), &error);
        wadi_out_number(&out, cases[i].value, cases[i].decimals);
        CHECK_OK(wadi_out_close(&out), error);
        assert_string_equal(read_text(scratch_path("number")), cases[i].text);
    }
    assert_int_equal(wadi_out_decimals(1e-4), 4);
    assert_int_equal(wadi_out_decimals(0.5), 0);
    assert_int_equal(wadi_out_decimals(1e-30), 15);
}

static void test_what_is_not_finite_leaves_no_file(void **state)
{
    (void)state;
    WadiError error = { 0 };
    WadiExportOut out;
    wadi_out_open(&out, scratch_path("nan"), &error);
    wadi_out_text(&out, "begin ");
    wadi_out_number(&out, (double)NAN, 3);
    wadi_out_text(&out, " end");
    assert_int_equal(wadi_out_close(&out), WADI_ERR_NUMERIC);
    assert_non_null(strstr(error.text, "nan is not finite"));
    assert_int_equal(scratch_count(scratch, "nan"), 0);
}

static const char pov_frame[] = "// povray +W200 +H100 +A0.2 -D THIS_FILE\n"
                                "#version 3.7;\n"
                                "global_settings { assumed_gamma 1 max_trace_level 12 adc_bailout 0.02 }\n"
                                "#include \"a.inc\"\n"
                                "camera {\n"
                                "  location <0,-4,0>\n"
                                "  direction <0,1,0>\n"
                                "  up <0,0,2>\n"
                                "  right <2,0,0>*image_width/image_height\n"
                                "}\n"
                                "// sea-1: 2 grains, 1 triangles\n"
                                "mesh2 {\n"
                                "vertex_vectors { 3,\n<0,0,0>,<1,0,0.25>,<0,1,0> }\n"
                                "normal_vectors { 3,\n<0,0,1>,<0,0,1>,<0,0.6,0.8> }\n"
                                "face_indices { 1,\n<0,1,2> }\n"
                                "inside_vector z\n"
                                "material { Wadi_0_sea_1 }\n"
                                "}\n"
                                "sphere{<0,0,1>,0.0625 Wadi_Sand(0,0,1,1)\n"
                                "}\n"
                                "sphere{<0.5,0.25,-0.125>,0.0625 Wadi_Sand(1,0,0,0)\n"
                                "}\n";

static void test_pov_frame(void **state)
{
    (void)state;
    Fixture f;
    WadiError error = { 0 };
    fixture_init(&f, wadi_look_water(1.0));
    CHECK_OK(wadi_export_pov_frame(&f.frame, scratch, scratch_path("a.pov"), "a.inc", &f.arena, &error),
             error);
    const char *text = read_text(scratch_path("a.pov"));
    assert_non_null(strstr(text, "wadi_key 0000000000000012"));
    assert_non_null(strstr(text, "a, frame 7, 0.250000 s"));
    const char *from = strstr(text, "// povray");
    assert_non_null(from);
    assert_string_equal(from, pov_frame);
    assert_true(wadi_export_is_made(scratch_path("a.pov"), 0x12));
    assert_false(wadi_export_is_made(scratch_path("a.pov"), 0x13));
    assert_false(wadi_export_is_made(scratch_path("none.pov"), 0x12));
    wadi_arena_free(&f.arena);
}

static void test_pov_joins_grains_of_one_colour(void **state)
{
    (void)state;
    Fixture f;
    WadiError error = { 0 };
    fixture_init(&f, wadi_look_water(1.0));
    f.colours[1] = (WadiTraceColour){ 250, 3, 7, 31 }; /* the same to 1/32 and 1/8 */
    CHECK_OK(wadi_export_pov_frame(&f.frame, scratch, scratch_path("u.pov"), "a.inc", &f.arena, &error),
             error);
    assert_non_null(strstr(read_text(scratch_path("u.pov")), "union {\n"
                                                             "sphere{<0.5,0.25,-0.125>,0.0625}\n"
                                                             "sphere{<0,0,1>,0.0625}\n"
                                                             " Wadi_Sand(1,0,0,0)\n"
                                                             "}\n"));
    wadi_arena_free(&f.arena);
}

/* Sand of grains that moves as a whole keeps the coordinates of its cells, which are those from its
 * particle; the triangle faces z. Another particle has other ones. */
static void test_pov_cells_move_with_the_particles(void **state)
{
    (void)state;
    char before[400] = "";
    for (int n = 0; n < 3; ++n) {
        Fixture f;
        WadiError error = { 0 };
        WadiLook sand = wadi_look_sand(wadi_grey(0.5f));
        sand.grain_size = 0.25f;
        sand.fraction[0] = 1.0f;
        fixture_init(&f, sand);
        const double moved = n == 1 ? 0.75 : 0.0;
        uint32_t owner[3][WADI_TRACE_OWNERS] = { { 0 } }, hash[1] = { n == 2 ? 9 : 5 };
        float anchor[1][3] = { { 0.25f + (float)moved, 0.0f, 0.0f } };
        for (int v = 0; v < 3; ++v) {
            f.vertices[v].x += moved;
        }
        f.part.owners =
            (WadiSandOwners){ .owner = owner, .anchor = anchor, .anchor_hash = hash, .anchor_count = 1 };
        CHECK_OK(
            wadi_export_pov_frame(&f.frame, scratch, scratch_path("cells.pov"), "a.inc", &f.arena, &error),
            error);
        const char *text = strstr(read_text(scratch_path("cells.pov")), "uv_vectors { 3,");
        assert_non_null(text);
        assert_non_null(strstr(text, "uv_indices { 1,\n<0,1,2> }"));
        double u[3], v[3];
        assert_int_equal(sscanf(text, "uv_vectors { 3, <%lf,%lf>,<%lf,%lf>,<%lf,%lf>", &u[0], &v[0], &u[1],
                                &v[1], &u[2], &v[2]),
                         6);
        CHECK_NEAR(u[1] - u[0], 1.0, 1e-9);
        CHECK_NEAR(v[2] - v[0], 1.0, 1e-9);
        CHECK_NEAR(v[1] - v[0], 0.0, 1e-9);
        char block[400];
        snprintf(block, sizeof block, "%.*s", (int)(strchr(text, '}') - text), text);
        assert_int_equal(strcmp(block, before) == 0, n == 1);
        snprintf(before, sizeof before, "%s", block);
        wadi_arena_free(&f.arena);
    }
}

static void test_pov_y_up(void **state)
{
    (void)state;
    Fixture f;
    WadiError error = { 0 };
    fixture_init(&f, wadi_look_water(1.0));
    f.frame.is_y_up = true;
    CHECK_OK(wadi_export_pov_frame(&f.frame, scratch, scratch_path("y.pov"), "a.inc", &f.arena, &error),
             error);
    const char *text = read_text(scratch_path("y.pov"));
    assert_non_null(strstr(text, "location <0,0,4>"));
    assert_non_null(strstr(text, "direction <0,0,-1>"));
    assert_non_null(strstr(text, "<0,0,0>,<1,0.25,0>,<0,0,-1> }"));
    assert_non_null(strstr(text, "sphere{<0.5,-0.125,-0.25>,0.0625 "));
    wadi_arena_free(&f.arena);
}

/* Beer's law: exp(-a d) remains after the distance d. POV-Ray's is exp(-(1 - fade_color) d /
 * fade_distance). */
static void test_pov_water_absorbs_what_it_should(void **state)
{
    (void)state;
    Fixture f;
    WadiError error = { 0 };
    WadiLook water = wadi_look_water(1.0);
    water.absorption = wadi_vec3f(4.0f, 1.0f, 0.5f);
    fixture_init(&f, water);
    CHECK_OK(wadi_export_pov_shared(&f.frame, scratch_path("a.inc"), "a.sky.hdr", &error), error);
    const char *text = read_text(scratch_path("a.inc"));
    assert_non_null(strstr(
        text, "interior { ior 1.333 fade_distance 0.25 fade_power 1001 fade_color rgb <0,0.75,0.875> }"));
    assert_non_null(strstr(text, "plane { z, -1 "));
    assert_non_null(strstr(text, "image_map { hdr \"a.sky.hdr\""));
    wadi_arena_free(&f.arena);
}

static const char pbrt_frame[] =
    "Scale -1 1 1\n"
    "LookAt 0 -4 0  0 -3 0  0 0 1\n"
    "Camera \"perspective\" \"float fov\" [90]\n"
    "Film \"rgb\" \"integer xresolution\" [200] \"integer yresolution\" [100] \"string filename\" "
    "\"a.0007.exr\"\n"
    "Sampler \"zsobol\" \"integer pixelsamples\" [128]\n"
    "Integrator \"volpath\" \"integer maxdepth\" [24]\n"
    "WorldBegin\n"
    "Include \"a.materials.pbrt\"\n"
    "AttributeBegin\n"
    "  LightSource \"infinite\" \"string filename\" \"a.sky.pfm\" \"float scale\" [1]\n"
    "AttributeEnd\n"
    "LightSource \"distant\" \"point3 from\" [0 0 1] \"point3 to\" [0 0 0] \"rgb L\" [1 1 1] \"float scale\" "
    "[1]\n"
    "AttributeBegin\n"
    "  Material \"diffuse\" \"rgb reflectance\" [0.5 0.5 0.5]\n"
    "  Shape \"bilinearmesh\" \"point3 P\" [-4000 -4004 -1  4000 -4004 -1  -4000 3996 -1  4000 3996 -1]\n"
    "AttributeEnd\n"
    "AttributeBegin\n"
    "  NamedMaterial \"sea-1\"\n"
    "  MediumInterface \"sea-1 inside\" \"\"\n"
    "  Shape \"plymesh\" \"string filename\" \"a.sea-1.0007.ply\"\n"
    "AttributeEnd\n"
    "AttributeBegin\n"
    "Material \"coateddiffuse\" \"float roughness\" [0.15] \"float eta\" [1.333] \"rgb reflectance\" [0 0 "
    "0.98]\n"
    "Transform [1 0 0 0 0 1 0 0 0 0 1 0 0 0 1 1] Shape \"sphere\" \"float radius\" [0.0625]\n"
    "AttributeEnd\n"
    "AttributeBegin\n"
    "Material \"diffuse\" \"rgb reflectance\" [0.98 0 0]\n"
    "Transform [1 0 0 0 0 1 0 0 0 0 1 0 0.5 0.25 -0.125 1] Shape \"sphere\" \"float radius\" [0.0625]\n"
    "AttributeEnd\n";

static void test_pbrt_frame(void **state)
{
    (void)state;
    Fixture f;
    WadiError error = { 0 };
    fixture_init(&f, wadi_look_water(1.0));
    CHECK_OK(wadi_export_pbrt_frame(&f.frame, scratch, scratch_path("a.pbrt"), "a.materials.pbrt",
                                    "a.sky.pfm", &f.arena, &error),
             error);
    const char *text = read_text(scratch_path("a.pbrt")), *from = strstr(text, "Scale");
    assert_non_null(from);
    assert_string_equal(from, pbrt_frame);
    wadi_arena_free(&f.arena);
}

/* A solid that slides along y by 0.5 m while the shutter is open, and turns a quarter about z: in the y-up axes
 * of the file, wadi's y is its -z. */
static void test_pbrt_solids_move_between_two_transforms(void **state)
{
    (void)state;
    Fixture f;
    WadiError error = { 0 };
    WadiAffine slide = wadi_affine_compose(wadi_vec3(0, 0.25, 0), wadi_vec3(0, 0, 0), wadi_vec3(1, 1, 1),
                                           wadi_vec3(0, 0, 0)),
               turn = wadi_affine_compose(wadi_vec3(0, -0.25, 0), wadi_vec3(0, 0, 90), wadi_vec3(1, 1, 1),
                                          wadi_vec3(0, 0, 0));
    for (int is_y_up = 0; is_y_up < 2; ++is_y_up) {
        fixture_init(&f, wadi_look_water(1.0));
        WadiFrameSceneSolid solid = {
            .mesh = f.part.mesh.mesh, .is_moving = true, .is_rigid = true, .opening = turn, .closing = slide
        };
        f.frame_scene.solids = &solid;
        f.frame_scene.solid_count = 1;
        f.frame.is_y_up = is_y_up == 1;
        CHECK_OK(wadi_export_pbrt_frame(&f.frame, scratch, scratch_path("a.pbrt"), "a.materials.pbrt",
                                        "a.sky.pfm", &f.arena, &error),
                 error);
        const char *text = strstr(read_text(scratch_path("a.pbrt")), "AttributeBegin\nActiveTransform");
        assert_non_null(text);
        /* columns of the matrices, each with a fourth number */
        const char *const expected =
            is_y_up == 0
                ? "AttributeBegin\nActiveTransform StartTime Transform [0 1 0 0 -1 0 0 0 0 0 1 0 0 -0.25 0 "
                  "1]\n"
                  "ActiveTransform EndTime Transform [1 0 0 0 0 1 0 0 0 0 1 0 0 0.25 0 1]\nNamedMaterial"
                : "AttributeBegin\nActiveTransform StartTime Transform [0 0 -1 0 0 1 0 0 1 0 0 0 0 0 0.25 "
                  "1]\n"
                  "ActiveTransform EndTime Transform [1 0 0 0 0 1 0 0 0 0 1 0 0 0 -0.25 1]\nNamedMaterial";
        assert_memory_equal(text, expected, strlen(expected));
        wadi_arena_free(&f.arena);
    }
}

/* The header, and the bytes after it. */
static const unsigned char *ply_data(const char *path, const char *header)
{
    const char *text = read_text(path), *end = strstr(text, "end_header\n"),
               *from = strstr(text, "element vertex");
    assert_non_null(from);
    assert_non_null(end);
    assert_memory_equal(from, header, strlen(header));
    assert_ptr_equal(from + strlen(header), end + strlen("end_header\n"));
    return (const unsigned char *)end + strlen("end_header\n");
}

static void test_ply_of_particles(void **state)
{
    (void)state;
    Fixture f;
    WadiError error = { 0 };
    fixture_init(&f, wadi_look_water(1.0));
    WadiVec3 position[1] = { { 1, 2, 3 } };
    float spacing[1] = { 0.5f }, velocity[3] = { 4, 5, 6 }, wetness[1] = { 0.75f }, radius[1] = { 0.25f };
    uint32_t id[1] = { 77 };
    WadiCloud cloud = {
        .count = 1,
        .position = position,
        .spacing = spacing,
        .id = id,
        .spacing_min = 0.5,
        .spacing_max = 0.5,
        .attribute_count = 3,
        .attribute = { { "velocity", 3, velocity }, { "radius", 1, radius }, { "wetness", 1, wetness } }
    };
    static const char header[] =
        "element vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
        "property float radius\nproperty uint id\nproperty uchar material\n"
        "property float vx\nproperty float vy\nproperty float vz\nproperty float wetness\n"
        "end_header\n";
    f.frame.is_y_up = true;
    CHECK_OK(wadi_export_ply_particles(&f.frame, scratch_path("p.ply"), &cloud, 2, &error), error);
    const unsigned char *data = ply_data(scratch_path("p.ply"), header);
    struct {
        float place[3], radius;
        uint32_t id;
    } begin;
    float end[4];
    memcpy(&begin, data, 20);
    memcpy(end, data + 21, 16);
    CHECK_NEAR((double)begin.place[0], 1.0, 0.0);
    CHECK_NEAR((double)begin.place[1], 3.0, 0.0);
    CHECK_NEAR((double)begin.place[2], -2.0, 0.0);
    CHECK_NEAR((double)begin.radius, 0.25, 0.0);
    assert_int_equal(begin.id, 77);
    assert_int_equal(data[20], 2);
    CHECK_NEAR((double)end[0], 4.0, 0.0);
    CHECK_NEAR((double)end[1], 6.0, 0.0);
    CHECK_NEAR((double)end[2], -5.0, 0.0);
    CHECK_NEAR((double)end[3], 0.75, 0.0);
    /* A position that float cannot hold to a thousandth of the spacing is written as double. */
    position[0].x = 1e5;
    CHECK_OK(wadi_export_ply_particles(&f.frame, scratch_path("q.ply"), &cloud, 2, &error), error);
    assert_non_null(strstr(read_text(scratch_path("q.ply")), "property double x\n"));
    position[0].x = (double)INFINITY;
    assert_int_equal(wadi_export_ply_particles(&f.frame, scratch_path("r.ply"), &cloud, 2, &error),
                     WADI_ERR_NUMERIC);
    assert_int_equal(scratch_count(scratch, "r.ply"), 0);
}

/* Every pixel of the map has the same solid angle: the mean over the square of any function is that over the
 * sphere. */
static void test_the_map_of_the_sky_has_equal_areas(void **state)
{
    (void)state;
    enum { SIDE = 200 };
    double sum = 0.0, square[3] = { 0 };
    for (int i = 0; i < SIDE * SIDE; ++i) {
        int row = i / SIDE, column = i % SIDE;
        WadiVec3 d = wadi_equal_area_direction((column + 0.5) / SIDE, (row + 0.5) / SIDE);
        CHECK_NEAR(wadi_norm(d), 1.0, 1e-12);
        sum += d.z > 0.6 ? 1.0 : 0.0;
        square[0] += d.x * d.x;
        square[1] += d.y * d.y;
        square[2] += d.z * d.z;
    }
    CHECK_NEAR(sum / (SIDE * SIDE), 0.2, 2e-3); /* of a cap: (1 - 0.6) / 2 */
    for (int c = 0; c < 3; ++c) {
        CHECK_NEAR(square[c] / (SIDE * SIDE), 1.0 / 3.0, 1e-3);
    }
    WadiVec3 middle = wadi_equal_area_direction(0.5, 0.5), right = wadi_equal_area_direction(1.0, 0.5);
    CHECK_NEAR(middle.z, 1.0, 1e-12);
    CHECK_NEAR(right.x, 1.0, 1e-12);
}

/* A sheet under an even sky of radiance 1 gets pi, and one that hangs upside down the same from below. */
static void test_the_dome_gives_the_light_of_the_sky(void **state)
{
    (void)state;
    WadiError error = { 0 };
    WadiLightDef light = wadi_default_light_def();
    WadiDomeLight dome[WADI_EXPORT_DOME];
    WadiRgb sun;
    light.surround = WADI_SURROUND_UNIFORM;
    light.sun_light = wadi_vec3f(3.0f, 2.0f, 1.0f);
    CHECK_OK(wadi_export_dome(&light, dome, &sun, &error), error);
    double up = 0.0, down = 0.0;
    for (int k = 0; k < WADI_EXPORT_DOME; ++k) {
        up += fmax(dome[k].direction.z, 0.0) * (double)dome[k].light.x;
        down += fmax(-dome[k].direction.z, 0.0) * (double)dome[k].light.x;
    }
    CHECK_NEAR(up, 3.14159265, 1e-5);
    CHECK_NEAR(down, 3.14159265, 1e-5);
    CHECK_NEAR((double)sun.x, 3.0, 1e-6);
}

/* Of three vertices just above the ground only the one that faces it is lowered, and only in water. */
static void test_water_is_lowered_into_the_ground(void **state)
{
    (void)state;
    Fixture f;
    fixture_init(&f, wadi_look_water(1.0));
    for (int v = 0; v < 3; ++v) {
        f.vertices[v] = wadi_vec3(v, 0, -0.9);
    }
    f.vertices[2].z = 0.0; /* more than a cell of 0.5 above the ground at -1 */
    f.normals[0][2] = f.normals[2][2] = -1.0f;
    wadi_export_close_gaps(&f.frame_scene);
    CHECK_NEAR(f.vertices[0].z, -1.25, 1e-12);
    CHECK_NEAR(f.vertices[1].z, -0.9, 0.0);
    CHECK_NEAR(f.vertices[2].z, 0.0, 0.0);
    fixture_init(&f, wadi_look_sand(wadi_grey(0.5f)));
    f.vertices[0].z = -0.9;
    f.normals[0][2] = -1.0f;
    wadi_export_close_gaps(&f.frame_scene);
    CHECK_NEAR(f.vertices[0].z, -0.9, 0.0);
}

static void test_a_camera_without_direction(void **state)
{
    (void)state;
    Fixture f;
    WadiError error = { 0 };
    fixture_init(&f, wadi_look_water(1.0));
    f.frame.camera.target = f.frame.camera.eye;
    assert_int_equal(
        wadi_export_pov_frame(&f.frame, scratch, scratch_path("c.pov"), "a.inc", &f.arena, &error),
        WADI_ERR_ARGUMENT);
    assert_int_equal(scratch_count(scratch, "c.pov"), 0);
    wadi_arena_free(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_short_and_exact),
        cmocka_unit_test(test_what_is_not_finite_leaves_no_file),
        cmocka_unit_test(test_pov_frame),
        cmocka_unit_test(test_pov_joins_grains_of_one_colour),
        cmocka_unit_test(test_pov_y_up),
        cmocka_unit_test(test_pov_cells_move_with_the_particles),
        cmocka_unit_test(test_pov_water_absorbs_what_it_should),
        cmocka_unit_test(test_pbrt_frame),
        cmocka_unit_test(test_pbrt_solids_move_between_two_transforms),
        cmocka_unit_test(test_ply_of_particles),
        cmocka_unit_test(test_the_map_of_the_sky_has_equal_areas),
        cmocka_unit_test(test_the_dome_gives_the_light_of_the_sky),
        cmocka_unit_test(test_water_is_lowered_into_the_ground),
        cmocka_unit_test(test_a_camera_without_direction),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
