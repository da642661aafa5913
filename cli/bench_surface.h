#ifndef WADI_CLI_BENCH_SURFACE_H
#define WADI_CLI_BENCH_SURFACE_H

#include "bench.h"
#include "commands.h"

/* Runs the cases [first, end) of `bench` and prints them; --frames is the number of rounds. Returns the exit
 * code. */
int wadi_bench_surface(const WadiCliArgs *args, const WadiBench *bench, int first, int end);

#endif
