/* What the frames of a POV-Ray scene share: looks, lights and the ground. */
#include "export/export_pov_internal.h"

#include <ctype.h>
#include <string.h>

static const double INVERSE_PI = 0.31830988618379067154;
static const double INDIRECT = 0.15; /* by eye: gaps between grains as dark as in wadi's own pictures */

/* "Wadi_NAME" with characters invalid in POV-Ray replaced; the material's number makes names unique. */
void wadi_pov_name(WadiExportOut *out, const WadiExportFrame *frame, int material, const char *what)
{
    char name[64] = "";
    const char *from = frame->scene->materials[material].name;
    for (size_t i = 0; i < 40 && from[i] != '\0'; ++i) {
        name[i] = isalnum((unsigned char)from[i]) ? from[i] : '_';
    }
    wadi_out_printf(out, "Wadi_%d_%s%s", material, name, what);
}

void wadi_pov_vector(WadiExportOut *out, const WadiExportFrame *frame, WadiVec3 a, int decimals)
{
    wadi_out_text(out, "<");
    wadi_out_vector(out, wadi_export_axes(frame, a), ',', decimals);
    wadi_out_text(out, ">");
}

void wadi_pov_rgb(WadiExportOut *out, WadiRgb c)
{
    wadi_out_text(out, "<");
    wadi_out_vector(out, wadi_vec3((double)c.x, (double)c.y, (double)c.z), ',', 5);
    wadi_out_text(out, ">");
}

void wadi_pov_sand(WadiExportOut *out, WadiRgb colour, float wetness)
{
    wadi_out_text(out, " Wadi_Sand(");
    wadi_out_vector(out, wadi_vec3((double)colour.x, (double)colour.y, (double)colour.z), ',', 5);
    wadi_out_text(out, ",");
    wadi_out_number(out, (double)wetness, 3);
    wadi_out_text(out, ")");
}

bool wadi_pov_has_grains(const WadiLook *look)
{
    return look->kind == WADI_LOOK_SAND && look->grain_size > 0.0f;
}

/* POV-Ray has Fresnel reflection for mirrors only: of a rough coat only the highlight remains. */
static void put_plain(WadiExportOut *out, const WadiLook *look)
{
    wadi_out_text(out, "material { texture { pigment { rgb ");
    wadi_pov_rgb(out, look->colour);
    wadi_out_printf(out, " } finish { ambient Wadi_Ambient diffuse 1 specular %.3g roughness %.3g } } }\n",
                    0.2 * (double)look->coat,
                    fmax(0.2 * (double)(look->coat_roughness * look->coat_roughness), 1e-3));
}

/* exp(-a d) remains after the distance d: POV-Ray's law for fade_power 1000 and more is exp(-(1 - fade_color)
 * d / fade_distance). */
static void put_water(WadiExportOut *out, const WadiLook *look)
{
    double most = (double)wadi_largestf(look->absorption);
    wadi_out_text(out, "material {\n  texture { pigment { rgbf 1 } finish { ambient 0 diffuse 0 specular 0.4 "
                       "roughness 0.002\n    reflection { 0, 1 fresnel on } conserve_energy } }\n");
    wadi_out_printf(out, "  interior { ior %.4g", (double)look->index);
    if (most > 0.0) {
        wadi_out_printf(out, " fade_distance %.6g fade_power 1001 fade_color rgb ", 1.0 / most);
        wadi_pov_rgb(out, wadi_vec3f(1.0f - look->absorption.x / (float)most,
                                     1.0f - look->absorption.y / (float)most,
                                     1.0f - look->absorption.z / (float)most));
    }
    wadi_out_text(out, " }\n}\n");
}

/* A thin sheet does not refract; its reflection is Schlick's. */
static void put_glass(WadiExportOut *out, const WadiLook *look)
{
    double r = ((double)look->index - 1.0) / ((double)look->index + 1.0);
    wadi_out_text(out, "material { texture { pigment { rgb ");
    wadi_pov_rgb(out, look->colour);
    wadi_out_printf(
        out,
        " filter 1 } finish { ambient 0 diffuse 0 conserve_energy reflection { %.3g, 1 falloff 5 } } } }\n",
        r * r);
}

/* Cells of random colours and bent normals, as large as grains: a macro of the wetness for each material.
 * M: in the coordinates of the mesh, otherwise in space. */
