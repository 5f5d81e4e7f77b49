// libvpx, VP8 only. Macros and variadic functions that Swift cannot import stand here as functions.
#pragma once

#include <vpx/vp8cx.h>
#include <vpx/vp8dx.h>
#include <vpx/vpx_codec.h>
#include <vpx/vpx_decoder.h>
#include <vpx/vpx_encoder.h>

/// vpx_codec_enc_init of these headers' ABI version.
static inline vpx_codec_err_t cvpx_vp8_encoder_init(vpx_codec_ctx_t *context, const vpx_codec_enc_cfg_t *configuration) {
  return vpx_codec_enc_init_ver(context, vpx_codec_vp8_cx(), configuration, 0, VPX_ENCODER_ABI_VERSION);
}

static inline vpx_codec_err_t cvpx_vp8_encoder_defaults(vpx_codec_enc_cfg_t *configuration) {
  return vpx_codec_enc_config_default(vpx_codec_vp8_cx(), configuration, 0);
}

/// vpx_codec_dec_init of these headers' ABI version.
static inline vpx_codec_err_t cvpx_vp8_decoder_init(vpx_codec_ctx_t *context, const vpx_codec_dec_cfg_t *configuration) {
  return vpx_codec_dec_init_ver(context, vpx_codec_vp8_dx(), configuration, 0, VPX_DECODER_ABI_VERSION);
}

/// A control whose argument is an int or an unsigned int: all VP8E_SET_ controls that we use.
static inline vpx_codec_err_t cvpx_set(vpx_codec_ctx_t *context, int control, int value) {
  return vpx_codec_control_(context, control, value);
}

// The flags are macros over casts or long values, which Swift drops or imports with other types.
static const vpx_enc_frame_flags_t cvpx_force_key_frame = VPX_EFLAG_FORCE_KF;
static const vpx_enc_frame_flags_t cvpx_no_reference_last = VP8_EFLAG_NO_REF_LAST;
static const vpx_enc_frame_flags_t cvpx_no_reference_golden = VP8_EFLAG_NO_REF_GF;
static const vpx_enc_frame_flags_t cvpx_no_reference_altref = VP8_EFLAG_NO_REF_ARF;
static const vpx_enc_frame_flags_t cvpx_no_update_last = VP8_EFLAG_NO_UPD_LAST;
static const vpx_enc_frame_flags_t cvpx_no_update_golden = VP8_EFLAG_NO_UPD_GF;
static const vpx_enc_frame_flags_t cvpx_no_update_altref = VP8_EFLAG_NO_UPD_ARF;
static const vpx_enc_frame_flags_t cvpx_force_golden = VP8_EFLAG_FORCE_GF;
static const vpx_enc_frame_flags_t cvpx_force_altref = VP8_EFLAG_FORCE_ARF;
static const vpx_enc_frame_flags_t cvpx_no_update_entropy = VP8_EFLAG_NO_UPD_ENTROPY;
static const unsigned long cvpx_deadline_realtime = VPX_DL_REALTIME;
static const unsigned int cvpx_packet_is_key = VPX_FRAME_IS_KEY;
