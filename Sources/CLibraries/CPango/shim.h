// Pango and Cairo: lines of text as pixels, in every script that the machine has a font for.
//
// The libraries are loaded with the window, as SDL2 is. Their headers are not used: GLib's are found by pkg-config alone, whose flags
// would link all of them into every program. What is declared here is Pango's and Cairo's stable interface
// (docs.gtk.org/PangoCairo, cairographics.org/manual).
#pragma once

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#pragma clang assume_nonnull begin

/// Result, name, parameters. Objects are opaque.
#define CPANGO_FUNCTIONS(each) \
  each(void *, cairo_image_surface_create, (int format, int width, int height)) \
  each(unsigned char *_Nullable, cairo_image_surface_get_data, (void *surface)) \
  each(int, cairo_image_surface_get_stride, (void *surface)) \
  each(void, cairo_surface_flush, (void *surface)) \
  each(void, cairo_surface_destroy, (void *surface)) \
  each(void *, cairo_create, (void *surface)) \
  each(void, cairo_set_source_rgb, (void *context, double red, double green, double blue)) \
  each(void, cairo_destroy, (void *context)) \
  each(void *, pango_cairo_create_layout, (void *context)) \
  each(void, pango_cairo_show_layout, (void *context, void *layout)) \
  each(void *, pango_font_description_from_string, (const char *text)) \
  each(void, pango_font_description_set_absolute_size, (void *description, double size)) \
  each(void, pango_font_description_free, (void *description)) \
  each(void, pango_layout_set_font_description, (void *layout, void *description)) \
  each(void, pango_layout_set_text, (void *layout, const char *text, int length)) \
  each(void, pango_layout_set_width, (void *layout, int width)) \
  each(void, pango_layout_set_wrap, (void *layout, int mode)) \
  each(void, pango_layout_set_alignment, (void *layout, int alignment)) \
  each(void, pango_layout_get_pixel_size, (void *layout, int *width, int *height)) \
  each(void, g_object_unref, (void *object))

struct cpango_library {
#define CPANGO_FIELD(result, name, parameters) result (*name) parameters;
  CPANGO_FUNCTIONS(CPANGO_FIELD)
#undef CPANGO_FIELD
};

/// Pango and Cairo for the rest of the process, or NULL where they are not installed (dlerror(3) says more).
static inline const struct cpango_library *_Nullable cpango_load(void) {
  // Its symbols are found with those of what it needs: Pango, Cairo, GObject.
  void *_Nullable found = dlopen("libpangocairo-1.0.so.0", RTLD_NOW | RTLD_LOCAL);
  struct cpango_library *_Nullable library = malloc(sizeof *library);
  if (!found || !library) return NULL;
#define CPANGO_FIND(result, name, parameters) \
  if (!(library->name = (result (*) parameters)dlsym(found, #name))) return NULL;
  CPANGO_FUNCTIONS(CPANGO_FIND)
#undef CPANGO_FIND
  return library;
}

/// Draws white text with the desktop's sans-serif font. Returns `*width` x `*height` pixels, 0xAARRGGBB, colours not multiplied by alpha, which
/// the caller frees; NULL when there is nothing to draw, or no memory.
///
/// - size: of the font, pixels. room: where lines break, pixels; negative: they do not.
static inline uint32_t *_Nullable cpango_draw(
    const struct cpango_library *library, const char *text, double size, int is_bold, int room, int is_centred, int *width, int *height) {
  enum { ARGB32 = 0, WORD_CHAR = 2, CENTRED = 1, UNITS = 1024, MOST = 8192 };
  void *nothing = library->cairo_image_surface_create(ARGB32, 1, 1);
  void *context = library->cairo_create(nothing);
  void *layout = library->pango_cairo_create_layout(context);
  void *font = library->pango_font_description_from_string(is_bold ? "sans-serif bold" : "sans-serif");
  library->pango_font_description_set_absolute_size(font, size * UNITS);
  library->pango_layout_set_font_description(layout, font);
  library->pango_font_description_free(font);
  library->pango_layout_set_text(layout, text, -1);
  if (room >= 0) {
    library->pango_layout_set_width(layout, room * UNITS);
    library->pango_layout_set_wrap(layout, WORD_CHAR);
  }
  if (is_centred) library->pango_layout_set_alignment(layout, CENTRED);
  library->pango_layout_get_pixel_size(layout, width, height);
  library->cairo_destroy(context);
  library->cairo_surface_destroy(nothing);
  // A broken line is as wide as its room, so that what is centred is.
  if (room >= 0) *width = room;
  // What is larger than every screen is cut.
  if (*width > MOST) *width = MOST;
  if (*height > MOST) *height = MOST;

  uint32_t *_Nullable pixels = NULL;
  if (*width > 0 && *height > 0) {
    void *surface = library->cairo_image_surface_create(ARGB32, *width, *height);
    context = library->cairo_create(surface);
    library->cairo_set_source_rgb(context, 1, 1, 1);
    library->pango_cairo_show_layout(context, layout);
    library->cairo_surface_flush(surface);
    const unsigned char *_Nullable data = library->cairo_image_surface_get_data(surface);
    const int stride = library->cairo_image_surface_get_stride(surface);
    if (data) pixels = malloc((size_t)*width * (size_t)*height * sizeof *pixels);
    for (int row = 0; pixels && row < *height; row++) {
      const uint32_t *from = (const uint32_t *)(const void *)(data + (size_t)row * (size_t)stride);
      for (int column = 0; column < *width; column++) {
        const uint32_t pixel = from[column], alpha = pixel >> 24;
        uint32_t straight = alpha << 24;
        for (int shift = 0; alpha && shift < 24; shift += 8) straight |= (pixel >> shift & 255) * 255 / alpha << shift;
        pixels[(size_t)row * (size_t)*width + (size_t)column] = straight;
      }
    }
    library->cairo_destroy(context);
    library->cairo_surface_destroy(surface);
  }
  library->g_object_unref(layout);
  return pixels;
}

#pragma clang assume_nonnull end
