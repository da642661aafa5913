/* A solid texture, carried by the particles, for the style `texture` [ZB05 sec. 6]. */
#ifndef WADI_RENDER_SOLID_TEXTURE_H
#define WADI_RENDER_SOLID_TEXTURE_H

#include "render/grains.h"

/* Linear colour at a position in units of a grain: each grain has a colour of the palette, and the sand is
 * lighter and darker in patches of tens of grains. */
WadiRgb wadi_solid_texture(const WadiGrainPalette *palette, WadiVec3 position);

#endif
