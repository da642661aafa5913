/* A torus as a surface mesh: closed, with normals and attributes that are known at every vertex. */
#ifndef WADI_TESTS_SURFACE_TORUS_H
#define WADI_TESTS_SURFACE_TORUS_H

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "expect.h"
#include "surface/mesh/surface_mesh.h"

/* `around` x `across` vertices, twice as many triangles. Velocity is (x, y, 2), wetness the number of the
 * vertex. */
static inline WadiSurfaceMesh torus_make(int around, int across, WadiVec3 center)
{
    const double pi = 3.14159265358979323846;
    WadiSurfaceMesh s = { .attribute_count = 2 };
    WadiError error = { 0 };
    size_t count = (size_t)around * (size_t)across;
    s.mesh.vertex_count = count;
    s.mesh.triangle_count = 2 * count;
    CHECK_OK(WADI_NEW(&s.mesh.vertices, count, "vertices", &error), error);
    CHECK_OK(WADI_NEW(&s.mesh.triangles, 2 * count, "triangles", &error), error);
    CHECK_OK(WADI_NEW(&s.normal, count, "normals", &error), error);
    strcpy(s.attribute[0].name, "velocity");
    s.attribute[0].components = 3;
    CHECK_OK(WADI_NEW(&s.attribute[0].values, 3 * count, "velocities", &error), error);
    strcpy(s.attribute[1].name, "wetness");
    s.attribute[1].components = 1;
    CHECK_OK(WADI_NEW(&s.attribute[1].values, count, "wetness", &error), error);
    for (int i = 0; i < around; ++i) {
        for (int j = 0; j < across; ++j) {
            double u = 2.0 * pi * i / around, v = 2.0 * pi * j / across;
            size_t k = (size_t)i * (size_t)across + (size_t)j;
            WadiVec3 n = { cos(u) * cos(v), sin(u) * cos(v), sin(v) };
            WadiVec3 x = { cos(u) + 0.25 * n.x, sin(u) + 0.25 * n.y, 0.25 * n.z };
            s.mesh.vertices[k] = wadi_add(center, x);
            s.normal[k][0] = (float)n.x;
            s.normal[k][1] = (float)n.y;
            s.normal[k][2] = (float)n.z;
            s.attribute[0].values[3 * k] = (float)x.x;
            s.attribute[0].values[3 * k + 1] = (float)x.y;
            s.attribute[0].values[3 * k + 2] = 2.0f;
            s.attribute[1].values[k] = (float)k;
            uint32_t a = (uint32_t)k, b = (uint32_t)(((i + 1) % around) * across + j);
            uint32_t c = (uint32_t)(((i + 1) % around) * across + (j + 1) % across);
            uint32_t d = (uint32_t)(i * across + (j + 1) % across);
            const uint32_t two[2][3] = { { a, b, c }, { a, c, d } };
            memcpy(s.mesh.triangles[2 * k], two, sizeof two);
        }
    }
    return s;
}

#endif
