/* Balls are drawn with a depth test at twice the resolution and averaged: the picture does not depend on the
 * order of the particles. */
#include "render/points/splat.h"

#include <float.h>
#include <math.h>

#include "core/alloc.h"

enum { SUPERSAMPLING = 2, COLOURS = 5 };

static const double degree = 3.14159265358979323846 / 180.0;
static const double background[3] = { 0.10, 0.11, 0.13 };
/* Slow to fast, rising in lightness. */
static const double ramp[COLOURS][3] = {
    { 0.31, 0.41, 0.68 }, { 0.16, 0.58, 0.68 }, { 0.35, 0.68, 0.45 },
    { 0.85, 0.80, 0.35 }, { 1.0, 0.97, 0.85 },
};

/* The picture at the finer resolution: colour and depth of the nearest ball. */
typedef struct Canvas {
    int width, height;
    float *depth;
    float (*colour)[3];
    double scale;     /* pixels per metre */
    double origin[2]; /* pixel of (0, 0) along right and up */
} Canvas;

typedef struct Frame {
    const double *x;
    const float *v;
    const float *radius;
    size_t count;
} Frame;

WadiSplatView wadi_splat_view(double azimuth, double elevation)
{
    double ca = cos(azimuth * degree), sa = sin(azimuth * degree);
    double ce = cos(elevation * degree), se = sin(elevation * degree);
    return (WadiSplatView){
        .right = { ca, sa, 0.0 },
        .up = { -sa * se, ca * se, ce },
        .away = { -sa * ce, ca * ce, -se },
        .low = { DBL_MAX, DBL_MAX },
        .high = { -DBL_MAX, -DBL_MAX },
        .near = DBL_MAX,
        .far = -DBL_MAX,
    };
}

static WadiStatus read_frame(const WadiState *state, Frame *frame, WadiError *error)
{
    const WadiStateArray *x = NULL, *v = NULL, *radius = NULL;
    WADI_TRY(wadi_state_expect(state, "position", WADI_TYPE_F64, 3, SIZE_MAX, &x, error));
    WADI_TRY(wadi_state_expect(state, "velocity", WADI_TYPE_F32, 3, x->count, &v, error));
    WADI_TRY(wadi_state_expect(state, "radius", WADI_TYPE_F32, 1, x->count, &radius, error));
    *frame = (Frame){ .x = x->data, .v = v->data, .radius = radius->data, .count = x->count };
    return WADI_OK;
}

static WadiVec3 position(const Frame *frame, size_t i)
{
    return wadi_vec3(frame->x[3 * i], frame->x[3 * i + 1], frame->x[3 * i + 2]);
}

static WadiVec3 velocity(const Frame *frame, size_t i)
{
    const float *v = frame->v + 3 * i;
    return wadi_vec3((double)v[0], (double)v[1], (double)v[2]);
}

WadiStatus wadi_splat_include(WadiSplatView *view, const WadiState *state, WadiError *error)
{
    Frame frame;
    WADI_TRY(read_frame(state, &frame, error));
    for (size_t i = 0; i < frame.count; ++i) {
        WadiVec3 x = position(&frame, i);
        double across[2] = { wadi_dot(x, view->right), wadi_dot(x, view->up) };
        double depth = wadi_dot(x, view->away), r = (double)frame.radius[i];
        for (int a = 0; a < 2; ++a) {
            view->low[a] = fmin(view->low[a], across[a] - r);
            view->high[a] = fmax(view->high[a], across[a] + r);
        }
        view->near = fmin(view->near, depth - r);
        view->far = fmax(view->far, depth + r);
    }
    return WADI_OK;
}

static void speed_colour(double speed, double colour[3])
{
    double t = fmin(fmax(speed, 0.0), 1.0) * (COLOURS - 1);
    int i = t < COLOURS - 1 ? (int)t : COLOURS - 2;
    for (int c = 0; c < 3; ++c) {
        colour[c] = ramp[i][c] + (t - i) * (ramp[i + 1][c] - ramp[i][c]);
    }
}

/* One ball, lit from above left behind the viewer. `depth` and `r` in metres. */
static void draw_ball(Canvas *canvas, double u, double w, double depth, double r, double fade,
                      const double colour[3])
{
    /* Balls smaller than a pixel would leave holes. */
    double radius = fmax(r * canvas->scale, 0.75);
    int x0 = (int)ceil(u - radius - 0.5), x1 = (int)floor(u + radius - 0.5);
    int y0 = (int)ceil(w - radius - 0.5), y1 = (int)floor(w + radius - 0.5);
    for (int y = y0 > 0 ? y0 : 0; y <= y1 && y < canvas->height; ++y) {
        for (int x = x0 > 0 ? x0 : 0; x <= x1 && x < canvas->width; ++x) {
            double dx = (x + 0.5 - u) / radius, dy = (y + 0.5 - w) / radius;
            double square = 1.0 - dx * dx - dy * dy;
            if (square < 0.0) {
                continue;
            }
            double towards = sqrt(square);
            double z = depth - towards * r;
            size_t at = (size_t)y * (size_t)canvas->width + (size_t)x;
            if (z < (double)canvas->depth[at]) {
                double light = fade * (0.45 + 0.55 * fmax(0.0, -0.35 * dx + 0.6 * dy + 0.72 * towards));
                canvas->depth[at] = (float)z;
                for (int c = 0; c < 3; ++c) {
                    canvas->colour[at][c] = (float)(colour[c] * light);
                }
            }
        }
    }
}

