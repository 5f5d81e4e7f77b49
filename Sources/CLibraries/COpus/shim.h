// libopus. Its ctl functions are variadic, which Swift cannot call.
#pragma once

#include <opus/opus.h>

/// One of the OPUS_SET_ requests, all of which take an opus_int32.
static inline int copus_encoder_set(OpusEncoder *encoder, int request, opus_int32 value) {
  return opus_encoder_ctl(encoder, request, value);
}

/// One of the OPUS_GET_ requests.
static inline int copus_encoder_get(OpusEncoder *encoder, int request, opus_int32 *value) {
  return opus_encoder_ctl(encoder, request, value);
}
