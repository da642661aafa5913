/* Less noise in a film of few samples. */
#ifndef WADI_RENDER_DENOISE_H
#define WADI_RENDER_DENOISE_H

#include "render/trace/film.h"

/* Filters `light` by the guides and the variance, in place. */
WadiStatus wadi_film_denoise(WadiFilm *film, WadiError *error);

#endif
