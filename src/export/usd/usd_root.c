/* The root layer of a stage as text: clips, lights, materials and what they are bound to. */
#include <stdio.h>
#include <string.h>

#include "export/usd/export_usd.h"

static void put_rgb(WadiExportOut *out, const char *name, WadiRgb c)
{
    wadi_out_printf(out, "color3f %s = (%.6g, %.6g, %.6g)\n", name, (double)c.x, (double)c.y, (double)c.z);
}

/* What is left of white light on its way through the domain's shortest side. */
static WadiRgb transmitted(const WadiExportFrame *frame, const WadiLook *look)
{
    const WadiVec3 size = wadi_box_size(frame->scene->domain);
    const float depth = frame->scene->has_domain ? (float)fmin(size.x, fmin(size.y, size.z)) : 1.0f;
    return (WadiRgb){ expf(-depth * look->absorption.x), expf(-depth * look->absorption.y),
                      expf(-depth * look->absorption.z) };
}

WadiRgb wadi_usd_part_colour(const WadiExportFrame *frame, const WadiFrameScenePart *part, float wetness)
{
    const WadiLook *look = &frame->frame_scene->looks[part->mesh_look];
    switch (look->kind) {
    case WADI_LOOK_SAND: return wadi_export_wet_colour(wadi_export_bed_colour(look, wetness), wetness);
    case WADI_LOOK_WATER: return transmitted(frame, look);
    default: return look->colour;
    }
}

bool wadi_usd_has_volume(const WadiUsdRoot *root, const char *material, int frame)
{
    char path[WADI_PATH_SIZE];
    snprintf(path, sizeof path, "%.3000s/%.100s/%.300s.%04d.vdb", root->folder, root->volumes, material,
             frame);
    return root->volumes != NULL && wadi_file_exists(path);
}

static void put_head(WadiExportOut *out, const WadiExportFrame *frame, const WadiUsdRoot *root)
{
    char still[WADI_EXPORT_FILE_SIZE], manifest[WADI_EXPORT_FILE_SIZE];
    wadi_usd_file(frame, "static", still);
    wadi_usd_file(frame, "manifest", manifest);
    wadi_out_text(out, "#usda 1.0\n");
    wadi_export_shared_comments(out, frame, "# ", "a USD stage");
    wadi_out_text(out, "(\n    defaultPrim = \"wadi\"\n    metersPerUnit = 1\n");
    wadi_out_printf(out, "    upAxis = \"%c\"\n    timeCodesPerSecond = %.17g\n    framesPerSecond = %.17g\n",
                    frame->is_y_up ? 'Y' : 'Z', frame->fps, frame->fps);
    wadi_out_printf(out, "    startTimeCode = %d\n    endTimeCode = %d\n", root->first_frame,
                    root->last_frame);
    wadi_out_text(out, "    subLayers = [\n");
    if (root->is_one_file) {
        wadi_out_printf(out, "        @./%.200s.usdc@,\n", frame->name);
    } else {
        wadi_out_printf(out, "        @./%s@,\n", manifest);
    }
    wadi_out_printf(out, "        @./%s@\n    ]\n)\n\ndef Xform \"wadi\"", still);
    if (!root->is_one_file) {
        wadi_out_text(out, " (\n    clips = {\n        dictionary default = {\n");
        wadi_out_printf(out, "            asset manifestAssetPath = @./%s@\n", manifest);
        wadi_out_printf(out, "            string primPath = \"/wadi\"\n");
        wadi_out_printf(out, "            string templateAssetPath = \"./%.200s.####.usdc\"\n", frame->name);
        wadi_out_printf(out,
                        "            double templateStartTime = %d\n            double templateEndTime = %d\n"
                        "            double templateStride = 1\n        }\n    }\n)",
                        root->first_frame, root->last_frame);
    }
    wadi_out_text(out, "\n{\n");
}

/* Materials of each kind have a scope of their own, so that their names are those of the scene. */
static void put_binding(WadiExportOut *out, const char *indent, const char *prim, const char *scope,
                        const char *material)
{
    wadi_out_printf(out, "%sover \"%s\" (\n%s    prepend apiSchemas = [\"MaterialBindingAPI\"]\n%s)\n%s{\n",
                    indent, prim, indent, indent, indent);
    wadi_out_printf(out, "%s    rel material:binding = </wadi/%s/%s>\n%s}\n", indent, scope, material,
                    indent);
}

