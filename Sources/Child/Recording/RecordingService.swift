internal import Codecs
internal import Control
internal import DeviceNames
internal import Frames
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Pairing
internal import Pipelines
internal import Server
internal import Storage
internal import Wire

/// Records the first camera and the microphone as they are encoded anyway: always, by hand, or when something happens.
///
/// `@unchecked Sendable` because it is confined to the event loop; the recorder's thread only uses what is immutable.
final class RecordingService: @unchecked Sendable {
  private enum State {
    case idle
    /// `until` nil: until it is stopped.
    case recording(PartRecorder, until: Instant?)
    /// It could not go on; it is tried again.
    case paused(since: Instant, until: Instant?)
  }

  private let settings: ChildConfiguration.Recording
  private let viewers: Viewers
  /// Nil when it cannot be used, with the reason in `trouble`.
  private let folder: RecordingFolder?
  private let trouble: String?
  private let logger: Logger
  private let hasVideo: Bool
  private let hasAudio: Bool
  private let camera: String
  private var state = State.idle
  /// From the first failure until a part begins again.
  private var pausedReason: String?
  private var preRoll: PreRoll?
  private var nextKeyFrame = MonotonicClock.now
  /// What is older than this date by `keep` is removed. Called on any thread.
  private let date: @Sendable () -> UnixTime
  /// Reports what happens to a recording.
  var note: (EventKind, _ detail: String?) -> Void = { _, _ in }

  /// Recorded before an event.
  private static let before: Duration = .seconds(15)
  /// Recorded after the last event.
  private static let after: Duration = .seconds(60)
  /// A pause ends when there is room again.
  private static let retryInterval: Duration = .seconds(30)
  /// Players seek to key frames, parts begin with one, and the time before an event does.
  private static let keyFrameInterval: Duration = .seconds(5)

  init(
    _ settings: ChildConfiguration.Recording, cameras: [ChildConfiguration.Camera], microphone: AudioDevice,
    viewers: Viewers, in directory: StateDirectory, date: @escaping @Sendable () -> UnixTime, logger: Logger
  ) {
    self.date = date
    self.settings = settings
    self.viewers = viewers
    self.logger = logger
    hasVideo = !cameras.isEmpty
    hasAudio = microphone != .off
    camera = cameras.first?.id ?? "sound"
    guard settings.mode != .off else {
      folder = nil
      trouble = "recording is off: set `record: {mode: events}` in child.yaml"
      return
    }
    do throws(FileError) {
      let path = if let own = settings.folder { own } else { try directory.subdirectory("recordings") }
      let folder = RecordingFolder(path: path)
      try folder.check()
      self.folder = folder
      trouble = nil
    } catch {
      logger.error("nothing is recorded", metadata: ["reason": "\(error)"])
      folder = nil
      trouble = "nothing can be recorded: \(error)"
    }
  }

  /// Begins what the mode asks for.
  func start() {
    guard folder != nil else {
      if settings.mode != .off { note(.recordingPaused, trouble) }
      return
    }
    if settings.mode == .events {
      preRoll = PreRoll(span: Self.before, hasVideo: hasVideo)
      viewers.setRecording(true)
    } else {
      begin(until: nil, because: "always")
    }
  }

  /// Ends the recording.
  /// - Returns: what waits until it is on disk.
  func stop() -> [@Sendable () -> Void] {
    defer {
      state = .idle
      preRoll = nil
    }
    guard case .recording(let recorder, _) = state else { return [] }
    return [{ recorder.finish() }]
  }

  // MARK: Orders

  /// By hand, until `end`.
  /// - Parameter name: whose; nil: at the child itself.
  /// - Throws: `ControlError` with what to do.
  func begin(by name: String?) throws(ControlError) {
    guard folder != nil else { throw ControlError(.unavailable, trouble ?? "") }
    begin(until: nil, because: name.map { "by \($0)" } ?? "by hand")
  }

  /// By hand. What `always` records goes on.
  func end() throws(ControlError) {
    guard settings.mode != .always else {
      throw ControlError(.unavailable, "The camera always records: `record: {mode: always}` in child.yaml.")
    }
    finish()
  }

  /// Something has happened.
  func heard(_ kind: EventKind) {
    guard settings.mode == .events, folder != nil, settings.events.contains(kind) else { return }
    let until = MonotonicClock.now + Self.after
    switch state {
    case .idle: begin(until: until, because: kind.rawValue)
    case .recording(let recorder, let old): state = .recording(recorder, until: old.map { max($0, until) })
    case .paused(let since, let old):
      state = .paused(since: since, until: old.map { max($0, until) })
    }
  }

  private func begin(until: Instant?, because reason: String) {
    switch state {
    case .recording(let recorder, _): state = .recording(recorder, until: until)
    case .paused(let since, _): state = .paused(since: since, until: until)
    case .idle:
      open(until: until)
      note(.recordingStarted, reason)
    }
  }

  private func finish() {
    switch state {
    case .idle: return
    case .recording(let recorder, _): recorder.end()
    case .paused: break
    }
    state = .idle
    pausedReason = nil
    viewers.setRecording(preRoll != nil)
    note(.recordingStopped, nil)
  }

