internal import Control
public import DeviceNames
public import Devices
internal import Frames
internal import Pipelines
public import Server
internal import Synchronization

/// Talk-back: microphone → Opus → the child's speaker.
public final class Talk: Sendable {
  /// How it ended.
  public enum End: Sendable {
    /// Another parent took the floor.
    case taken(by: String)
    /// The child ended the session.
    case closed
    /// Nobody is heard any more.
    case microphoneLost(DeviceError)
  }

  private let session: ControlSession
  private let microphone: TalkMicrophone

  /// Opens the microphone, then takes the floor and starts sending: a microphone that does not work keeps nobody else from
  /// talking.
  ///
  /// - Parameter force: takes the floor from another parent; needs the permission `admin`.
  /// - Throws: `DeviceError` when there is no sound from the microphone; `ParentError`, `ControlFailure`, or what the system
  ///   throws.
  public static func begin(
    with child: PairedChild, microphone device: AudioDevice, force: Bool, marking: MediaMarking = .interactiveVideo
  ) async throws -> Talk {
    let microphone = TalkMicrophone(device)
    var opened: ControlSession?
    do {
      try await microphone.open()
      let session = try await ControlSession.open(child, speaks: true, marking: marking)
      opened = session
      _ = try await session.perform(TalkAcquire(force: force))
      microphone.send(to: session)
      return Talk(session, microphone)
    } catch {
      microphone.close()
      await opened?.close()
      throw error
    }
  }

  private init(_ session: ControlSession, _ microphone: TalkMicrophone) {
    self.session = session
    self.microphone = microphone
  }

  /// Waits until it ends without the caller's doing. Call once.
  public func ended() async -> End {
    await withTaskGroup(of: End.self) { group in
      group.addTask { await self.interrupted() }
      group.addTask { await self.microphone.lost().map(End.microphoneLost) ?? .closed }
      let first = await group.next() ?? .closed
      group.cancelAll()
      return first
    }
  }

  private func interrupted() async -> End {
    var own: String?
    for await push in session.pushes {
      switch push {
      case .hello(let hello): own = hello.viewer
      case .state(let state):
        if let talk = state.talk, let holder = talk.viewer, holder != own {
          return .taken(by: talk.holder ?? "somebody else")
        }
      default: break
      }
    }
    return .closed
  }

  /// Releases the floor and disconnects.
  public func end() async {
    microphone.close()
    _ = try? await session.perform(TalkRelease())
    await session.close()
  }
}

/// A microphone that is opened before anybody listens. One that fails is not tried again.
private final class TalkMicrophone: Sendable {
  private let pipeline: AudioPipeline
  private let states: AsyncStream<AudioPipeline.MicrophoneState>
  private let listener: Listener

  /// Where its sound goes; nowhere at first.
  private final class Listener: Sendable {
    let session = Mutex<ControlSession?>(nil)
  }

  init(_ device: AudioDevice) {
    let listener = Listener()
    // The oldest are kept: what failed first is the reason.
    let (states, feed) = AsyncStream.makeStream(
      of: AudioPipeline.MicrophoneState.self, bufferingPolicy: .bufferingOldest(8))
    self.listener = listener
    self.states = states
    pipeline = AudioPipeline(
      device: device, deliver: { packet in listener.session.withLock { $0 }?.say(packet) },
      microphoneChanged: { feed.yield($0) })
  }

  /// Returns once it delivers sound.
  func open() async throws {
    pipeline.start()
    for await state in states {
      switch state {
      case .running: return
      case .missing(let error): throw error
      case .off, .opening: break
      }
    }
    throw CancellationError()
  }

  func send(to session: ControlSession) {
    listener.session.withLock { $0 = session }
    pipeline.setDemand(true)
  }

  /// Waits until it fails; nil when the task is cancelled.
  func lost() async -> DeviceError? {
    for await state in states {
      if case .missing(let error) = state { return error }
    }
    return nil
  }

  /// Joins its thread.
  func close() {
    pipeline.stop()
    listener.session.withLock { $0 = nil }
  }
}