static void put_bindings(WadiExportOut *out, const WadiExportFrame *frame)
{
    const WadiFrameScene *scene = frame->frame_scene;
    char name[WADI_USD_NAME_SIZE];
    wadi_out_text(out, "    over \"geo\"\n    {\n");
    for (int p = 0; p < scene->part_count; ++p) {
        wadi_usd_material_name(frame->scene, scene->parts[p].material, name);
        wadi_out_printf(out, "        over \"%s\"\n        {\n", name);
        put_binding(out, "            ", "surface", "materials", name);
        put_binding(out, "            ", "grains", "point_materials", "points");
        put_binding(out, "            ", "particles", "point_materials", "points");
        wadi_out_text(out, "        }\n");
    }
    wadi_out_text(out, "    }\n");
    put_binding(out, "    ", "foam", "point_materials", "foam");
    if (scene->ground.is_present) {
        put_binding(out, "    ", "ground", "point_materials", "points");
    }
    wadi_out_text(out, "    over \"colliders\"\n    {\n");
    for (int s = 0; s < scene->solid_count; ++s) {
        wadi_usd_solid_name(scene, s, name);
        put_binding(out, "        ", name, "collider_materials", name);
    }
    wadi_out_text(out, "    }\n");
}

typedef struct Surface {
    const char *scope, *name;
    bool has_point_colours;
    WadiRgb colour;
    float roughness, opacity, index;
} Surface;

static void put_material(WadiExportOut *out, const Surface *surface)
{
    const char *scope = surface->scope, *name = surface->name;
    wadi_out_printf(out, "        def Material \"%s\"\n        {\n", name);
    wadi_out_printf(out, "            token outputs:surface.connect = </wadi/%s/%s/shader.outputs:surface>\n",
                    scope, name);
    wadi_out_text(out, "            def Shader \"shader\"\n            {\n"
                       "                uniform token info:id = \"UsdPreviewSurface\"\n                ");
    if (surface->has_point_colours) {
        wadi_out_printf(out, "color3f inputs:diffuseColor.connect = </wadi/%s/%s/colour.outputs:result>\n",
                        scope, name);
    } else {
        put_rgb(out, "inputs:diffuseColor", surface->colour);
    }
    wadi_out_printf(
        out,
        "                float inputs:roughness = %.6g\n                float inputs:opacity = %.6g\n"
        "                float inputs:ior = %.6g\n                token outputs:surface\n"
        "            }\n",
        (double)surface->roughness, (double)surface->opacity, (double)surface->index);
    if (surface->has_point_colours) {
        wadi_out_text(out, "            def Shader \"colour\"\n            {\n"
                           "                uniform token info:id = \"UsdPrimvarReader_float3\"\n"
                           "                string inputs:varname = \"displayColor\"\n"
                           "                float3 outputs:result\n            }\n");
    }
    wadi_out_text(out, "        }\n");
}

/* Preview surfaces know neither absorption nor a film of water: a liquid is as opaque as a layer of it as
 * thick as the domain's shortest side. */
static Surface surface_of(const WadiExportFrame *frame, const WadiLook *look, const char *scope,
                          const char *name)
{
    Surface s = { .scope = scope,
                  .name = name,
                  .has_point_colours = true,
                  .roughness = 1.0f,
                  .opacity = 1.0f,
                  .index = 1.5f };
    switch (look->kind) {
    case WADI_LOOK_WATER:
        s.has_point_colours = false;
        s.colour = transmitted(frame, look);
        s.opacity = 1.0f - wadi_luminance(s.colour);
        s.roughness = 0.0f;
        s.index = look->index;
        break;
    case WADI_LOOK_GLASS:
        s.has_point_colours = false;
        s.colour = look->colour;
        s.opacity = 1.0f - wadi_luminance(look->colour);
        s.roughness = 0.0f;
        s.index = look->index;
        break;
    case WADI_LOOK_PLAIN: s.roughness = look->coat > 0.0f ? look->coat_roughness : 1.0f; break;
    default: break;
    }
    return s;
}

static void put_materials(WadiExportOut *out, const WadiExportFrame *frame)
{
    const WadiFrameScene *scene = frame->frame_scene;
    char name[WADI_USD_NAME_SIZE];
    wadi_out_text(out, "    def Scope \"materials\"\n    {\n");
    for (int p = 0; p < scene->part_count; ++p) {
        wadi_usd_material_name(frame->scene, scene->parts[p].material, name);
        const Surface s = surface_of(frame, &scene->looks[scene->parts[p].mesh_look], "materials", name);
        put_material(out, &s);
    }
    wadi_out_text(out, "    }\n    def Scope \"collider_materials\"\n    {\n");
    for (int i = 0; i < scene->solid_count; ++i) {
        wadi_usd_solid_name(scene, i, name);
        const Surface s = surface_of(frame, &scene->looks[scene->solids[i].look], "collider_materials", name);
        put_material(out, &s);
    }
    wadi_out_text(out, "    }\n    def Scope \"point_materials\"\n    {\n");
    put_material(out, &(Surface){ "point_materials", "points", true, wadi_grey(1.0f), 1.0f, 1.0f, 1.5f });
    put_material(out, &(Surface){ "point_materials", "foam", false, wadi_grey(0.9f), 1.0f, 1.0f, 1.33f });
    wadi_out_text(out, "    }\n");
}

