#include "render/trace/camera.h"

#include <float.h>

static const double pi = 3.14159265358979323846;

/* Three-quarter view: from the front, slightly to the right and above. */
enum { AZIMUTH = -60, VIEW_ANGLE = 35 };
static const double margin = 0.06; /* fraction of half the picture, on each side */

/* Degrees. What is smaller than a metre is seen a little more from above than what is larger than ten. The
 * horizon is in the picture: at tan(14) / tan(17.5) = 0.79 of its upper half, and lower. */
static double elevation_for(WadiBox box)
{
    double size = wadi_norm(wadi_box_size(box)), high = 14.0, low = 9.0;
    return high + (low - high) * fmin(fmax(log10(size), 0.0), 1.0);
}

static WadiVec3 direction_of(double azimuth, double elevation)
{
    double a = azimuth * pi / 180.0, e = elevation * pi / 180.0;
    return wadi_vec3(cos(e) * cos(a), cos(e) * sin(a), sin(e));
}

static void axes(const WadiCamera *camera, WadiVec3 *right, WadiVec3 *up, WadiVec3 *forward)
{
    *forward = wadi_normalized_or(wadi_sub(camera->target, camera->eye), wadi_vec3(0, 0, 0));
    WadiVec3 side = wadi_cross(*forward, camera->up);
    if (!(wadi_norm(side) > 1e-9 * wadi_norm(camera->up))) { /* view along `up`: any side is valid */
        side = wadi_cross(*forward, fabs(forward->x) < 0.9 ? wadi_vec3(1, 0, 0) : wadi_vec3(0, 1, 0));
    }
    *right = wadi_normalized_or(side, wadi_vec3(1, 0, 0));
    *up = wadi_cross(*right, *forward);
}

static WadiVec3 corner(WadiBox box, int k)
{
    return wadi_vec3(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y,
                     k & 4 ? box.max.z : box.min.z);
}

WadiCamera wadi_camera_framing(WadiBox box, double aspect)
{
    if (wadi_box_is_empty(box) || !wadi_is_finite(box.min) || !wadi_is_finite(box.max)) {
        box = (WadiBox){ { -0.5, -0.5, -0.5 }, { 0.5, 0.5, 0.5 } };
    }
    box = wadi_box_grown(box, fmax(1e-9, 1e-3 * wadi_norm(wadi_box_size(box))));
    WadiCamera camera = { .target = wadi_scale(wadi_add(box.min, box.max), 0.5),
                          .up = { 0.0, 0.0, 1.0 },
                          .view_angle = VIEW_ANGLE };
    WadiVec3 back = direction_of(AZIMUTH, elevation_for(box)), right, up, forward;
    camera.eye = wadi_add(camera.target, back);
    axes(&camera, &right, &up, &forward);
    double half_height = tan(0.5 * VIEW_ANGLE * pi / 180.0) * (1.0 - margin),
           half_width = half_height * aspect;
    /* A plane x = w (z + d) contains a corner when d >= x / w - z. The pair of opposite planes with the
     * larger mean d sets the distance; the eye is centred between each pair. */
    double high[2][2] = { { -DBL_MAX, -DBL_MAX }, { -DBL_MAX, -DBL_MAX } };
    for (int k = 0; k < 8; ++k) {
        WadiVec3 p = wadi_sub(corner(box, k), camera.target);
        double z = wadi_dot(p, forward), x[2] = { wadi_dot(p, right), wadi_dot(p, up) };
        double half[2] = { half_width, half_height };
        for (int i = 0; i < 2; ++i) {
            high[i][0] = fmax(high[i][0], x[i] / half[i] - z);
            high[i][1] = fmax(high[i][1], -x[i] / half[i] - z);
        }
    }
    double distance = fmax(0.5 * (high[0][0] + high[0][1]), 0.5 * (high[1][0] + high[1][1]));
    double shift_right = 0.25 * (high[0][0] - high[0][1]) * 2.0 * half_width;
    double shift_up = 0.25 * (high[1][0] - high[1][1]) * 2.0 * half_height;
    WadiVec3 shift = wadi_add(wadi_scale(right, shift_right), wadi_scale(up, shift_up));
    camera.target = wadi_add(camera.target, shift);
    camera.eye = wadi_add_scaled(camera.target, back, distance);
    return camera;
}

WadiVec3 wadi_camera_sun(const WadiCamera *camera)
{
    WadiVec3 back = wadi_sub(camera->eye, camera->target);
    double azimuth = atan2(back.y, back.x) * 180.0 / pi;
    return direction_of(azimuth - 70.0, 40.0); /* from the left of the picture */
}

bool wadi_camera_frame(const WadiCamera *camera, WadiVec3 origin, double aspect, WadiCameraFrame *frame)
{
    *frame = (WadiCameraFrame){ 0 };
    WadiVec3 right, up, forward;
    double distance = wadi_norm(wadi_sub(camera->target, camera->eye));
    if (!wadi_is_finite(camera->eye) || !(distance > 0.0) || !isfinite(distance) ||
        !wadi_is_finite(camera->up) || !(camera->view_angle > 0.0 && camera->view_angle < 180.0) ||
        !(camera->lens_radius >= 0.0) || !isfinite(camera->lens_radius) || !(camera->focus >= 0.0) ||
        !isfinite(camera->focus)) {
        return false;
    }
    axes(camera, &right, &up, &forward);
    double half = tan(0.5 * camera->view_angle * pi / 180.0);
    *frame = (WadiCameraFrame){ .eye = wadi_to_vec3f(wadi_sub(camera->eye, origin)),
                                .right = wadi_to_vec3f(right),
                                .up = wadi_to_vec3f(up),
                                .forward = wadi_to_vec3f(forward),
                                .half_height = (float)half,
                                .half_width = (float)(half * aspect),
                                .lens_radius = (float)camera->lens_radius,
                                .focus = (float)(camera->focus > 0.0 ? camera->focus : distance) };
    return true;
}

void wadi_camera_ray(const WadiCameraFrame *frame, float x, float y, const float lens[2], WadiVec3f *origin,
                     WadiVec3f *direction)
{
    float a = (2.0f * x - 1.0f) * frame->half_width, b = (1.0f - 2.0f * y) * frame->half_height;
    WadiVec3f ray = wadi_add_scaledf(wadi_add_scaledf(frame->forward, frame->right, a), frame->up, b);
    *origin = frame->eye;
    if (frame->lens_radius > 0.0f) {
        /* The ray starts on the lens and passes through the same point of the focal plane. */
        float r = frame->lens_radius * sqrtf(lens[0]), angle = 2.0f * (float)pi * lens[1];
        WadiVec3f offset =
            wadi_add_scaledf(wadi_scalef(frame->right, r * cosf(angle)), frame->up, r * sinf(angle));
        *origin = wadi_addf(frame->eye, offset);
        ray = wadi_add_scaledf(ray, offset, -1.0f / frame->focus);
    }
    *direction = wadi_normalizedf_or(ray, frame->forward);
}