static void put_grain_macro(WadiExportOut *out, const WadiExportFrame *frame, int material,
                            const WadiLook *look)
{
    double contrast, size = wadi_export_grain_size(frame, look, &contrast), from = 0.0;
    wadi_out_text(out, "#macro ");
    wadi_pov_name(out, frame, material, "_Grains");
    wadi_out_printf(out,
                    "(W, M)\n  texture { pigment { #if (M) uv_mapping #end crackle solid scale %.6g "
                    "color_map {\n",
                    size);
    for (int m = 0; m < WADI_LOOK_MINERALS; ++m) {
        const double to = from + (double)look->fraction[m];
        for (int end = 0; end < 2 && look->fraction[m] > 0.0f; ++end) {
            WadiRgb c = wadi_scalef(look->mineral[m], 1.0f + look->variation * (end == 0 ? -1.0f : 1.0f));
            c = wadi_lerpf(look->colour, c, (float)contrast);
            wadi_out_printf(out, "    [%.4f rgb <Wadi_Bed(%.4f, W), Wadi_Bed(%.4f, W), Wadi_Bed(%.4f, W)>]\n",
                            end == 0 ? from : fmin(to, 1.0), (double)c.x, (double)c.y, (double)c.z);
        }
        from = to;
    }
    wadi_out_printf(out,
                    "  } }\n  normal { #if (M) uv_mapping #end crackle %.3g*(1 - 0.7*Wadi_Film(W)) form <-1, "
                    "1, 0> scale %.6g }\n"
                    "  finish { ambient Wadi_Ambient diffuse 1 specular 0.35*Wadi_Film(W) roughness 0.02 } "
                    "}\n#end\n",
                    0.9 * contrast, size);
}

static void put_look(WadiExportOut *out, const WadiLook *look, double wetness)
{
    switch (look->kind) {
    case WADI_LOOK_WATER: put_water(out, look); break;
    case WADI_LOOK_GLASS: put_glass(out, look); break;
    case WADI_LOOK_SAND:
        wadi_out_text(out, "material { ");
        wadi_pov_sand(out, look->colour, (float)wetness);
        wadi_out_text(out, " }\n");
        break;
    default: put_plain(out, look); break;
    }
}

static void put_looks(WadiExportOut *out, const WadiExportFrame *frame)
{
    const WadiFrameScene *frame_scene = frame->frame_scene;
    wadi_out_text(
        out, "\n// Sand of a linear colour and a wetness, 0 to 1: water between the grains makes "
             "them darker, the film\n"
             "// over them makes them shine.\n"
             "#macro Wadi_Film(W)\n"
             "  #local T = min(max((W - 0.4)/0.6, 0), 1);\n"
             "  (T*T*(3 - 2*T))\n"
             "#end\n"
             "#macro Wadi_Dark(C, W)\n"
             "  #local F = 0.926*(1 - exp(-2.5*min(max(W, 0), 1)));\n"
             "  #local G = (1 - min(max(C, 0), 1))/(1 + min(max(C, 0), 1));\n"
             "  #local S = (1 - G*G)*(1 - F)/(1 - F*(1 - G*G));\n"
             "  min((1 - sqrt(1 - S))/(1 + sqrt(1 - S)), 0.98)\n"
             "#end\n"
             "#macro Wadi_Wet(C, W)\n"
             "  #local D = Wadi_Dark(C, W);\n"
             "  #local V = Wadi_Film(W);\n"
             "  (D*(1 - V) + V*D*0.53/(1 - 0.47*D))\n"
             "#end\n"
             "// The same for a surface of grains: dry, half of the light leaves after one reflection.\n"
             "#macro Wadi_Bed(C, W)\n"
             "  #local D = Wadi_Dark(C, W);\n"
             "  #local V = Wadi_Film(W);\n"
             "  ((1 - V)*0.5*D/(1 - 0.5*D) + V*D*0.53/(1 - 0.47*D))\n"
             "#end\n"
             "#macro Wadi_Sand(R, G, B, W)\n"
             "  texture { pigment { rgb <Wadi_Wet(R, W), Wadi_Wet(G, W), Wadi_Wet(B, W)> }\n"
             "    finish { ambient Wadi_Ambient diffuse 1 specular 0.35*Wadi_Film(W) roughness 0.02 } }\n"
             "#end\n");
    for (int p = 0; p < frame_scene->part_count; ++p) {
        const WadiFrameScenePart *part = &frame_scene->parts[p];
        double wetness = frame->scene->materials[part->material].look.wetness;
        const WadiLook *look = &frame_scene->looks[part->mesh_look];
        if (wadi_pov_has_grains(look)) {
            put_grain_macro(out, frame, part->material, look);
        }
        wadi_out_text(out, "#declare ");
        wadi_pov_name(out, frame, part->material, "");
        wadi_out_text(out, " = ");
        if (wadi_pov_has_grains(look)) {
            wadi_out_text(out, "material { ");
            wadi_pov_name(out, frame, part->material, "_Grains");
            wadi_out_printf(out, "(%.3g, 1) }\n", wetness);
        } else {
            put_look(out, look, wetness);
        }
        if (part->style == WADI_STYLE_BALLS) {
            wadi_out_text(out, "#declare ");
            wadi_pov_name(out, frame, part->material, "_Balls");
            wadi_out_text(out, " = ");
            put_look(out, &frame_scene->looks[part->look], wetness);
        }
    }
    for (int i = 0; i < frame_scene->solid_count; ++i) {
        wadi_out_printf(out, "#declare Wadi_Solid_%d = ", i);
        put_look(out, &frame_scene->looks[frame_scene->solids[i].look], 0.0);
    }
}

