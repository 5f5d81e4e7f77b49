// ALSA: capture and the list of sound devices. What is variadic stands here as a function.
#pragma once

#include <alsa/asoundlib.h>

static inline void calsa_ignore_message(
    const char *file, int line, const char *function, int error, const char *format, ...) {
  (void)file, (void)line, (void)function, (void)error, (void)format;
}

/// The library writes every failed attempt to standard error; errors are returned as well, so nothing is lost.
static inline void calsa_silence_messages(void) {
  snd_lib_error_set_handler(calsa_ignore_message);
}
