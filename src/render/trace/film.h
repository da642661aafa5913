/* What the tracer makes: linear light a pixel, and its way to a picture for the screen. */
#ifndef WADI_RENDER_FILM_H
#define WADI_RENDER_FILM_H

#include "render/image/image.h"
#include "render/image/vec3f.h"

/* Rows from the top. The guides are what the first surface seen through a pixel is like, a mean over its samples; they are there
 * for the filter of render/trace/denoise.h. A zeroed film is valid and empty. */
typedef struct WadiFilm {
    int width, height;
    WadiRgb *light;    /* radiance */
    WadiRgb *albedo;   /* guide; 1 for the sky */
    WadiVec3f *normal; /* guide; 0 for the sky */
    float *distance;   /* guide, m; 0 for the sky */
    float *variance;   /* of the mean's luminance, estimated from the samples */
} WadiFilm;

WadiStatus wadi_film_init(WadiFilm *film, int width, int height, WadiError *error);
void wadi_film_free(WadiFilm *film);

typedef struct WadiDevelop {
    double exposure;      /* stops: 1 makes twice as bright */
    bool is_auto_exposed; /* first brings the mean of the logarithm to 0.3 */
    bool is_linear;       /* no film curve, only sRGB: for colours that stand for numbers */
} WadiDevelop;

/* The factor that auto-exposure gives this film; 1 for a black one. A caller with many frames asks for one frame and adds its
 * logarithm to `exposure` of all, so that the video does not flicker. */
double wadi_film_auto_exposure(const WadiFilm *film);
/* Film curve and sRGB into `image`, which has the film's size. Rounding is dithered by a fixed pattern, so that skies do not
 * show bands. */
void wadi_film_develop(const WadiFilm *film, const WadiDevelop *develop, WadiImage *image);
/* The film curve for one value: 0 -> 0, monotonic, below 1. */
float wadi_film_curve(float value);

#endif
