/* The instructions the library was compiled for: data only, in a file with the flags of all others. */
#include "core/machine/processor.h"

#define TEXT(macro) #macro
#define NEED(name, macro, ...) TEXT(macro),

const char *const wadi_processor_needs[WADI_PROCESSOR_FEATURE_COUNT] = { WADI_PROCESSOR_FEATURES(NEED) };
