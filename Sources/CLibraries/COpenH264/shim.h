// OpenH264. Its calls go through tables of functions, which stand here as functions.
#pragma once

#include <stdbool.h>
#include <string.h>
#include <wels/codec_api.h>

/// Of the encoder, with its own defaults. No text goes to standard error.
static inline int copenh264_encoder_defaults(ISVCEncoder *encoder, SEncParamExt *parameters) {
  int quiet = WELS_LOG_QUIET;
  (*encoder)->SetOption(encoder, ENCODER_OPTION_TRACE_LEVEL, &quiet);
  return (*encoder)->GetDefaultParams(encoder, parameters);
}

static inline int copenh264_encoder_start(ISVCEncoder *encoder, const SEncParamExt *parameters) {
  return (*encoder)->InitializeExt(encoder, parameters);
}

static inline void copenh264_encoder_destroy(ISVCEncoder *encoder) {
  (*encoder)->Uninitialize(encoder);
  WelsDestroySVCEncoder(encoder);
}

static inline int copenh264_encode(ISVCEncoder *encoder, const SSourcePicture *picture, SFrameBSInfo *output) {
  return (*encoder)->EncodeFrame(encoder, picture, output);
}

/// In C++ the function has a third parameter, the layer, which the table of version 2.3 leaves out; -1: all of them.
static inline int copenh264_force_key_frame(ISVCEncoder *encoder) {
  int (*force)(ISVCEncoder *, bool, int) = (int (*)(ISVCEncoder *, bool, int))(*encoder)->ForceIntraFrame;
  return force(encoder, true, -1);
}

/// Bits a second of all layers.
static inline int copenh264_set_bitrate(ISVCEncoder *encoder, int rate) {
  SBitrateInfo info = {SPATIAL_LAYER_ALL, rate};
  return (*encoder)->SetOption(encoder, ENCODER_OPTION_BITRATE, &info);
}

static inline int copenh264_set_frame_rate(ISVCEncoder *encoder, float rate) {
  return (*encoder)->SetOption(encoder, ENCODER_OPTION_FRAME_RATE, &rate);
}

static inline long copenh264_decoder_start(ISVCDecoder *decoder) {
  int quiet = WELS_LOG_QUIET;
  (*decoder)->SetOption(decoder, DECODER_OPTION_TRACE_LEVEL, &quiet);
  SDecodingParam parameters;
  memset(&parameters, 0, sizeof(parameters));
  parameters.eEcActiveIdc = ERROR_CON_DISABLE;
  parameters.sVideoProperty.size = sizeof(parameters.sVideoProperty);
  parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC;
  return (*decoder)->Initialize(decoder, &parameters);
}

static inline void copenh264_decoder_destroy(ISVCDecoder *decoder) {
  (*decoder)->Uninitialize(decoder);
  WelsDestroyDecoder(decoder);
}

/// One picture in the format of annex B. `planes` are the decoder's own, until its next call.
static inline DECODING_STATE copenh264_decode(
    ISVCDecoder *decoder, const unsigned char *data, int count, unsigned char **planes, SBufferInfo *output) {
  memset(output, 0, sizeof(*output));
  return (*decoder)->DecodeFrameNoDelay(decoder, data, count, planes, output);
}

// Fields of a union and arrays of C, which Swift has as tuples.
static inline SSysMEMBuffer copenh264_buffer(const SBufferInfo *output) { return output->UsrData.sSystemBuffer; }
static inline const SLayerBSInfo *copenh264_layer(const SFrameBSInfo *output, int index) {
  return &output->sLayerInfo[index];
}