static void put_light(WadiExportOut *out, const WadiExportFrame *frame, WadiVec3 direction, WadiRgb light,
                      double gain, const char *more)
{
    if (!(wadi_largestf(light) > 0.0f)) {
        return;
    }
    /* Far enough away to be directional. */
    WadiVec3 middle = frame->frame_scene->origin;
    double away = 1e3 * fmax(1.0, wadi_norm(wadi_sub(frame->camera.eye, middle)));
    wadi_out_text(out, "light_source { ");
    wadi_pov_vector(out, frame, wadi_add_scaled(middle, direction, away), 3);
    wadi_out_text(out, " rgb ");
    wadi_pov_rgb(out, wadi_scalef(light, (float)(gain * INVERSE_PI)));
    wadi_out_text(out, " parallel point_at ");
    wadi_pov_vector(out, frame, middle, 6);
    wadi_out_printf(out, "%s }\n", more);
}

/* Indirect light between grains, as a fraction of the irradiance on level ground. */
static void put_ambient(WadiExportOut *out, const WadiExportFrame *frame, const WadiDomeLight *dome,
                        WadiRgb sun, double gain)
{
    WadiVec3 to_sun = wadi_normalized_or(frame->light.sun, wadi_vec3(0, 0, 1));
    WadiRgb level = wadi_scalef(sun, (float)fmax(to_sun.z, 0.0));
    for (int k = 0; k < WADI_EXPORT_DOME; ++k) {
        level = wadi_add_scaledf(level, dome[k].light, (float)fmax(dome[k].direction.z, 0.0));
    }
    wadi_out_text(out, "#declare Wadi_Ambient = rgb ");
    wadi_pov_rgb(out, wadi_scalef(level, (float)(INDIRECT * gain * INVERSE_PI)));
    wadi_out_text(out, ";\n");
}

static WadiStatus put_lights(WadiExportOut *out, const WadiExportFrame *frame, const char *sky,
                             WadiError *error)
{
    WadiDomeLight dome[WADI_EXPORT_DOME];
    WadiRgb sun;
    double gain = exp2(frame->exposure);
    WADI_TRY(wadi_export_dome(&frame->light, dome, &sun, error));
    put_ambient(out, frame, dome, sun, gain);
    wadi_out_text(out, "\n// The sun, then the sky as lights that cast shadows.\n");
    put_light(out, frame, wadi_normalized_or(frame->light.sun, wadi_vec3(0, 0, 1)), sun, gain, "");
    for (int k = 0; k < WADI_EXPORT_DOME; ++k) {
        bool is_below = dome[k].direction.z < 0.0;
        put_light(out, frame, dome[k].direction, dome[k].light, is_below ? 0.5 * gain : gain,
                  is_below ? " shadowless" : "");
    }
    wadi_out_printf(out,
                    "sky_sphere { pigment { image_map { hdr \"%.300s\" map_type 1 interpolate 2 } %s } }\n",
                    sky, frame->is_y_up ? "rotate 180*y" : "rotate 90*x rotate 180*z");
    return WADI_OK;
}

