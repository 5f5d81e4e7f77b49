// The files of Sources/Web/Pages, compiled into the program.
#pragma once
#include <stddef.h>

struct web_page {
  /// From Sources/Web/Pages: `core/pairing.js`.
  const char *path;
  const unsigned char *start;
  const unsigned char *end;
};

size_t web_page_count(void);
/// \param index below `web_page_count()`.
struct web_page web_page_at(size_t index);
