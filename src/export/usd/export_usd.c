#include "export/usd/export_usd.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "wadi/base.h"

/* State of writing one frame into a layer. */
typedef struct Layer {
    WadiCrate *crate;
    const WadiExportFrame *frame;
    WadiVec3 origin; /* m, taken from all coordinates */
    WadiArena *arena;
    WadiError *error;
} Layer;

void wadi_usd_open(WadiCrate *crate, const WadiExportFrame *frame, const char *path, const char *what,
                   int first, int last, WadiError *error)
{
    char note[600];
    snprintf(note, sizeof note, "\nwadi %s: %.200s, %.200s\nwadi_key %016" PRIx64 "\n", wadi_version(),
             frame->name, what, frame->key);
    wadi_crate_open(crate, path, note, error);
    wadi_crate_set(crate, 0, "defaultPrim", wadi_crate_token(crate, "wadi"));
    wadi_crate_set(crate, 0, "upAxis", wadi_crate_token(crate, frame->is_y_up ? "Y" : "Z"));
    wadi_crate_set(crate, 0, "metersPerUnit", wadi_crate_double(crate, 1.0));
    wadi_crate_set(crate, 0, "timeCodesPerSecond", wadi_crate_double(crate, frame->fps));
    wadi_crate_set(crate, 0, "framesPerSecond", wadi_crate_double(crate, frame->fps));
    wadi_crate_set(crate, 0, "startTimeCode", wadi_crate_double(crate, first));
    wadi_crate_set(crate, 0, "endTimeCode", wadi_crate_double(crate, last));
}

/* Declares an attribute and begins its value at the layer's time. False: values are not written. */
static bool begin_value(const Layer *layer, WadiCrateNode prim, const char *name, const char *type_name,
                        WadiCrateType type, size_t count)
{
    const WadiCrateNode attribute = wadi_crate_attribute(layer->crate, prim, name, type_name);
    if (!layer->crate->has_values) {
        return false;
    }
    wadi_crate_sample(layer->crate, attribute, layer->frame->frame,
                      wadi_crate_array(layer->crate, type, count));
    return true;
}

static void put_vector(const Layer *layer, WadiVec3 a)
{
    WadiExportOut *out = &layer->crate->out;
    if (!wadi_is_finite(a)) {
        wadi_out_number(out, NAN, 0); /* fails with a message */
        return;
    }
    const WadiVec3f rounded = wadi_to_vec3f(wadi_export_axes(layer->frame, a));
    wadi_out_bytes(out, &rounded, sizeof rounded);
}

static void put_points(const Layer *layer, WadiCrateNode prim, const WadiVec3 *position, size_t count)
{
    if (begin_value(layer, prim, "points", "point3f[]", WADI_CRATE_FLOAT3, count)) {
        for (size_t i = 0; i < count; ++i) {
            put_vector(layer, wadi_sub(position[i], layer->origin));
        }
    }
}

/* Vectors that turn with the axes; a NULL array is empty. */
static void put_vectors(const Layer *layer, WadiCrateNode prim, const char *name, const char *type_name,
                        const float (*vector)[3], size_t count)
{
    if (begin_value(layer, prim, name, type_name, WADI_CRATE_FLOAT3, vector != NULL ? count : 0)) {
        for (size_t i = 0; vector != NULL && i < count; ++i) {
            put_vector(layer, wadi_vec3((double)vector[i][0], (double)vector[i][1], (double)vector[i][2]));
        }
    }
}

/* The box about balls; of none, an empty one at the origin. */
static void put_extent(const Layer *layer, WadiCrateNode prim, const WadiVec3 *position, size_t count,
                       double radius)
{
    WadiBox box = wadi_box_empty();
    for (size_t i = 0; i < count; ++i) {
        box = wadi_box_add_point(box, wadi_export_axes(layer->frame, wadi_sub(position[i], layer->origin)));
    }
    if (begin_value(layer, prim, "extent", "float3[]", WADI_CRATE_FLOAT3, 2)) {
        const WadiVec3 r = wadi_vec3(radius, radius, radius);
        const WadiVec3f corner[2] = {
            wadi_to_vec3f(count > 0 ? wadi_sub(box.min, r) : wadi_vec3(0, 0, 0)),
            wadi_to_vec3f(count > 0 ? wadi_add(box.max, r) : wadi_vec3(0, 0, 0)),
        };
        wadi_out_bytes(&layer->crate->out, corner, sizeof corner);
    }
}

