/* Noise reduction for a film of few samples. */
#ifndef WADI_RENDER_DENOISE_H
#define WADI_RENDER_DENOISE_H

#include "render/trace/film.h"

/* Filters `light` in place, with the guides and the variance. */
WadiStatus wadi_film_denoise(WadiFilm *film, WadiError *error);

#endif
