internal import CVPX

/// Which frame belongs to which temporal layer and what it may refer to. RFC 7741 section 4.2 (TID, Y), RFC 6386
/// section 9.7 (reference frames).
///
///     K 0 0 … 0 1 0 1 0 1 …
///
/// Base frames predict from the last base frame and from a golden frame that the base layer itself refreshes now and
/// then. Frames of layer 1 predict from the last base frame alone and nothing predicts from them: a lost one harms
/// nobody, and a viewer may switch to or from them at any frame. After the first key frame come base frames only for a
/// while, because they repair what its coarse quantizer left, and the repair should stay. Not after later ones: they are
/// asked for where something gets lost, and there frames that nothing depends on are worth more than a sharp picture.
struct TemporalPattern {
  let layers: Int
  /// The place of the next frame: 0 is a key frame, 1 the first one behind the first key frame.
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

  /// Call for each frame that came out of the encoder.
  mutating func advance(isKeyFrame: Bool) {
    guard isKeyFrame else {
      position += 1
      return
    }
    position = hasKeyFrame ? VP8RateControl.baseFramesAfterKey + 1 : 1
    hasKeyFrame = true
  }

  /// Call for each frame that the rate control dropped. The place of a base frame goes to the next frame; that of a frame
  /// of layer 1 is given up, because its layer may stay in debt for seconds while the base layer has none.
  mutating func skip(layer: Int) {
    if layer > 0 { position += 1 }
  }
}