/* A value per point (interpolation "vertex") or one for all ("constant"). A NULL array is empty. */
static void put_primvar(const Layer *layer, WadiCrateNode prim, const char *name, int components,
                        const float *values, size_t count)
{
    const bool is_colour = strcmp(name, "displayColor") == 0;
    char full[WADI_STATE_NAME_SIZE + 16];
    snprintf(full, sizeof full, "primvars:%s", name);
    for (char *c = full; *c != '\0'; ++c) {
        *c = *c == '.' || *c == '-' ? '_' : *c;
    }
    const char *type_name = is_colour ? "color3f[]" : components == 1 ? "float[]" : "float3[]";
    const size_t written = values != NULL ? count : 0;
    if (begin_value(layer, prim, full, type_name, components == 1 ? WADI_CRATE_FLOAT : WADI_CRATE_FLOAT3,
                    written)) {
        wadi_out_bytes(&layer->crate->out, values, written * (size_t)components * sizeof *values);
    }
    wadi_crate_set(layer->crate, wadi_crate_attribute(layer->crate, prim, full, type_name), "interpolation",
                   wadi_crate_token(layer->crate, "vertex"));
}

/* Attributes with a place of their own in USD, or known from elsewhere. */
static bool has_own_place(const char *name)
{
    static const char *const names[] = { "velocity", "radius", "id", "material", "colour" };
    for (size_t n = 0; n < sizeof names / sizeof *names; ++n) {
        if (strcmp(names[n], name) == 0) {
            return true;
        }
    }
    return false;
}

static float *find_values(const WadiCloud *cloud, const char *name, int components)
{
    for (int a = 0; a < cloud->attribute_count; ++a) {
        if (strcmp(cloud->attribute[a].name, name) == 0 && cloud->attribute[a].components == components) {
            return cloud->attribute[a].values;
        }
    }
    return NULL;
}

/* Particles as Points: their widths are the edges of the cubes they fill. */
static void put_cloud(const Layer *layer, WadiCrateNode parent, const char *name, const WadiCloud *cloud,
                      bool is_guide)
{
    WadiCrate *crate = layer->crate;
    const size_t count = (size_t)cloud->count;
    const WadiCrateNode prim = wadi_crate_prim(crate, parent, name, "Points");
    if (is_guide) {
        const WadiCrateNode purpose = wadi_crate_attribute(crate, prim, "purpose", "token");
        wadi_crate_set(crate, purpose, "variability", wadi_crate_uniform());
        wadi_crate_set(crate, purpose, "default", wadi_crate_token(crate, "guide"));
    }
    put_points(layer, prim, cloud->position, count);
    put_extent(layer, prim, cloud->position, count, 0.5 * cloud->spacing_max);
    if (begin_value(layer, prim, "widths", "float[]", WADI_CRATE_FLOAT, count)) {
        wadi_out_bytes(&crate->out, cloud->spacing, count * sizeof *cloud->spacing);
    }
    if (begin_value(layer, prim, "ids", "int64[]", WADI_CRATE_INT64, count)) {
        for (size_t i = 0; i < count; ++i) {
            const int64_t id = cloud->id[i];
            wadi_out_bytes(&crate->out, &id, sizeof id);
        }
    }
    put_vectors(layer, prim, "velocities", "vector3f[]", (const float(*)[3])find_values(cloud, "velocity", 3),
                count);
    const float *colour = find_values(cloud, "colour", 3);
    if (colour != NULL) {
        put_primvar(layer, prim, "displayColor", 3, colour, count);
    }
    for (int a = 0; a < cloud->attribute_count; ++a) {
        const WadiCloudAttribute *attribute = &cloud->attribute[a];
        if (!has_own_place(attribute->name)) {
            put_primvar(layer, prim, attribute->name, attribute->components, attribute->values, count);
        }
    }
}

static void put_triangles(const Layer *layer, WadiCrateNode prim, const WadiMesh *mesh)
{
    WadiCrate *crate = layer->crate;
    const WadiCrateNode scheme = wadi_crate_attribute(crate, prim, "subdivisionScheme", "token");
    wadi_crate_set(crate, scheme, "variability", wadi_crate_uniform());
    wadi_crate_set(crate, scheme, "default", wadi_crate_token(crate, "none"));
    if (begin_value(layer, prim, "faceVertexCounts", "int[]", WADI_CRATE_INT, mesh->triangle_count)) {
        const int32_t corners = 3;
        for (size_t t = 0; t < mesh->triangle_count; ++t) {
            wadi_out_bytes(&crate->out, &corners, sizeof corners);
        }
    }
    if (begin_value(layer, prim, "faceVertexIndices", "int[]", WADI_CRATE_INT, 3 * mesh->triangle_count)) {
        wadi_out_bytes(&crate->out, mesh->triangles, mesh->triangle_count * sizeof *mesh->triangles);
    }
    put_points(layer, prim, mesh->vertices, mesh->vertex_count);
    put_extent(layer, prim, mesh->vertices, mesh->vertex_count, 0.0);
}

