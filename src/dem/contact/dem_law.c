#include "dem/contact/dem_law.h"

#include <math.h>

static const double PI = 3.14159265358979324;

/* The force of a collision in its own units, which never pulls. */
static double force_at(WadiDemLaw law, double g, double x, double v)
{
    const double depth = fmax(x, 0.0), root = sqrt(depth);
    switch (law) {
    case WADI_DEM_HERTZ: return fmax(depth * root + g * sqrt(root) * v, 0.0);
    case WADI_DEM_LINEAR: return x < 0.0 ? 0.0 : fmax(depth + g * v, 0.0);
    case WADI_DEM_VISCOELASTIC: break;
    }
    return fmax(root * (depth + g * v), 0.0);
}

/* x'' = -force from x = 0, x' = 1, by fourth-order Runge-Kutta. */
double wadi_dem_restitution_at(WadiDemLaw law, double g)
{
    const double dt = 4e-3;
    double x = 0.0, v = 1.0;
    for (int n = 0; n < 50000; ++n) {
        double kx[4], kv[4];
        static const double at[4] = { 0.0, 0.5, 0.5, 1.0 };
        for (int s = 0; s < 4; ++s) {
            const double xs = x + (s > 0 ? at[s] * dt * kx[s - 1] : 0.0);
            const double vs = v + (s > 0 ? at[s] * dt * kv[s - 1] : 0.0);
            kx[s] = vs;
            kv[s] = -force_at(law, g, xs, vs);
        }
        x += dt / 6.0 * (kx[0] + 2.0 * kx[1] + 2.0 * kx[2] + kx[3]);
        v += dt / 6.0 * (kv[0] + 2.0 * kv[1] + 2.0 * kv[2] + kv[3]);
        /* Once the force vanishes while they part, it stays 0. */
        if (v < 0.0 && !(force_at(law, g, x, v) > 0.0)) {
            return -v;
        }
    }
    return 0.0;
}

double wadi_dem_damping_number(WadiDemLaw law, double restitution)
{
    double low = 0.0, high = 64.0;
    for (int n = 0; n < 32; ++n) {
        const double middle = 0.5 * (low + high);
        if (wadi_dem_restitution_at(law, middle) > restitution) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * (low + high);
}

/* k of the law for an impact. */
static double spring(WadiDemLaw law, double stiffness, double radius)
{
    return law == WADI_DEM_LINEAR ? stiffness : stiffness * sqrt(radius);
}

double wadi_dem_damping(WadiDemLaw law, double stiffness, double restitution, const WadiDemImpact *impact)
{
    const double k = spring(law, stiffness, impact->radius), m = impact->mass;
    const double number = restitution < 1.0 ? wadi_dem_damping_number(law, restitution) : 0.0;
    switch (law) {
    case WADI_DEM_HERTZ: return number;
    case WADI_DEM_LINEAR: return number * sqrt(k / m);
    case WADI_DEM_VISCOELASTIC: break;
    }
    return number / (pow(k / m, 0.4) * pow(impact->speed, 0.2));
}

double wadi_dem_contact_time(WadiDemLaw law, double stiffness, const WadiDemImpact *impact)
{
    const double k = spring(law, stiffness, impact->radius), m = impact->mass;
    return law == WADI_DEM_LINEAR ? PI * sqrt(m / k) : 3.2181 * pow(m * m / (k * k * impact->speed), 0.2);
}

double wadi_dem_largest_overlap(WadiDemLaw law, double stiffness, const WadiDemImpact *impact)
{
    const double k = spring(law, stiffness, impact->radius), m = impact->mass, v = impact->speed;
    return law == WADI_DEM_LINEAR ? v * sqrt(m / k) : pow(1.25 * m * v * v / k, 0.4);
}

double wadi_dem_stiffness_of_impact(WadiDemLaw law, double overlap, const WadiDemImpact *impact)
{
    const double energy = impact->mass * impact->speed * impact->speed;
    return law == WADI_DEM_LINEAR ? energy / (overlap * overlap)
                                  : 1.25 * energy / (pow(overlap, 2.5) * sqrt(impact->radius));
}

double wadi_dem_stiffness_of_load(WadiDemLaw law, double overlap, double force, double radius)
{
    return law == WADI_DEM_LINEAR ? force / overlap : force / (overlap * sqrt(overlap * radius));
}
