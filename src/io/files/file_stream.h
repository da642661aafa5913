/* The part of files.c that bypasses the page cache. All functions return 0 or the errno. */
#ifndef WADI_IO_FILE_STREAM_H
#define WADI_IO_FILE_STREAM_H

#include "io/files/files.h"

int wadi_file_stream_put(WadiFileWriter *writer, const void *bytes, size_t size, uint64_t offset);
/* Writes everything that was put and ends the stream. */
int wadi_file_stream_finish(WadiFileWriter *writer);
/* Ends the stream without writing what is still gathered. */
void wadi_file_stream_end(WadiFileWriter *writer);

#endif
