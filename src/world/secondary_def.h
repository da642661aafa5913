/* Settings of foam, spray, bubbles and dust from the scene file: the key `secondary`
 * (scene_schema_surface.c). */
#ifndef WADI_WORLD_SECONDARY_DEF_H
#define WADI_WORLD_SECONDARY_DEF_H

typedef struct WadiSecondaryDef {
    double amount;    /* of water; 0: none */
    double dust;      /* of sand; 0: none */
    double size;      /* m, diameter; 0: a quarter of the spacing */
    double life;      /* s, of foam */
    double dust_life; /* s */
    double slow;      /* m/s: slower material makes none; < 0: by the size of the scene */
    double fast;      /* m/s: faster material makes no more; < 0: four times as fast */
    double rise;      /* m/s, of bubbles in still water */
    double drying;    /* s, until sand that water has left is dry */
    int grains;       /* fine grains of a particle of sand; 0: none */
} WadiSecondaryDef;

#endif
