internal import CVPX

/// Assigns frames to temporal layers and sets their references. RFC 7741 section 4.2 (TID, Y), RFC 6386 section 9.7
/// (reference frames).
///
///     K 0 0 … 0 1 0 1 0 1 …
///
/// Base frames predict from the last base frame and from a golden frame that the base layer itself refreshes
/// periodically. Frames of layer 1 predict only from the last base frame and nothing predicts from them: losing one
/// does no harm, and a viewer may switch layers at any frame. The first key frame is followed by base frames only for a
/// while, because they repair its coarse quantization and the repair should last. Not after later key frames: those are
/// requested when packets get lost, and then discardable frames are worth more than a sharp picture.
struct TemporalPattern {
  let layers: Int
  /// Position of the next frame: 0 is a key frame, 1 the first one after the first key frame.
  private(set) var position = 0
  private var hasKeyFrame = false

  init(layers: Int) {
    self.layers = layers
  }

  struct Step {
    var layer: Int
    var flags: vpx_enc_frame_flags_t
    var isLayerSync: Bool
  }

  /// How the next frame is to be encoded.
  func next(isKeyFrame: Bool) -> Step {
    if isKeyFrame { return Step(layer: 0, flags: cvpx_force_key_frame, isLayerSync: layers > 1) }
    guard layers > 1 else { return Step(layer: 0, flags: 0, isLayerSync: false) }
    if position > VP8RateControl.baseFramesAfterKey, (position - VP8RateControl.baseFramesAfterKey) % 2 == 1 {
      let flags =
        cvpx_no_reference_golden | cvpx_no_reference_altref | cvpx_no_update_last | cvpx_no_update_golden
        | cvpx_no_update_altref | cvpx_no_update_entropy
      return Step(layer: 1, flags: flags, isLayerSync: true)
    }
    let refreshesGolden = position % VP8RateControl.goldenInterval == 0
    let flags =
      cvpx_no_reference_altref | cvpx_no_update_altref
      | (refreshesGolden ? cvpx_force_golden : cvpx_no_update_golden)
    return Step(layer: 0, flags: flags, isLayerSync: false)
  }

  /// Call for each frame that the encoder produced.
  mutating func advance(isKeyFrame: Bool) {
    guard isKeyFrame else {
      position += 1
      return
    }
    position = hasKeyFrame ? VP8RateControl.baseFramesAfterKey + 1 : 1
    hasKeyFrame = true
  }

  /// Call for each frame that the rate control dropped. A base frame's position goes to the next frame; that of a layer
  /// 1 frame is given up, because its layer may stay over budget for seconds while the base layer is not.
  mutating func skip(layer: Int) {
    if layer > 0 { position += 1 }
  }
}