static void draw_particles(const WadiSplatView *view, const Frame *frame, Canvas *canvas)
{
    double range = fmax(view->far - view->near, 1e-9);
    for (size_t i = 0; i < frame->count; ++i) {
        WadiVec3 v = velocity(frame, i);
        double colour[3];
        speed_colour(view->speed > 0.0 ? wadi_norm(v) / view->speed : 0.0, colour);
        double r = (double)frame->radius[i];
        /* Streaks are drawn as thin balls at most a pixel apart. */
        double length = view->streak * wadi_norm(v) * canvas->scale;
        int balls = 1 + (int)fmin(length, 4096.0);
        r = view->streak > 0.0 ? fmin(r, 1.0 / canvas->scale) : r;
        for (int b = 0; b < balls; ++b) {
            WadiVec3 x = wadi_add_scaled(position(frame, i), v, -view->streak * b / balls);
            double depth = wadi_dot(x, view->away);
            double u = canvas->origin[0] + canvas->scale * wadi_dot(x, view->right);
            double w = canvas->origin[1] + canvas->scale * wadi_dot(x, view->up);
            draw_ball(canvas, u, w, depth, r, 1.0 - 0.45 * (depth - view->near) / range, colour);
        }
    }
}

/* Averages into the picture; row 0 of the canvas is the bottom. */
static void average(const Canvas *canvas, WadiImage *image, int left, int top)
{
    int width = canvas->width / SUPERSAMPLING, height = canvas->height / SUPERSAMPLING;
    for (int y = 0; y < height; ++y) {
        uint8_t *row =
            image->rgb + 3 * ((size_t)(top + height - 1 - y) * (size_t)image->width + (size_t)left);
        for (int x = 0; x < width; ++x) {
            for (int c = 0; c < 3; ++c) {
                double sum = 0.0;
                for (int s = 0; s < SUPERSAMPLING * SUPERSAMPLING; ++s) {
                    int sy = SUPERSAMPLING * y + s / SUPERSAMPLING,
                        sx = SUPERSAMPLING * x + s % SUPERSAMPLING;
                    sum += (double)canvas->colour[(size_t)sy * (size_t)canvas->width + (size_t)sx][c];
                }
                double mean = sum / (SUPERSAMPLING * SUPERSAMPLING);
                row[3 * x + c] = (uint8_t)lrint(255.0 * fmin(fmax(mean, 0.0), 1.0));
            }
        }
    }
}

WadiStatus wadi_splat_draw(const WadiSplatView *view, const WadiState *state, WadiImage *image, int left,
                           int top, int width, int height, WadiError *error)
{
    if (left < 0 || top < 0 || width < 1 || height < 1 || left + width > image->width ||
        top + height > image->height) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the part to draw lies outside the picture");
    }
    Frame frame;
    WADI_TRY(read_frame(state, &frame, error));
    Canvas canvas = { .width = SUPERSAMPLING * width, .height = SUPERSAMPLING * height };
    size_t pixels = (size_t)canvas.width * (size_t)canvas.height;
    WADI_TRY(WADI_NEW(&canvas.depth, pixels, "depth of the picture", error));
    WadiStatus status = WADI_NEW(&canvas.colour, pixels, "colours of the picture", error);
    if (status == WADI_OK) {
        for (size_t i = 0; i < pixels; ++i) {
            canvas.depth[i] = FLT_MAX;
            for (int c = 0; c < 3; ++c) {
                canvas.colour[i][c] = (float)background[c];
            }
        }
        double size[2] = { fmax(view->high[0] - view->low[0], 1e-9),
                           fmax(view->high[1] - view->low[1], 1e-9) };
        canvas.scale = fmin(canvas.width / size[0], canvas.height / size[1]);
        canvas.origin[0] = 0.5 * (canvas.width - canvas.scale * (view->low[0] + view->high[0]));
        canvas.origin[1] = 0.5 * (canvas.height - canvas.scale * (view->low[1] + view->high[1]));
        draw_particles(view, &frame, &canvas);
        average(&canvas, image, left, top);
    }
    WADI_DELETE(canvas.colour, pixels);
    WADI_DELETE(canvas.depth, pixels);
    return status;
}
