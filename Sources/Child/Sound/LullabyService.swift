internal import Control
internal import Devices
internal import NIOCore
internal import NIOPosix
internal import Wire

/// Lullaby commands: finds tracks and plays them, independently of viewers.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class LullabyService: @unchecked Sendable {
  private let output: SoundOutput
  private let library: LullabyLibrary
  private let loop: any EventLoop
  private let refused: (_ files: [LullabyLibrary.Refusal], _ surplus: Int) -> Void
  /// What has been reported.
  private var known: Set<LullabyLibrary.Refusal> = []
  private var knownSurplus = 0

  /// - Parameter refused: called with files that cannot be played, once, and again when a reason changes; and with how many
  ///   more files than are offered there are, when that changes.
  init(
    output: SoundOutput, library: LullabyLibrary, loop: any EventLoop,
    refused: @escaping (_ files: [LullabyLibrary.Refusal], _ surplus: Int) -> Void
  ) {
    self.refused = refused
    self.output = output
    self.library = library
    self.loop = loop
  }

  var document: LullabyDocument {
    let isGone = if case .missing = output.speaker { true } else { false }
    return LullabyDocument(output.lullaby, waits: isGone)
  }

  func list() -> EventLoopFuture<[TrackDocument]> {
    scan().map { tracks in tracks.map { TrackDocument(id: $0.id, title: $0.title, seconds: $0.seconds) } }
  }

  /// Looks at the files and reports those that cannot be played.
  @discardableResult
  func scan() -> EventLoopFuture<[LullabyTrack]> {
    inBackground { library in library.scan() }.map { found in
      let news = found.refusals.filter { !self.known.contains($0) }
      let surplus = found.surplus == self.knownSurplus ? 0 : found.surplus
      if !news.isEmpty || surplus > 0 { self.refused(news, surplus) }
      self.known = Set(found.refusals)
      self.knownSurplus = found.surplus
      return found.tracks
    }
  }

  /// Fails with `ControlError`.
  func play(_ wanted: LullabyPlay) -> EventLoopFuture<LullabyDocument> {
    do { try output.requireSpeaker() } catch { return loop.makeFailedFuture(error) }
    let last = output.lullaby.track
    return inBackground { library in
      guard let id = wanted.track else { return last ?? library.track(after: nil) }
      guard let track = library.track(id) else {
        throw ControlError(.badParameters, "No sound called \"\(id)\".")
      }
      return track
    }.flatMap { track in self.start(track, wanted) }
  }

  /// Plays the track after the current or last one; the timer of one that plays goes on.
  func next() -> EventLoopFuture<LullabyDocument> {
    do { try output.requireSpeaker() } catch { return loop.makeFailedFuture(error) }
    let last = output.lullaby.track?.id
    return inBackground { library in library.track(after: last) }.flatMap { track in
      self.start(track, LullabyPlay(), continuesTimer: true)
    }
  }

  func stop() throws(ControlError) -> LullabyDocument { try order { output in output.stopLullaby() } }
  func pause() throws(ControlError) -> LullabyDocument { try order { output in output.pauseLullaby() } }

  func resume() throws(ControlError) -> LullabyDocument {
    guard output.lullaby.phase != .stopped else {
      throw ControlError(.unavailable, "Nothing is paused; lullaby.play begins a track.")
    }
    return try order { output in output.resumeLullaby() }
  }

  func setVolume(_ percent: Int) throws(ControlError) -> LullabyDocument {
    try order { output in output.setVolume(percent) }
  }

  private func order(_ body: (SoundOutput) -> LullabyState) throws(ControlError) -> LullabyDocument {
    // What plays waits for a speaker that is missing, and can be changed meanwhile.
    if case .off = output.speaker { try output.requireSpeaker() }
    _ = body(output)
    return document
  }

  private func start(
    _ track: LullabyTrack, _ wanted: LullabyPlay, continuesTimer: Bool = false
  ) -> EventLoopFuture<LullabyDocument> {
    var request = LullabyRequest(track: track, volume: wanted.volume, continuesTimer: continuesTimer)
    request.isLooping = wanted.loop ?? false
    if let seconds = wanted.seconds { request.timer = seconds == 0 ? LullabyRequest.longestTimer : .seconds(seconds) }
    if let seconds = wanted.fadeSeconds { request.fade = .seconds(seconds) }
    let promise = loop.makePromise(of: LullabyDocument.self)
    output.play(request) { result in
      switch result {
      case .success(let state): promise.succeed(LullabyDocument(state, waits: false))
      case .failure(let error): promise.fail(ControlError(.unavailable, "This track cannot be played: \(error)."))
      }
    }
    return promise.futureResult
  }

  /// Accesses files off the event loop.
  private func inBackground<Value: Sendable>(
    _ body: @escaping @Sendable (LullabyLibrary) throws -> Value
  ) -> EventLoopFuture<Value> {
    let library = library
    return NIOThreadPool.singleton.runIfActive(eventLoop: loop) { try body(library) }
  }
}

extension SoundOutput {
  /// Throws `unavailable` where nothing that begins now would be heard.
  func requireSpeaker() throws(ControlError) {
    switch speaker {
    case .off: throw ControlError(.unavailable, "The baby unit has no speaker.")
    case .missing(let error): throw ControlError(.unavailable, "The speaker is missing: \(error.plain).")
    case .opening, .running: break
    }
  }
}

extension LullabyDocument {
  /// - Parameter waits: the speaker is missing.
  init(_ state: LullabyState, waits: Bool) {
    let word: LullabyDocument.State =
      switch state.phase {
      case .stopped: .stopped
      case .playing: waits ? .waiting : .playing
      case .paused: .paused
      }
    self.init(
      state: word, track: state.track?.id, volume: state.volume, loop: state.isLooping,
      positionSeconds: word == .stopped ? nil : (state.positionSeconds * 10).rounded(.down) / 10,
      remainingSeconds: state.remainingSeconds.map { Int(saturating: $0.rounded(.up)) },
      timerSeconds: state.timer.map { Int(saturating: $0.inSeconds) }, maximumVolume: state.maximumVolume)
  }
}