/* A matrix that turns the axes x, y and z of a light to three directions. */
static void put_turn(WadiExportOut *out, const WadiExportFrame *frame, const WadiVec3 to[3])
{
    wadi_out_text(out, "            matrix4d xformOp:transform = (");
    for (int r = 0; r < 3; ++r) {
        const WadiVec3 a = wadi_export_axes(frame, to[r]);
        wadi_out_printf(out, "(%.9g, %.9g, %.9g, 0), ", a.x, a.y, a.z);
    }
    wadi_out_text(out, "(0, 0, 0, 1))\n            uniform token[] xformOpOrder = [\"xformOp:transform\"]\n");
}

static WadiStatus put_lights(WadiExportOut *out, const WadiExportFrame *frame, const char *sky,
                             WadiError *error)
{
    WadiDomeLight dome[WADI_EXPORT_DOME];
    WadiRgb sun;
    WADI_TRY(wadi_export_dome(&frame->light, dome, &sun, error));
    const WadiVec3 up = wadi_vec3(0, 0, 1), x = wadi_vec3(1, 0, 0), y = wadi_vec3(0, 1, 0);
    wadi_out_text(out, "    def Scope \"lights\"\n    {\n        def DomeLight \"sky\"\n        {\n");
    wadi_out_printf(out,
                    "            asset inputs:texture:file = @./%.300s@\n"
                    "            token inputs:texture:format = \"latlong\"\n"
                    "            float inputs:exposure = %.6g\n",
                    sky, frame->exposure);
    put_turn(out, frame, (const WadiVec3[3]){ y, up, x });
    wadi_out_text(out, "        }\n");
    if (wadi_largestf(sun) > 0.0f) {
        /* It shines along its -z. */
        const WadiVec3 to = wadi_normalized_or(frame->light.sun, up);
        const WadiVec3 side = wadi_normalized_or(wadi_cross(up, to), x);
        wadi_out_text(out, "        def DistantLight \"sun\"\n        {\n            ");
        put_rgb(out, "inputs:color", sun);
        wadi_out_printf(
            out,
            "            float inputs:angle = %.6g\n            float inputs:intensity = 1\n"
            "            bool inputs:normalize = true\n            float inputs:exposure = %.6g\n",
            frame->light.sun_angle, frame->exposure);
        put_turn(out, frame, (const WadiVec3[3]){ side, wadi_cross(to, side), to });
        wadi_out_text(out, "        }\n");
    }
    wadi_out_text(out, "    }\n");
    return WADI_OK;
}

/* The level sets of `wadi export --to vdb` that exist, as volumes for those who want them: guides. */
static void put_volumes(WadiExportOut *out, const WadiExportFrame *frame, const WadiUsdRoot *root)
{
    for (int m = 0; m < frame->scene->material_count; ++m) {
        const char *material = frame->scene->materials[m].name;
        char name[WADI_USD_NAME_SIZE];
        bool has_any = false;
        wadi_usd_material_name(frame->scene, m, name);
        for (int f = root->first_frame; f <= root->last_frame; ++f) {
            if (!wadi_usd_has_volume(root, material, f)) {
                continue;
            }
            if (!has_any) {
                wadi_out_printf(out,
                                "    def Volume \"volume_%s\"\n    {\n        token purpose = \"guide\"\n"
                                "        rel field:surface = </wadi/volume_%s/field>\n",
                                name, name);
                wadi_out_text(out,
                              "        def OpenVDBAsset \"field\"\n        {\n            token fieldName = "
                              "\"surface\"\n            token fieldClass = \"levelSet\"\n"
                              "            asset filePath.timeSamples = {\n");
                has_any = true;
            }
            wadi_out_printf(out, "                %d: @%.100s/%.300s.%04d.vdb@,\n", f, root->volumes,
                            material, f);
        }
        if (has_any) {
            wadi_out_text(out, "            }\n        }\n    }\n");
        }
    }
}

WadiStatus wadi_usd_write_root(const WadiExportFrame *frame, const WadiUsdRoot *root, const char *path,
                               WadiError *error)
{
    WadiExportOut out;
    wadi_out_open(&out, path, error);
    put_head(&out, frame, root);
    put_bindings(&out, frame);
    put_volumes(&out, frame, root);
    const WadiStatus status = put_lights(&out, frame, root->sky, error);
    put_materials(&out, frame);
    wadi_out_text(&out, "}\n");
    out.status = out.status == WADI_OK ? status : out.status;
    return wadi_out_close(&out);
}
