/* How a run is drawn, from the scene file: the keys `render` and, of each material, `look`
 * (scene_schema_render.c). None changes the simulation. */
#ifndef WADI_WORLD_RENDER_DEF_H
#define WADI_WORLD_RENDER_DEF_H

#include "math/curve.h"
#include "math/vec3.h"

typedef enum WadiLookPreset {
    WADI_PRESET_BEACH,
    WADI_PRESET_DESERT,
    WADI_PRESET_BLACK,
    WADI_PRESET_SOIL,
    WADI_PRESET_GRAVEL,
    WADI_PRESET_SUGAR,
    WADI_PRESET_COUNT
} WadiLookPreset;

typedef enum WadiLookStyle {
    WADI_STYLE_GRAINS,  /* sand: several grains per particle [LD09] */
    WADI_STYLE_TEXTURE, /* sand: the mesh with a solid texture carried by the particles [ZB05] */
    WADI_STYLE_SURFACE, /* the mesh */
    WADI_STYLE_BALLS,   /* one ball per particle */
    WADI_STYLE_HIDDEN,
    WADI_STYLE_AUTO, /* grains for sand, the mesh for water */
} WadiLookStyle;

/* Numbers and colours below 0 mean: not given, the preset decides. */
typedef struct WadiLookDef {
    WadiLookPreset preset;
    WadiLookStyle style;
    WadiVec3 colour;       /* sRGB, 0..1: replaces the preset's mixture of sand, or tints water */
    double variation;      /* 0..1: brightness of single grains */
    int grains;            /* per particle */
    double grain_fill;     /* fraction of a particle's volume that its grains fill */
    double size_variation; /* 0..0.9 */
    double ball_size;      /* diameter of a ball over the spacing of its particle */
    double cloudiness;     /* 0 clear .. 1 as milk, water */
    double clarity;        /* m, water: the distance over which it takes on its colour */
    double wetness;        /* 0..1, sand: for frames without that attribute */
} WadiLookDef;

typedef enum WadiSolidTexture {
    WADI_TEXTURE_NONE,
    WADI_TEXTURE_CHECKER, /* cubes of two colours */
    WADI_TEXTURE_BANDS,   /* horizontal bands of two colours, along the solid's own z */
    WADI_TEXTURE_WOOD,    /* rings about the solid's own x, from one colour to the other */
    WADI_TEXTURE_STONE,   /* blotches between the two colours */
} WadiSolidTexture;

/* How a collider is drawn. A colour below 0 means: not given. */
typedef struct WadiSolidLookDef {
    bool is_given;
    WadiVec3 colour;        /* sRGB; not given: render.collider_colour */
    WadiVec3 second_colour; /* sRGB, of the texture; not given: the colour, half as bright */
    double roughness;       /* 0 polished .. 1 matt */
    WadiSolidTexture texture;
    double texture_size; /* m; 0: a twelfth of the collider's size */
    bool is_glass;       /* a sheet of glass, tinted by the colour where one is given */
} WadiSolidLookDef;

typedef struct WadiCameraDef {
    bool is_given;
    WadiCurve from, to; /* m */
    WadiCurve up;       /* any length */
    WadiCurve angle;    /* degrees, from the lower to the upper edge */
    WadiCurve aperture; /* m, diameter of the lens; 0: everything is sharp */
    WadiCurve focus;    /* m; 0: at `to` */
} WadiCameraDef;

typedef enum WadiSurroundKey {
    WADI_RENDER_SKY,
    WADI_RENDER_STUDIO, /* uniform light from all directions */
} WadiSurroundKey;

typedef struct WadiRenderLightDef {
    bool is_given;
    double sun_height; /* degrees above the horizon */
    double
        /* Degrees from +x towards +y, azimuth of the sun; below -360: relative to the camera. */
        sun_direction;
    double sun_size; /* degrees */
    double sun;      /* factor */
    double sky;      /* factor */
    double haze;     /* turbidity */
    double clouds;   /* 0..1 */
    WadiSurroundKey surround;
    char *environment; /* an .hdr or .pfm picture instead of the sky; NULL: none */
    double turn;       /* degrees, of that picture */
} WadiRenderLightDef;

typedef enum WadiGroundKey {
    /* the scene's bed of sand goes on; otherwise slabs, or one colour for what is small */
    WADI_GROUND_AUTO,
    WADI_GROUND_SLABS, /* of stone */
    WADI_GROUND_PLAIN,
    WADI_GROUND_CHECKER,
    WADI_GROUND_SAND,  /* an endless plain of the scene's first sand */
    WADI_GROUND_WATER, /* an endless sea, too deep to see its floor */
    WADI_GROUND_NONE,
} WadiGroundKey;

typedef enum WadiWallsKey {
    WADI_RENDER_WALLS_AUTO, /* glass where liquid stands against them, on a floor */
    WADI_RENDER_WALLS_HIDDEN,
    WADI_RENDER_WALLS_GLASS,
} WadiWallsKey;

typedef struct WadiRenderSettings {
    int width, height; /* pixels */
    WadiCameraDef camera;
    WadiRenderLightDef light;
    WadiGroundKey ground;
    WadiVec3 ground_colour;   /* sRGB */
    double ground_height;     /* m; below -1e300: the domain's floor, or the lowest point */
    WadiWallsKey walls;       /* of the domain, besides its floor */
    bool has_colliders;       /* colliders are drawn */
    bool has_secondary;       /* foam, spray, bubbles and dust are drawn where they were made */
    WadiVec3 collider_colour; /* sRGB; not given: one for each */
    double exposure;          /* stops */
    double shutter;           /* fraction of the frame time that the shutter is open: motion blur; 0: none */
    int shutter_steps; /* parts of that time for which the particles are moved and wrapped anew; 1 .. 64 */
} WadiRenderSettings;

#endif
