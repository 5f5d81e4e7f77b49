internal import Frames
internal import Pipelines
internal import Synchronization

/// The event loop's end of the media path: receives the output of the device and encoder threads.
protocol MediaReceiver: AnyObject {
  func send(_ frame: EncodedVideoFrame, fromCamera camera: Int)
  func send(_ packet: EncodedAudioPacket)
  func send(_ sound: ConvertedSound)
  /// The microphone's level was measured.
  func levelMeasured()
  /// Frames of this camera were dropped before packetisation, so receivers cannot notice; only a key frame of each of
  /// these encoders helps.
  func framesDropped(fromCamera camera: Int, of encodings: Set<VideoEncoding>)
}

/// Passes frames from the pipelines' threads to the event loop, one hop each.
///
/// If the loop stalls, frames must not pile up: those beyond `maximumUnderway` are dropped. A frame dropped here has no
/// sequence number yet, so receivers see no gap and would decode what follows against the wrong reference. The bridge
/// therefore drops everything up to the next key frame, and requests one as soon as the loop runs again.
///
/// `@unchecked Sendable` because `receiver` is accessed only on the loop.
final class LoopBridge: @unchecked Sendable {
  private struct Camera {
    /// Encoders of which something is missing since the last key frame.
    var broken: Set<VideoEncoding> = []
    /// `framesDropped` has been scheduled on the loop.
    var isReported = false
    var dropped: UInt64 = 0
  }

  private struct State {
    /// Hops scheduled but not yet run by the loop.
    var underway = 0
    var cameras: [Camera]
  }

  weak var receiver: (any MediaReceiver)?
  private let execute: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let state: Mutex<State>
  private static let maximumUnderway = 64

  /// - Parameter execute: runs a closure on the event loop, later.
  init(cameras: Int, execute: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.execute = execute
    state = Mutex(State(cameras: Array(repeating: Camera(), count: cameras)))
  }

  /// Encoded frames of a camera that never reached the loop.
  func droppedFrames(ofCamera camera: Int) -> UInt64 { state.withLock { $0.cameras[camera].dropped } }

  /// Called with locks held, possibly on the loop itself: it never calls back.
  func video(_ frame: EncodedVideoFrame, camera: Int) {
    enum Verdict { case send, drop, report }
    let verdict = state.withLock { state -> Verdict in
      let hasRoom = state.underway < Self.maximumUnderway
      if hasRoom, frame.isKeyFrame || !state.cameras[camera].broken.contains(frame.encoding) {
        state.underway += 1
        state.cameras[camera].broken.remove(frame.encoding)
        return .send
      }
      state.cameras[camera].dropped += 1
      state.cameras[camera].broken.insert(frame.encoding)
      if hasRoom || state.cameras[camera].isReported { return .drop }
      state.cameras[camera].isReported = true
      return .report
    }
    switch verdict {
    case .send: hop { $0.send(frame, fromCamera: camera) }
    case .drop: break
    case .report:
      execute { [self] in
        let broken = state.withLock { state in
          state.cameras[camera].isReported = false
          return state.cameras[camera].broken
        }
        receiver?.framesDropped(fromCamera: camera, of: broken)
      }
    }
  }

  func audio(_ packet: EncodedAudioPacket) {
    if takePlace() { hop { $0.send(packet) } }
  }

  func converted(_ sound: ConvertedSound) {
    if takePlace() { hop { $0.send(sound) } }
  }

  func levelMeasured() {
    if takePlace() { hop { $0.levelMeasured() } }
  }

  private func takePlace() -> Bool {
    state.withLock { state in
      guard state.underway < Self.maximumUnderway else { return false }
      state.underway += 1
      return true
    }
  }

  private func hop(_ body: @escaping @Sendable (any MediaReceiver) -> Void) {
    execute { [self] in
      state.withLock { $0.underway -= 1 }
      if let receiver { body(receiver) }
    }
  }
}