  private func open(until: Instant?) {
    guard let folder else { return }
    let (settings, camera) = (settings, camera)
    let reserve = settings.reserveBytes
    let loop = viewers.hub.eventLoop
    let date = date
    let openPart: @Sendable (Int64) throws(WebMError) -> String = { begin throws(WebMError) in
      let hasRoom: Bool
      do throws(FileError) {
        hasRoom = try folder.makeRoom(
          seconds: settings.keepSeconds, bytes: settings.maximumBytes - settings.maximumPartBytes, reserve: reserve,
          now: date().seconds)
      } catch {
        throw .io(operation: error.operation + " " + error.path, errno: error.code)
      }
      guard hasRoom else { throw .diskFull }
      loop.execute { self.opened() }
      return folder.newPath(time: begin / 1_000_000_000, camera: camera)
    }
    let recorder = PartRecorder(
      .init(
        hasVideo: hasVideo, hasAudio: hasAudio, partLength: .seconds(settings.partSeconds),
        partBytes: settings.maximumPartBytes), openPart: openPart,
      failed: { error in loop.execute { self.failed("\(error)") } })
    if let items = preRoll?.takeAll(), !items.isEmpty { recorder.begin(with: items) }
    state = .recording(recorder, until: until)
    viewers.setRecording(true)
  }

  private func failed(_ reason: String) {
    guard case .recording(let recorder, let until) = state, !recorder.isRecording else { return }
    state = .paused(since: MonotonicClock.now, until: until)
    // Quiet while each new try ends like this, so that the log holds one pause.
    if pausedReason == nil {
      logger.error("recording pauses", metadata: ["reason": "\(reason)"])
      note(.recordingPaused, reason)
    }
    pausedReason = reason
  }

  private func opened() {
    guard pausedReason != nil else { return }
    pausedReason = nil
    note(.recordingStarted, "there is room again")
  }

  // MARK: From the viewers

  func take(_ item: EncodedMedia) {
    if case .recording(let recorder, _) = state {
      if !recorder.write(item) { viewers.cameras.first?.pipeline.requestKeyFrame() }
    } else {
      preRoll?.add(item)
    }
  }

  /// Runs each second.
  func beat() {
    let now = MonotonicClock.now
    switch state {
    case .idle:
      if preRoll == nil { return }
    case .recording(_, let until):
      if until.isDue(at: now) { return finish() }
    case .paused(let since, let until):
      if until.isDue(at: now) { return finish() }
      if now - since >= Self.retryInterval { open(until: until) }
    }
    if now >= nextKeyFrame {
      nextKeyFrame = now + Self.keyFrameInterval
      viewers.cameras.first?.pipeline.requestKeyFrame()
    }
  }

  // MARK: For people

  /// Fails never; what cannot be listed is left out.
  func list() -> EventLoopFuture<RecordingList> {
    let list = document
    guard let folder else { return viewers.hub.eventLoop.makeSucceededFuture(list) }
    return NIOThreadPool.singleton.runIfActive(eventLoop: viewers.hub.eventLoop) {
      var list = list
      list.recordings = ((try? folder.parts()) ?? []).map { part in
        RecordingList.Row(id: part.id, time: UnixTime(seconds: part.time).date, bytes: part.bytes)
      }
      return list
    }
  }

  /// `recordings.list`. Parts that begin or end between the two; nil: no limit.
  func list(from: Double?, to: Double?) -> EventLoopFuture<RecordingsDocument> {
    let list = document
    let document = RecordingsDocument(mode: list.mode, state: list.state, reason: list.reason, parts: [])
    let loop = viewers.hub.eventLoop
    guard let folder else { return loop.makeSucceededFuture(document) }
    return NIOThreadPool.singleton.runIfActive(eventLoop: loop) { [document] in
      do throws(FileError) {
        var document = document
        document.parts = try folder.parts().compactMap { part in
          let (begin, seconds) = (Double(part.time), Double(part.seconds))
          guard begin <= to ?? .infinity, begin + seconds >= from ?? -.infinity else { return nil }
          return RecordingsDocument.Part(id: part.id, time: begin, seconds: seconds, bytes: part.bytes)
        }
        return document
      } catch {
        throw ControlError(.unavailable, "The recordings cannot be listed: \(error)")
      }
    }
  }

  /// `recordings.read`. Fails with `ControlError`.
  func read(_ id: String, from offset: Int) -> EventLoopFuture<(bytes: [UInt8], total: Int)> {
    let loop = viewers.hub.eventLoop
    guard let folder else { return loop.makeFailedFuture(ControlError(.unavailable, trouble ?? "")) }
    return NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
      let piece: (bytes: [UInt8], total: Int)?
      do throws(FileError) {
        piece = try folder.read(id: id, from: offset, count: ControlLimits.recordingPieceBytes)
      } catch {
        throw ControlError(.unavailable, "The recording cannot be read: \(error)")
      }
      guard let piece else {
        throw ControlError(.badParameters, "No recording called \"\(id)\". It may have been removed.")
      }
      guard !piece.bytes.isEmpty else {
        throw ControlError.badParameter("offset", "is not before the end, \(piece.total)")
      }
      return piece
    }
  }

  /// Why nothing is recorded that should be; nil while all is well.
  var alarm: String? {
    if case .paused = state { return "Recording is paused: \(pausedReason ?? "the camera tries again")" }
    return isConfigured && folder == nil ? trouble.map { "Recording: \($0)" } : nil
  }

  /// Whether recording is wanted at all.
  var isConfigured: Bool { settings.mode != .off }

  private var document: RecordingList {
    var list = RecordingList(mode: settings.mode.rawValue, state: "idle", folder: folder?.path, recordings: [])
    switch state {
    case .idle: list.reason = trouble
    case .recording: list.state = "recording"
    case .paused:
      list.state = "paused"
      list.reason = pausedReason
    }
    return list
  }
}
