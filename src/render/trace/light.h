/* Lights: a sun with a disc, and a surround from all directions: a clear sky, one colour, or a map. */
#ifndef WADI_RENDER_LIGHT_H
#define WADI_RENDER_LIGHT_H

#include "core/status.h"
#include "render/image/hdr.h"
#include "render/image/vec3f.h"

typedef enum WadiSurround {
    WADI_SURROUND_UNIFORM, /* `colour` from everywhere */
    /* clear sky for this sun [PSS99]; below the horizon the light reflected by the ground */
    WADI_SURROUND_SKY,
    WADI_SURROUND_MAP, /* `map`, by latitude and longitude: the centre is +x, the upper edge +z */
} WadiSurround;

/* Radiances are relative: a white sheet that faces a high sun in a clear sky has about 1. */
typedef struct WadiLightDef {
    WadiVec3 sun;      /* direction to the sun; need not be unit. Also sets the sky */
    double sun_angle;  /* degrees, diameter of the disc; 0.53 is realistic, larger softens shadows */
    WadiRgb sun_light; /* irradiance on a sheet that faces it; 0: no sun. SKY: factors of the sky's sun */
    WadiSurround surround;
    WadiRgb colour;     /* UNIFORM: radiance; SKY and MAP: factors */
    double turbidity;   /* SKY: 2 very clear .. 6 hazy */
    double clouds;      /* SKY: fraction of it that clouds cover, 0 .. 1 */
    double turn;        /* degrees, MAP: rotation about z */
    const WadiHdr *map; /* MAP: borrowed until wadi_light_create returns */
    bool has_backdrop;  /* the camera sees `backdrop` instead of the surround; the lighting is unchanged */
    WadiRgb backdrop;
} WadiLightDef;

/* Sun at 40 degrees from the south-west in a clear sky. */
WadiLightDef wadi_default_light_def(void);

typedef struct WadiLight WadiLight;

WadiStatus wadi_light_create(WadiLight **light, const WadiLightDef *def, WadiError *error);
void wadi_light_destroy(WadiLight *light);

/* Directions are unit vectors away from the lit point. */
WadiRgb wadi_light_surround(const WadiLight *light, WadiVec3f direction); /* without the sun */
WadiRgb wadi_light_sun(const WadiLight *light, WadiVec3f direction);      /* radiance; 0 outside the disc */
bool wadi_light_has_sun(const WadiLight *light);
/* Unit vector to the sun, and its irradiance on a sheet that faces it. */
WadiVec3f wadi_light_sun_direction(const WadiLight *light, WadiRgb *irradiance);
/* A direction for u in [0, 1)^2, its radiance, and its probability density per steradian; the pdf functions
 * give the density for any direction. */
WadiVec3f wadi_light_sample_surround(const WadiLight *light, const float u[2], WadiRgb *radiance, float *pdf);
float wadi_light_pdf_surround(const WadiLight *light, WadiVec3f direction);
WadiVec3f wadi_light_sample_sun(const WadiLight *light, const float u[2], WadiRgb *radiance, float *pdf);
float wadi_light_pdf_sun(const WadiLight *light, WadiVec3f direction);
/* Radiance of a level white sheet in the open. */
WadiRgb wadi_light_level(const WadiLight *light);
/* Radiance that the camera sees where there is no surface: the sky without the table's blur. */
WadiRgb wadi_light_backdrop(const WadiLight *light, WadiVec3f direction);

/* The clear sky: radiance from `direction` (z >= 0), in the units of WadiLightDef, and the irradiance of its
 * sun on a sheet that faces it. */
WadiRgb wadi_sky_radiance(WadiVec3 direction, WadiVec3 sun, double turbidity);
WadiRgb wadi_sky_sun(WadiVec3 sun, double turbidity);
/* `sky` with clouds in front of it, for the same direction and sun. */
WadiRgb wadi_sky_clouds(WadiRgb sky, WadiVec3 direction, WadiVec3 sun, double turbidity, double cover);

#endif
