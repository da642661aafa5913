#include "render/denoise.h"

WadiStatus wadi_film_denoise(WadiFilm *film, WadiError *error)
{
    (void)film;
    (void)error;
    return WADI_OK;
}
