internal import Codecs
internal import Control
public import DeviceNames
public import Devices
internal import Pipelines
public import Server
internal import Synchronization

/// Talk-back: microphone → Opus → the child's speaker.
public final class Talk: Sendable {
  private let session: ControlSession
  private let microphone: AudioPipeline

  /// Takes the floor and starts sending.
  ///
  /// - Parameters:
  ///   - force: takes the floor from another parent; needs the permission `admin`.
  ///   - microphoneMissing: called on the microphone's thread when it cannot be opened; it is retried automatically.
  /// - Throws: `ParentError`, `ControlFailure`, or what the system throws.
  public static func begin(
    with child: PairedChild, microphone device: AudioDevice, force: Bool,
    marking: MediaMarking = .interactiveVideo,
    microphoneMissing: @escaping @Sendable (DeviceError) -> Void
  ) async throws -> Talk {
    let session = try await ControlSession.open(child, speaks: true, marking: marking)
    do {
      _ = try await session.perform(.talkAcquire(force: force))
    } catch {
      await session.close()
      throw error
    }
    return Talk(session, device, microphoneMissing)
  }

  private init(
    _ session: ControlSession, _ device: AudioDevice, _ microphoneMissing: @escaping @Sendable (DeviceError) -> Void
  ) {
    self.session = session
    microphone = AudioPipeline(device: device, deliver: session.say) { state in
      if case .missing(let error) = state { microphoneMissing(error) }
    }
    microphone.setDemand(true)
    microphone.start()
  }

  /// RMS of the last 200 ms, dB below full scale.
  public var levelDb: Double { microphone.counters.levelDb }

  /// Waits until another parent takes the floor and returns that parent's name; nil when the child ends the session.
  public func interrupted() async -> String? {
    var own: String?
    for await push in session.pushes {
      switch push {
      case .hello(let hello): own = hello.viewer
      case .state(let state):
        if let talk = state.talk, let holder = talk.viewer, holder != own { return talk.holder ?? "somebody else" }
      default: break
      }
    }
    return nil
  }

  /// Releases the floor and disconnects.
  public func end() async {
    microphone.stop()
    _ = try? await session.perform(.talkRelease)
    await session.close()
  }
}