/* A pigment with joints of slabs across an axis, and another one between them. */
static void put_joints(WadiExportOut *out, WadiRgb joint, const char *name, char axis, const char *between)
{
    wadi_out_printf(out, "#declare %s = pigment { gradient %c pigment_map {", name, axis);
    for (int n = 0; n < 2; ++n) {
        wadi_out_printf(out, n == 0 ? " [0 rgb " : " [0.993 %s] [0.993 rgb ", between);
        wadi_pov_rgb(out, joint);
        wadi_out_printf(out, "] [%s rgb ", n == 0 ? "0.007" : "1");
        wadi_pov_rgb(out, joint);
        wadi_out_printf(out, n == 0 ? "] [0.007 %s]" : "]", between);
    }
    wadi_out_text(out, " } }\n");
}

/* The slabs of render/image/slabs.c, each of a brightness of its own, without blotches. */
static void put_slabs(WadiExportOut *out, const WadiLook *look, bool is_y_up)
{
    wadi_out_text(out, "#declare Wadi_Slab = pigment { cells color_map { [0 rgb 0.93*");
    wadi_pov_rgb(out, look->colour);
    wadi_out_text(out, "] [1 rgb 1.07*");
    wadi_pov_rgb(out, look->colour);
    wadi_out_text(out, "] } }\n");
    put_joints(out, look->second_colour, "Wadi_Row", is_y_up ? 'z' : 'y', "Wadi_Slab");
    put_joints(out, look->second_colour, "Wadi_Slabs", 'x', "Wadi_Row");
}

static void put_ground(WadiExportOut *out, const WadiExportFrame *frame)
{
    const WadiTraceGround *ground = &frame->frame_scene->ground;
    if (!ground->is_present) {
        return;
    }
    char up = frame->is_y_up ? 'y' : 'z';
    if (ground->look.texture == WADI_LOOK_TEXTURE_SLABS) {
        put_slabs(out, &ground->look, frame->is_y_up);
    }
    wadi_out_printf(out, "plane { %c, ", up);
    wadi_out_number(out, ground->height, 9);
    if (wadi_pov_has_grains(&ground->look)) { /* the first sand of the scene */
        for (int p = 0; p < frame->frame_scene->part_count; ++p) {
            const WadiFrameScenePart *part = &frame->frame_scene->parts[p];
            if (wadi_pov_has_grains(&frame->frame_scene->looks[part->mesh_look])) {
                wadi_out_text(out, " ");
                wadi_pov_name(out, frame, part->material, "_Grains");
                wadi_out_text(out, "(0, 0) }\n");
                return;
            }
        }
    }
    wadi_out_text(out, " texture { pigment { ");
    if (ground->look.texture == WADI_LOOK_TEXTURE_CHECKER) {
        /* The plane cuts the checker's cubes in the middle. */
        wadi_out_text(out, "checker rgb ");
        wadi_pov_rgb(out, ground->look.colour);
        wadi_out_text(out, " rgb ");
        wadi_pov_rgb(out, ground->look.second_colour);
        wadi_out_printf(out, " scale %.9g translate %.9g*%c", (double)ground->look.texture_size,
                        ground->height + 0.5 * (double)ground->look.texture_size, up);
    } else if (ground->look.texture == WADI_LOOK_TEXTURE_SLABS) {
        /* As with the checker, the plane cuts cubes in the middle. */
        wadi_out_printf(out, "Wadi_Slabs scale %.9g translate %.9g*%c", (double)ground->look.texture_size,
                        ground->height + 0.5 * (double)ground->look.texture_size, up);
    } else {
        wadi_out_text(out, "rgb ");
        wadi_pov_rgb(out, ground->look.colour);
    }
    wadi_out_text(out, " } finish { ambient Wadi_Ambient diffuse 1 } } }\n");
}

WadiStatus wadi_export_pov_shared(const WadiExportFrame *frame, const char *path, const char *sky,
                                  WadiError *error)
{
    WadiExportOut out;
    wadi_out_open(&out, path, error);
    wadi_export_shared_comments(&out, frame, "// ", "what all frames share");
    WadiStatus lights = put_lights(&out, frame, sky, error);
    out.status = out.status == WADI_OK ? lights : out.status;
    put_looks(&out, frame);
    put_ground(&out, frame);
    wadi_export_end(&out, frame, "// ");
    return wadi_out_close(&out);
}
