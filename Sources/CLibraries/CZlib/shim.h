// zlib. Its initializers are macros, which Swift cannot call.
#pragma once

#include <zlib.h>

/// Writes `source` in the gzip format (RFC 1952). The size of what was written; 0 if `capacity` is too small or there is no
/// memory.
static inline size_t czlib_gzip(const unsigned char *source, size_t count, unsigned char *target, size_t capacity) {
  z_stream stream = {0};
  // 16 above the largest window: a gzip header instead of zlib's.
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
  stream.next_in = (unsigned char *)source;
  stream.avail_in = (unsigned int)count;
  stream.next_out = target;
  stream.avail_out = (unsigned int)capacity;
  size_t written = deflate(&stream, Z_FINISH) == Z_STREAM_END ? stream.total_out : 0;
  deflateEnd(&stream);
  return written;
}
