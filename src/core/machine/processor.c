/* Compares the instructions the library was compiled for with those of the processor it runs on.
 * CMakeLists.txt compiles this file for every processor of its family, so that it can report what is missing.
 * It calls the C library only. */
#include "core/machine/processor.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "wadi/base.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

static WadiProcessor this_processor(void)
{
    WadiProcessor found = { 0 };
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) {
        found.leaf_1_ecx = ecx;
    }
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
        found.leaf_7_ebx = ebx;
        found.leaf_7_ecx = ecx;
        found.leaf_7_edx = edx;
        /* eax: the largest sub-leaf. */
        if (eax >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0) {
            found.leaf_7_1_eax = eax;
        }
    }
    if (__get_cpuid(0x80000001u, &eax, &ebx, &ecx, &edx) != 0) {
        found.extended_1_ecx = ecx;
    }
    const unsigned has_xgetbv = 1u << 27;
    if ((found.leaf_1_ecx & has_xgetbv) != 0) {
        unsigned low = 0, high = 0;
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        found.saved_state = (uint64_t)high << 32 | low;
    }
    return found;
}
#else
/* On other processors no macro is defined, so that nothing is needed. */
static WadiProcessor this_processor(void)
{
    return (WadiProcessor){ 0 };
}
#endif

typedef struct Feature {
    const char *name;
    size_t offset; /* of its register in WadiProcessor */
    uint32_t bit;
    uint64_t state; /* bits of saved_state */
} Feature;

#define FEATURE(name, macro, field, bit, state) { name, offsetof(WadiProcessor, field), 1u << (bit), state },
static const Feature features[WADI_PROCESSOR_FEATURE_COUNT] = { WADI_PROCESSOR_FEATURES(FEATURE) };

int wadi_processor_missing(const WadiProcessor *processor, const char *const *needs, char *text, size_t size)
{
    int missing = 0;
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < WADI_PROCESSOR_FEATURE_COUNT; ++i) {
        const Feature *feature = &features[i];
        const uint32_t *bits = (const uint32_t *)(const void *)((const char *)processor + feature->offset);
        bool has = (*bits & feature->bit) != 0 && (processor->saved_state & feature->state) == feature->state;
        if (has || strcmp(needs[i], "1") != 0) {
            continue;
        }
        if (length < size) {
            int added =
                snprintf(text + length, size - length, "%s%s", missing > 0 ? ", " : "", feature->name);
            length += added > 0 ? (size_t)added : 0;
        }
        ++missing;
    }
    return missing;
}

WadiStatus wadi_check_processor(WadiError *error)
{
    char names[512];
    WadiProcessor processor = this_processor();
    if (wadi_processor_missing(&processor, wadi_processor_needs, names, sizeof names) == 0) {
        return WADI_OK;
    }
    if (error != NULL) {
        error->status = WADI_ERR_UNSUPPORTED;
        snprintf(error->text, sizeof error->text,
                 "this build of wadi is for another processor: this one lacks %s. Build it for all "
                 "processors with "
                 "`cmake --preset portable && cmake --build build/portable` (-DWADI_NATIVE=OFF), or use what "
                 "`make install` installs",
                 names);
    }
    return WADI_ERR_UNSUPPORTED;
}
