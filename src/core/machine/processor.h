/* Which instructions the library was compiled for, and whether a processor has them. */
#ifndef WADI_CORE_PROCESSOR_H
#define WADI_CORE_PROCESSOR_H

#include <stddef.h>
#include <stdint.h>

/* Results of cpuid and xgetbv, as far as the features below need them. */
typedef struct WadiProcessor {
    uint32_t leaf_1_ecx, leaf_7_ebx, leaf_7_ecx, leaf_7_edx, leaf_7_1_eax, extended_1_ecx;
    uint64_t saved_state; /* XCR0: the registers that the operating system saves for each process */
} WadiProcessor;

/* Bits of `saved_state` that a feature needs. */
#define WADI_STATE_AVX 0x06u
#define WADI_STATE_AVX512 0xE6u

/* X(name, macro of the compiler, register, bit, bits of saved_state): what a compiler may use by itself. */
#define WADI_PROCESSOR_FEATURES(X)                                                                           \
    X("SSE3", __SSE3__, leaf_1_ecx, 0, 0)                                                                    \
    X("SSSE3", __SSSE3__, leaf_1_ecx, 9, 0)                                                                  \
    X("SSE4.1", __SSE4_1__, leaf_1_ecx, 19, 0)                                                               \
    X("SSE4.2", __SSE4_2__, leaf_1_ecx, 20, 0)                                                               \
    X("SSE4a", __SSE4A__, extended_1_ecx, 6, 0)                                                              \
    X("CMPXCHG16B", __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16, leaf_1_ecx, 13, 0)                                  \
    X("POPCNT", __POPCNT__, leaf_1_ecx, 23, 0)                                                               \
    X("MOVBE", __MOVBE__, leaf_1_ecx, 22, 0)                                                                 \
    X("AVX", __AVX__, leaf_1_ecx, 28, WADI_STATE_AVX)                                                        \
    X("F16C", __F16C__, leaf_1_ecx, 29, WADI_STATE_AVX)                                                      \
    X("FMA", __FMA__, leaf_1_ecx, 12, WADI_STATE_AVX)                                                        \
    X("FMA4", __FMA4__, extended_1_ecx, 16, WADI_STATE_AVX)                                                  \
    X("XOP", __XOP__, extended_1_ecx, 11, WADI_STATE_AVX)                                                    \
    X("AVX2", __AVX2__, leaf_7_ebx, 5, WADI_STATE_AVX)                                                       \
    X("BMI", __BMI__, leaf_7_ebx, 3, 0)                                                                      \
    X("BMI2", __BMI2__, leaf_7_ebx, 8, 0)                                                                    \
    X("TBM", __TBM__, extended_1_ecx, 21, 0)                                                                 \
    X("LZCNT", __LZCNT__, extended_1_ecx, 5, 0)                                                              \
    X("ADX", __ADX__, leaf_7_ebx, 19, 0)                                                                     \
    X("GFNI", __GFNI__, leaf_7_ecx, 8, 0)                                                                    \
    X("AVX-VNNI", __AVXVNNI__, leaf_7_1_eax, 4, WADI_STATE_AVX)                                              \
    X("AVX512F", __AVX512F__, leaf_7_ebx, 16, WADI_STATE_AVX512)                                             \
    X("AVX512DQ", __AVX512DQ__, leaf_7_ebx, 17, WADI_STATE_AVX512)                                           \
    X("AVX512IFMA", __AVX512IFMA__, leaf_7_ebx, 21, WADI_STATE_AVX512)                                       \
    X("AVX512CD", __AVX512CD__, leaf_7_ebx, 28, WADI_STATE_AVX512)                                           \
    X("AVX512BW", __AVX512BW__, leaf_7_ebx, 30, WADI_STATE_AVX512)                                           \
    X("AVX512VL", __AVX512VL__, leaf_7_ebx, 31, WADI_STATE_AVX512)                                           \
    X("AVX512VBMI", __AVX512VBMI__, leaf_7_ecx, 1, WADI_STATE_AVX512)                                        \
    X("AVX512VBMI2", __AVX512VBMI2__, leaf_7_ecx, 6, WADI_STATE_AVX512)                                      \
    X("AVX512VNNI", __AVX512VNNI__, leaf_7_ecx, 11, WADI_STATE_AVX512)                                       \
    X("AVX512BITALG", __AVX512BITALG__, leaf_7_ecx, 12, WADI_STATE_AVX512)                                   \
    X("AVX512VPOPCNTDQ", __AVX512VPOPCNTDQ__, leaf_7_ecx, 14, WADI_STATE_AVX512)                             \
    X("AVX512FP16", __AVX512FP16__, leaf_7_edx, 23, WADI_STATE_AVX512)                                       \
    X("AVX512BF16", __AVX512BF16__, leaf_7_1_eax, 5, WADI_STATE_AVX512)

#define WADI_COUNT_FEATURE(...) +1
enum { WADI_PROCESSOR_FEATURE_COUNT = 0 WADI_PROCESSOR_FEATURES(WADI_COUNT_FEATURE) };

/* "1" for each feature, in the order above, that the library was compiled for; another text for the
 * others. */
extern const char *const wadi_processor_needs[WADI_PROCESSOR_FEATURE_COUNT];

/* Writes the names of the features in `needs` that `processor` lacks as "AVX, AVX2"; returns their number. */
int wadi_processor_missing(const WadiProcessor *processor, const char *const *needs, char *text, size_t size);

#endif
