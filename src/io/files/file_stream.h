/* The part of files.c that writes past the page cache. All return 0 or the errno. */
#ifndef WADI_IO_FILE_STREAM_H
#define WADI_IO_FILE_STREAM_H

#include "io/files/files.h"

int wadi_file_stream_put(WadiFileWriter *writer, const void *bytes, size_t size, uint64_t offset);
/* All that was put is written; the stream ends. */
int wadi_file_stream_finish(WadiFileWriter *writer);
/* Ends it, whatever it still holds. */
void wadi_file_stream_end(WadiFileWriter *writer);

#endif
