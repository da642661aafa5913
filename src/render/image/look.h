/* The renderer's material, as plain data. */
#ifndef WADI_RENDER_LOOK_H
#define WADI_RENDER_LOOK_H

#include "render/image/vec3f.h"

typedef enum WadiLookKind {
    WADI_LOOK_PLAIN, /* diffuse under a glossy coat: colliders, ground */
    WADI_LOOK_SAND,  /* rough diffuse; with wetness darker, and under a film of water */
    WADI_LOOK_WATER, /* smooth absorbing dielectric; the mesh is closed and faces outward */
    /* a thin sheet: reflects and transmits without refraction. Single triangles, not a box */
    WADI_LOOK_GLASS,
} WadiLookKind;

/* Patterns of two colours; the same order as WadiSolidTexture. */
typedef enum WadiLookTexture {
    WADI_LOOK_TEXTURE_NONE,
    WADI_LOOK_TEXTURE_CHECKER,
    WADI_LOOK_TEXTURE_BANDS,
    WADI_LOOK_TEXTURE_WOOD,
    WADI_LOOK_TEXTURE_STONE,
    WADI_LOOK_TEXTURE_SLABS, /* of the ground only: slabs.h */
} WadiLookTexture;

enum { WADI_LOOK_MINERALS = 4 };

/* Zero is a valid value for every field. Made by the functions below. */
typedef struct WadiLook {
    WadiLookKind kind;
    WadiRgb colour;          /* 0..1. PLAIN, SAND: reflectance; GLASS: transmittance of one passage */
    float diffuse_roughness; /* PLAIN, SAND: 0 Lambert .. 1, sigma of [PKH24] */
    float coat;              /* PLAIN: fraction of the surface that the coat covers */
    float waves;             /* m, the ground: length of the waves on it; 0: it is level */
    float coat_roughness;    /* PLAIN, and SAND when wet: 0..1, the square root of GGX's alpha */
    float index;             /* of refraction: coat, film, water, glass */
    WadiRgb absorption;      /* WATER: 1/m */
    float haze;              /* WATER: 1/m, light that is scattered on its way */
    WadiRgb haze_colour;     /* WATER: of endlessly deep water, over the light that falls on it */
    float grain_size;        /* m, SAND: diameter of the grains that are seen; 0: none, a smooth surface */
    WadiRgb mineral[WADI_LOOK_MINERALS]; /* SAND with grains: their colours; `colour` is the mean */
    float fraction[WADI_LOOK_MINERALS];  /* of each; sum to 1 */
    float variation;                     /* 0..1: largest relative change of a grain's brightness */
    float sparkle;                       /* 0..1: brightness of the flashes of single facets */
    float lumps;                         /* unevenness of the surface between grains and particles; 1 */
    WadiLookTexture texture;             /* PLAIN: a pattern of `colour` and `second_colour` */
    float texture_size;                  /* m */
    bool casts_no_shadow;                /* on what the sun and the sky light directly */
    WadiRgb second_colour;
} WadiLook;

WadiLook wadi_look_plain(WadiRgb colour);
/* Bubbles and drops of water, too small to be seen one by one: matt and white. */
WadiLook wadi_look_foam(void);
/* Quartz sand of this dry colour. */
WadiLook wadi_look_sand(WadiRgb colour);
/* `depth`, m: distance after which white light is turquoise; larger is clearer. */
WadiLook wadi_look_water(double depth);
WadiLook wadi_look_glass(void);
/* Deep water seen from above, as an opaque surface. */
WadiLook wadi_look_sea(void);

/* The colour of a PLAIN look at position x, m, of its texture. */
WadiRgb wadi_look_colour(const WadiLook *look, WadiVec3 x);

/* sRGB to linear light and back, 0..1. */
float wadi_srgb_decode(float value);
float wadi_srgb_encode(float value);
WadiRgb wadi_srgb(int red, int green, int blue); /* 0..255 */

#endif