/* Colours of the vertices as other programs draw them: of sand, those of a bed of its grains, darker where it
 * is wet. In the arena. */
static WadiStatus part_colours(const Layer *layer, const WadiFrameScenePart *part, WadiRgb **colours)
{
    const WadiSurfaceMesh *surface = &part->mesh;
    const size_t count = surface->mesh.vertex_count;
    const float *wetness = wadi_surface_mesh_attribute(surface, "wetness", 1);
    const float dry = (float)layer->frame->scene->materials[part->material].look.wetness;
    WADI_TRY(WADI_ARENA_NEW(layer->arena, colours, count, "colours of a mesh", layer->error));
    for (size_t v = 0; v < count; ++v) {
        (*colours)[v] =
            part->mesh_colour != NULL
                ? part->mesh_colour[v]
                : wadi_usd_part_colour(layer->frame, part, wetness != NULL ? fmaxf(wetness[v], dry) : dry);
    }
    return WADI_OK;
}

/* The mesh has the attributes of the particles it was made from; one without vertices has them empty. */
static WadiStatus put_surface(const Layer *layer, WadiCrateNode parent, const WadiFrameScenePart *part,
                              const WadiCloud *cloud)
{
    const WadiSurfaceMesh *surface = &part->mesh;
    const size_t count = surface->mesh.vertex_count;
    const WadiCrateNode prim = wadi_crate_prim(layer->crate, parent, "surface", "Mesh");
    WadiRgb *colours = NULL;
    WADI_TRY(part_colours(layer, part, &colours));
    put_triangles(layer, prim, &surface->mesh);
    put_vectors(layer, prim, "normals", "normal3f[]", (const float(*)[3])surface->normal, count);
    wadi_crate_set(layer->crate, wadi_crate_attribute(layer->crate, prim, "normals", "normal3f[]"),
                   "interpolation", wadi_crate_token(layer->crate, "vertex"));
    put_vectors(layer, prim, "velocities", "vector3f[]",
                (const float(*)[3])wadi_surface_mesh_attribute(surface, "velocity", 3), count);
    put_primvar(layer, prim, "displayColor", 3, (const float *)colours, count);
    for (int a = 0; a < cloud->attribute_count; ++a) {
        const WadiCloudAttribute *attribute = &cloud->attribute[a];
        if (!has_own_place(attribute->name)) {
            put_primvar(layer, prim, attribute->name, attribute->components,
                        wadi_surface_mesh_attribute(surface, attribute->name, attribute->components), count);
        }
    }
    return WADI_OK;
}

/* Water between the grains of sand darkens them. */
static void wet_grains(WadiCloud *grains)
{
    float *colour = find_values(grains, "colour", 3), *wetness = find_values(grains, "wetness", 1);
    for (int32_t i = 0; i < grains->count; ++i) {
        const WadiRgb dry = { colour[3 * i], colour[3 * i + 1], colour[3 * i + 2] };
        const WadiRgb wet = wadi_export_wet_colour(dry, wetness[i]);
        memcpy(colour + 3 * i, &wet, sizeof wet);
    }
}

static WadiStatus put_part(const Layer *layer, WadiCrateNode geo, const WadiFrameScenePart *part,
                           const WadiState *state)
{
    char name[WADI_USD_NAME_SIZE];
    wadi_usd_material_name(layer->frame->scene, part->material, name);
    const WadiCrateNode prim = wadi_crate_prim(layer->crate, geo, name, "Xform");
    WadiCloud cloud, grains;
    WADI_TRY(wadi_cloud_from_frame(&cloud, state, part->material, 0.0, layer->error));
    const WadiArenaMark mark = wadi_arena_mark(layer->arena);
    WadiStatus status = put_surface(layer, prim, part, &cloud);
    if (status == WADI_OK) {
        status = wadi_export_grain_cloud(layer->frame, &part->grains, &grains, layer->arena, layer->error);
    }
    const bool is_sand = layer->frame->frame_scene->looks[part->look].kind == WADI_LOOK_SAND;
    if (status == WADI_OK && is_sand) {
        wet_grains(&grains);
    }
    if (status == WADI_OK) {
        put_cloud(layer, prim, "grains", &grains, false);
        put_cloud(layer, prim, "particles", &cloud, true);
    }
    wadi_arena_release(layer->arena, mark);
    wadi_cloud_free(&cloud);
    return status;
}

