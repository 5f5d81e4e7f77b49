public import Control
internal import Devices
internal import Frames
internal import Monitoring
internal import NIOCore
internal import Pipelines
internal import SDP
internal import Server

// Orders over the session that is watched.
extension Watcher {
  /// Has the child carry out a command. Throws `ControlFailure`; `closed` while there is no link.
  public func perform<Command: ControlCommand>(_ command: Command) async throws -> Command.Reply {
    try await loop.flatSubmit { [self] in
      let promise = loop.makePromise(of: Command.Reply.self)
      if let session {
        session.control.perform(command) { promise.completeWith($0.mapError { $0 }) }
      } else {
        promise.fail(ControlFailure.closed)
      }
      return promise.futureResult
    }.get()
  }

  /// A still of the camera that is streamed, at its own resolution. Throws `ControlFailure`.
  public func screenshot() async throws -> TransferReceiver.Received {
    try await loop.flatSubmit { [self] in
      let promise = loop.makePromise(of: TransferReceiver.Received.self)
      if let session {
        session.control.fetch(ScreenshotTake()) { promise.completeWith($0.mapError { $0 }) }
      } else {
        promise.fail(ControlFailure.closed)
      }
      return promise.futureResult
    }.get()
  }

  /// Takes the floor and sends what the microphone hears, until `stopTalking`. Throws `ControlFailure`.
  public func startTalking() async throws {
    _ = try await perform(TalkAcquire())
    voice?.start()
  }

  /// Stops the microphone and gives the floor back.
  public func stopTalking() async {
    voice?.stop()
    _ = try? await perform(TalkRelease())
  }

  /// Whether there is a microphone to talk with.
  public var canTalk: Bool { voice != nil }

  /// Silences the child's sound; an alarm is heard all the same. From any thread.
  public func setMuted(_ isMuted: Bool) {
    audio.setMuted(isMuted)
  }

  /// What is wrong now is known, and stops ringing. From any thread.
  public func acknowledge() {
    loop.execute { self.alarm.acknowledge() }
  }

  /// Rings as an alarm would, for half a minute. From any thread.
  public func testAlarm() {
    loop.execute { self.alarm.test() }
  }

  /// On the microphone's thread.
  func say(_ packet: EncodedAudioPacket) {
    loop.execute {
      self.hub.send(
        [packet.data], kind: .audio, mediaTime: UInt32(truncatingIfNeeded: packet.samplePosition),
        captureTime: packet.captureTime)
    }
  }

  /// On one of the speaker's threads.
  func speakerChanged(_ state: SpeakerSupervisor.State) {
    let isFaulty = if case .missing = state { true } else { false }
    loop.execute { self.alarm.note(.ownSound(isFaulty: isFaulty)) }
  }
}
