/// From the decoder's thread to the watcher that owns the decoder.
final class KeyFrameRequest: @unchecked Sendable {
  /// Set once, before the decoder starts.
  weak var watcher: Watcher?

  func send() {
    watcher?.decoderFailed()
  }
}
