/* The readers of light maps on any bytes; what they accept makes a light. */
#include <stdlib.h>

#include "core/alloc.h"
#include "render/trace/light.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t before = wadi_alloc_live_bytes();
    WadiHdr hdr;
    WadiError error = { 0 };
    if (wadi_hdr_read_memory(&hdr, data, size, "fuzz", &error) == WADI_OK) {
        WadiLightDef def = wadi_default_light_def();
        def.surround = WADI_SURROUND_MAP;
        def.map = &hdr;
        WadiLight *light = NULL;
        if (wadi_light_create(&light, &def, &error) == WADI_OK) {
            const float u[2] = { 0.3f, 0.7f };
            float pdf;
            WadiRgb radiance;
            WadiVec3f d = wadi_light_sample_surround(light, u, &radiance, &pdf);
            if (!wadi_is_finitef(d) || !wadi_is_finitef(radiance) || !(pdf > 0.0f)) {
                abort();
            }
        }
        wadi_light_destroy(light);
    }
    wadi_hdr_free(&hdr);
    if (wadi_alloc_live_bytes() != before) {
        abort();
    }
    return 0;
}