/* Foam, spray, bubbles and dust, with their kind and life. */
static WadiStatus put_foam(const Layer *layer, WadiCrateNode world, const WadiState *secondary)
{
    static const char *const names[] = { "kind", "life" };
    WadiCloud cloud = { 0 };
    if (secondary->count > 0) {
        WADI_TRY(wadi_cloud_from_frame(&cloud, secondary, -1, 0.0, layer->error));
    } else {
        for (int a = 0; a < 2; ++a) {
            snprintf(cloud.attribute[a].name, sizeof cloud.attribute[a].name, "%s", names[a]);
            cloud.attribute[a].components = 1;
        }
        cloud.attribute_count = 2;
    }
    put_cloud(layer, world, "foam", &cloud, false);
    if (secondary->count > 0) {
        wadi_cloud_free(&cloud);
    }
    return WADI_OK;
}

static WadiStatus put_solid(const Layer *layer, WadiCrateNode colliders, int index)
{
    const WadiFrameSceneSolid *solid = &layer->frame->frame_scene->solids[index];
    const WadiLook *look = &layer->frame->frame_scene->looks[solid->look];
    char name[WADI_USD_NAME_SIZE];
    wadi_usd_solid_name(layer->frame->frame_scene, index, name);
    const WadiCrateNode prim = wadi_crate_prim(layer->crate, colliders, name, "Mesh");
    const size_t count = solid->mesh.vertex_count;
    WadiRgb *colours = NULL;
    WADI_TRY(
        wadi_export_solid_colours(layer->frame->frame_scene, solid, &colours, layer->arena, layer->error));
    if (colours == NULL) {
        WADI_TRY(WADI_ARENA_NEW(layer->arena, &colours, count, "colours of a solid", layer->error));
        for (size_t v = 0; v < count; ++v) {
            colours[v] = look->colour;
        }
    }
    put_triangles(layer, prim, &solid->mesh);
    put_primvar(layer, prim, "displayColor", 3, (const float *)colours, count);
    return WADI_OK;
}

static WadiStatus put_solids(const Layer *layer, WadiCrateNode world, bool are_moving)
{
    WadiCrateNode colliders = 0;
    for (int s = 0; s < layer->frame->frame_scene->solid_count; ++s) {
        if (layer->frame->frame_scene->solids[s].is_moving == are_moving) {
            if (colliders == 0) {
                colliders = wadi_crate_prim(layer->crate, world, "colliders", "Xform");
            }
            const WadiArenaMark mark = wadi_arena_mark(layer->arena);
            const WadiStatus status = put_solid(layer, colliders, s);
            wadi_arena_release(layer->arena, mark);
            WADI_TRY(status);
        }
    }
    return WADI_OK;
}

static void put_number(const Layer *layer, WadiCrateNode prim, const char *name, double value)
{
    const WadiCrateNode attribute = wadi_crate_attribute(layer->crate, prim, name, "float");
    wadi_crate_sample(layer->crate, attribute, layer->frame->frame, wadi_crate_float((float)value));
}

static WadiStatus put_camera(const Layer *layer, WadiCrateNode world)
{
    WadiUsdCamera camera;
    WadiCrate *crate = layer->crate;
    if (!wadi_usd_camera(layer->frame, &camera)) {
        return wadi_fail(layer->error, WADI_ERR_ARGUMENT, "the camera looks nowhere: see render.camera");
    }
    const WadiCrateNode prim = wadi_crate_prim(crate, world, "camera", "Camera");
    const char *const order[] = { "xformOp:transform" };
    WadiCrateNode attribute = wadi_crate_attribute(crate, prim, "xformOp:transform", "matrix4d");
    if (crate->has_values) {
        wadi_crate_sample(crate, attribute, layer->frame->frame, wadi_crate_matrix(crate, camera.rows));
    }
    attribute = wadi_crate_attribute(crate, prim, "xformOpOrder", "token[]");
    wadi_crate_set(crate, attribute, "variability", wadi_crate_uniform());
    wadi_crate_set(crate, attribute, "default", wadi_crate_tokens(crate, order, 1));
    put_number(layer, prim, "horizontalAperture", camera.aperture[0]);
    put_number(layer, prim, "verticalAperture", camera.aperture[1]);
    put_number(layer, prim, "focalLength", camera.focal_length);
    put_number(layer, prim, "focusDistance", camera.focus);
    put_number(layer, prim, "fStop", camera.f_stop);
    return WADI_OK;
}

