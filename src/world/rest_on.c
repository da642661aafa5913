#include "world/rest_on.h"

#include <string.h>

#include "core/check.h"

const char *wadi_rests_on(const WadiShapeDef *def)
{
    return def->on != NULL ? def->on : def->mesh_on;
}

int wadi_rest_find(const WadiScene *scene, const char *name)
{
    for (int i = 0; i < scene->collider_count; ++i) {
        if (scene->colliders[i].name != NULL && strcmp(scene->colliders[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static WadiStatus refuse(const WadiShapeDef *def, WadiError *error, const char *name, const char *problem)
{
    return wadi_fail(error, WADI_ERR_ARGUMENT, "%s%son: %s: %s", def->where,
                     def->where[0] != '\0' ? ": " : "", name, problem);
}

static WadiStatus create(WadiShape **shape, const WadiScene *scene, const WadiShapeDef *def, int depth,
                         const WadiLog *log, WadiError *error);

/* z of the highest point of what the shape rests on. */
static WadiStatus find_top(double *top, const WadiScene *scene, const WadiShapeDef *def, int depth,
                           WadiError *error)
{
    const char *name = wadi_rests_on(def);
    const int collider = wadi_rest_find(scene, name);
    if (collider < 0 && strcmp(name, WADI_REST_ON_GROUND) == 0) {
        *top = scene->has_domain ? scene->domain.min.z : 0.0;
        return WADI_OK;
    }
    if (collider < 0) {
        return refuse(def, error, name, "no collider has this name");
    }
    if (depth > scene->collider_count) {
        return refuse(def, error, name, "it rests on this shape in turn");
    }
    WadiShape *below = NULL; /* its warnings are those of the collider itself */
    WADI_TRY(create(&below, scene, &scene->colliders[collider].shape, depth + 1, NULL, error));
    *top = wadi_shape_support(below, wadi_vec3(0, 0, 1), 0.0);
    wadi_shape_destroy(below);
    return isfinite(*top) ? WADI_OK : refuse(def, error, name, "it has no highest point");
}

static WadiStatus rest(WadiShape *shape, const WadiScene *scene, const WadiShapeDef *def, int depth,
                       WadiError *error)
{
    double top = 0.0;
    WADI_TRY(find_top(&top, scene, def, depth, error));
    const double bottom = -wadi_shape_support(shape, wadi_vec3(0, 0, -1), 0.0);
    if (!isfinite(bottom)) {
        return refuse(def, error, wadi_rests_on(def), "the shape that should rest on it has no lowest point");
    }
    return wadi_shape_raise(shape, top - (bottom - wadi_curve_value3(&def->translate, 0.0).z), error);
}

static WadiStatus create(WadiShape **shape, const WadiScene *scene, const WadiShapeDef *def, int depth,
                         const WadiLog *log, WadiError *error)
{
    if (wadi_rests_on(def) == NULL) {
        return wadi_shape_create(shape, def, log, error);
    }
    WADI_TRY(wadi_shape_create(shape, def, NULL, error));
    const WadiStatus status = rest(*shape, scene, def, depth, error);
    if (status != WADI_OK) {
        wadi_shape_destroy(*shape);
        *shape = NULL;
        return status;
    }
    wadi_shape_warn_if_open(*shape, def, log);
    return WADI_OK;
}

WadiStatus wadi_rest_create_shape(WadiShape **shape, const WadiScene *scene, const WadiShapeDef *def,
                                  const WadiLog *log, WadiError *error)
{
    return create(shape, scene, def, 0, log, error);
}
