/* A thin-lens camera, and automatic framing. */
#ifndef WADI_RENDER_CAMERA_H
#define WADI_RENDER_CAMERA_H

#include "render/image/vec3f.h"

/* Invalid when eye equals target or the field of view is outside (0, 180): wadi_camera_frame returns
 * false. */
typedef struct WadiCamera {
    WadiVec3 eye, target; /* m */
    WadiVec3 up;          /* need not be perpendicular nor unit */
    double view_angle;    /* degrees, between the upper and the lower edge of the picture */
    double lens_radius;   /* m; 0: no depth of field */
    double focus;         /* m, distance of the focal plane; 0: the target's */
} WadiCamera;

/* Shows the whole box, with a margin, from slightly above and to the side. `aspect`: width / height. An empty
 * box is replaced by one of 1 m about the origin. */
WadiCamera wadi_camera_framing(WadiBox box, double aspect);
/* Unit vector to a sun that lights the front and one side of the camera's target. */
WadiVec3 wadi_camera_sun(const WadiCamera *camera);

/* The camera prepared for rays in float relative to `origin`. */
typedef struct WadiCameraFrame {
    WadiVec3f eye;
    WadiVec3f right, up, forward;  /* orthonormal */
    float half_height, half_width; /* of the picture at distance 1 */
    float lens_radius, focus;
} WadiCameraFrame;

/* False when the camera has no direction or angle, or is not finite. */
bool wadi_camera_frame(const WadiCamera *camera, WadiVec3 origin, double aspect, WadiCameraFrame *frame);

/* (x, y) in the picture, 0..1 from its left and upper edges; `lens`: two values in [0, 1). The direction is a
 * unit vector. */
void wadi_camera_ray(const WadiCameraFrame *frame, float x, float y, const float lens[2], WadiVec3f *origin,
                     WadiVec3f *direction);

#endif