/* /wadi, with the translation of what lies far from the origin. */
static WadiCrateNode put_world(const Layer *layer)
{
    WadiCrate *crate = layer->crate;
    const WadiCrateNode world = wadi_crate_prim(crate, 0, "wadi", "Xform");
    if (wadi_norm(layer->origin) > 0.0) {
        const WadiVec3 o = wadi_export_axes(layer->frame, layer->origin);
        const double rows[16] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, o.x, o.y, o.z, 1 };
        const char *const order[] = { "xformOp:transform" };
        wadi_crate_set(crate, wadi_crate_attribute(crate, world, "xformOp:transform", "matrix4d"), "default",
                       wadi_crate_matrix(crate, rows));
        const WadiCrateNode attribute = wadi_crate_attribute(crate, world, "xformOpOrder", "token[]");
        wadi_crate_set(crate, attribute, "variability", wadi_crate_uniform());
        wadi_crate_set(crate, attribute, "default", wadi_crate_tokens(crate, order, 1));
    }
    return world;
}

WadiStatus wadi_usd_put_frame(WadiCrate *crate, const WadiExportFrame *frame, const WadiUsdStates *states,
                              WadiArena *arena, WadiError *error)
{
    const Layer layer = {
        .crate = crate, .frame = frame, .origin = wadi_usd_origin(frame), .arena = arena, .error = error
    };
    const WadiCrateNode world = put_world(&layer);
    const WadiCrateNode geo = wadi_crate_prim(crate, world, "geo", "Xform");
    for (int p = 0; p < frame->frame_scene->part_count; ++p) {
        WADI_TRY(put_part(&layer, geo, &frame->frame_scene->parts[p], states->frame));
    }
    WADI_TRY(put_foam(&layer, world, states->secondary));
    WADI_TRY(put_solids(&layer, world, true));
    return put_camera(&layer, world);
}

/* A square that reaches the horizon. */
static WadiStatus put_ground(const Layer *layer, WadiCrateNode world)
{
    const WadiTraceGround *ground = &layer->frame->frame_scene->ground;
    if (!ground->is_present) {
        return WADI_OK;
    }
    const WadiCamera *camera = &layer->frame->camera;
    const double size = 1e3 * fmax(1.0, wadi_norm(wadi_sub(camera->eye, camera->target)));
    WadiVec3 corner[4];
    for (int c = 0; c < 4; ++c) {
        corner[c] = wadi_vec3(camera->eye.x + (c == 0 || c == 3 ? -size : size),
                              camera->eye.y + (c < 2 ? -size : size), ground->height);
    }
    uint32_t triangles[2][3] = { { 0, 1, 2 }, { 0, 2, 3 } };
    const WadiMesh mesh = {
        .vertices = corner, .vertex_count = 4, .triangles = triangles, .triangle_count = 2
    };
    const WadiRgb colours[4] = { ground->look.colour, ground->look.colour, ground->look.colour,
                                 ground->look.colour };
    const WadiCrateNode prim = wadi_crate_prim(layer->crate, world, "ground", "Mesh");
    put_triangles(layer, prim, &mesh);
    put_primvar(layer, prim, "displayColor", 3, (const float *)colours, 4);
    return WADI_OK;
}

WadiStatus wadi_usd_write_static(const WadiExportFrame *frame, const char *path, WadiArena *arena,
                                 WadiError *error)
{
    WadiCrate crate;
    WADI_TRY(wadi_export_begin_file(frame, path, error));
    wadi_usd_open(&crate, frame, path, "what never moves", frame->frame, frame->frame, error);
    crate.has_times = false;
    const Layer layer = {
        .crate = &crate, .frame = frame, .origin = wadi_usd_origin(frame), .arena = arena, .error = error
    };
    const WadiCrateNode world = put_world(&layer);
    WadiStatus status = put_ground(&layer, world);
    if (status == WADI_OK) {
        status = put_solids(&layer, world, false);
    }
    crate.out.status = crate.out.status == WADI_OK ? status : crate.out.status;
    return wadi_crate_close(&crate);
}
