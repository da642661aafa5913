/* Output of the tracer: linear light per pixel, and its conversion to a picture. */
#ifndef WADI_RENDER_FILM_H
#define WADI_RENDER_FILM_H

#include "render/image/image.h"
#include "render/image/vec3f.h"

/* Rows from the top. The guides describe the first surface seen through a pixel, averaged over its samples,
 * for the filter of render/trace/denoise.h. A zeroed film is valid and empty. */
typedef struct WadiFilm {
    int width, height;
    WadiRgb *light;    /* radiance */
    WadiRgb *albedo;   /* guide; 1 for the sky */
    WadiVec3f *normal; /* guide; 0 for the sky */
    float *distance;   /* guide, m; 0 for the sky */
    float *variance;   /* of the mean luminance, estimated from the samples */
} WadiFilm;

WadiStatus wadi_film_init(WadiFilm *film, int width, int height, WadiError *error);
void wadi_film_free(WadiFilm *film);

/* Adds the k-th of `parts` films of the same size, of which `film` becomes the mean; k = 0 overwrites it. */
void wadi_film_add(WadiFilm *film, const WadiFilm *part, int k, int parts);

typedef struct WadiDevelop {
    double exposure;      /* stops: 1 doubles the brightness */
    bool is_auto_exposed; /* first scales the log-mean luminance of a middling colour to 0.3 */
    bool is_linear;       /* no film curve, only sRGB: for colours that stand for numbers */
} WadiDevelop;

/* Auto-exposure factor of this film; 1 for a black one. It follows the light on the surfaces more than their
 * colours, so that dark ones stay dark. For a video, add its log2 to `exposure` of all
 * frames, so that the brightness does not flicker. */
double wadi_film_auto_exposure(const WadiFilm *film);
/* Applies film curve and sRGB, into `image` of the film's size. Rounding is dithered by a fixed pattern to
 * avoid bands in skies. */
void wadi_film_develop(const WadiFilm *film, const WadiDevelop *develop, WadiImage *image);
/* The film curve for one value: 0 -> 0, monotonic, below 1. */
float wadi_film_curve(float value);

#endif
