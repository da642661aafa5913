/* A camera with a thin lens, and one that finds its own place. */
#ifndef WADI_RENDER_CAMERA_H
#define WADI_RENDER_CAMERA_H

#include "render/image/vec3f.h"

/* Not valid: eye equal to target, field of view outside (0, 180); wadi_camera_frame says so. */
typedef struct WadiCamera {
    WadiVec3 eye, target; /* m */
    WadiVec3 up;          /* need not be perpendicular nor unit */
    double view_angle;    /* degrees, between the upper and the lower edge of the picture */
    double lens_radius;   /* m; 0: everything is sharp */
    double focus;         /* m, distance along the view that is sharp; 0: the target's */
} WadiCamera;

/* Sees the whole box from a little above and to the side, with a margin around it. `aspect`: width / height. An empty box is
 * taken as one of 1 m about the origin. */
WadiCamera wadi_camera_framing(WadiBox box, double aspect);
/* A direction to a sun that lights the front and one side of what that camera sees: unit. */
WadiVec3 wadi_camera_sun(const WadiCamera *camera);

/* The camera, ready to give rays in float relative to `origin`. */
typedef struct WadiCameraFrame {
    WadiVec3f eye;
    WadiVec3f right, up, forward;  /* orthonormal */
    float half_height, half_width; /* of the picture at distance 1 */
    float lens_radius, focus;
} WadiCameraFrame;

/* false: the camera has no direction, no angle, or is not finite. */
bool wadi_camera_frame(const WadiCamera *camera, WadiVec3 origin, double aspect, WadiCameraFrame *frame);

/* (x, y) in the picture, 0..1 from its left and upper edges; lens: two values in [0, 1). The direction is a unit vector. */
void wadi_camera_ray(const WadiCameraFrame *frame, float x, float y, const float lens[2], WadiVec3f *origin,
                     WadiVec3f *direction);

#endif
