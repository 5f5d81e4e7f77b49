// Assembled with .incbin instead of listed as a Swift resource (embedInCode): 100 KB as an array literal take the Swift
// compiler 16 s, and Swift 6.2's clang has no #embed. SwiftPM does not see that a page has changed; `make build` and
// `make test` do, and a project test compares what is compiled in with the files.
#include "include/web_pages.h"

// PAGE(symbol, path)
#include "web_pages.def"

#define PAGE(symbol, path)                                                                                    \
  __asm__(".section .rodata.web_pages,\"a\",%progbits\n"                                                      \
          ".globl web_page_" #symbol "_start\n.hidden web_page_" #symbol "_start\n"                           \
          ".globl web_page_" #symbol "_end\n.hidden web_page_" #symbol "_end\n"                               \
          "web_page_" #symbol "_start:\n.incbin \"" path "\"\nweb_page_" #symbol "_end:\n.previous\n");       \
  extern const unsigned char web_page_##symbol##_start[], web_page_##symbol##_end[];
WEB_PAGES(PAGE)
#undef PAGE

static const struct web_page pages[] = {
#define PAGE(symbol, path) {path, web_page_##symbol##_start, web_page_##symbol##_end},
    WEB_PAGES(PAGE)
#undef PAGE
};

size_t web_page_count(void) { return sizeof pages / sizeof pages[0]; }

struct web_page web_page_at(size_t index) { return pages[index]; }
