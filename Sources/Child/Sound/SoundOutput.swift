internal import DeviceNames
internal import Devices
internal import Frames
internal import Linux
internal import Pipelines
internal import RTPReceiving
internal import Sound
internal import Synchronization
internal import Wire

/// The child's speaker: lullaby and talk, mixed as long as the program runs, independently of viewers.
///
/// The speaker pulls sound when it needs it. While it is missing nothing is pulled, so a lullaby keeps its position
/// until a speaker is back. Its timer follows the clock.
final class SoundOutput: Sendable {
  typealias SpeakerState = DeviceStatus<SpeakerInfo>

  enum Event: Sendable {
    case lullabyEnded(LullabyTrack, SoundOutputMix.End)
    case speaker(SpeakerState)
  }

  /// For the microphone in the same room.
  let echo = EchoControl()
  /// Buffers 10 ms of the talker's sound plus at most one block of theirs. Speech that arrives before the speaker runs
  /// is kept for it.
  private let talkRing = PlaybackRing(target: .milliseconds(10), patience: .milliseconds(600))
  private let talk: ReceivedSound
  private let mix: Mutex<SoundOutputMix>
  /// What is left of the chirp of a proof of hearing.
  private let chirp = Mutex<ArraySlice<Int16>>([])
  private let silence = Mutex(WakefulSilence())
  private let speakerState: Mutex<SpeakerState>
  private let supervisor = Mutex<SpeakerSupervisor?>(nil)
  let device: SpeakerDevice
  private let orders = Mailbox<Order>(capacity: 64)
  /// Counts stops: a request made before a stop and not yet opened is not played.
  private let stops = Atomic(0)
  private let thread = Mutex<WorkerThread?>(nil)
  private let happened: @Sendable (Event) -> Void

  private struct Order: Sendable {
    var request: LullabyRequest
    var stops: Int
    var answer: @Sendable (Result<LullabyState, SoundFileError>) -> Void
  }

  /// The track being read.
  private final class Reading {
    let number: Int
    var source: any SoundSource
    let isLooping: Bool
    /// Since the beginning of the track.
    var samples = 0

    init(number: Int, source: any SoundSource, isLooping: Bool) {
      self.number = number
      self.source = source
      self.isLooping = isLooping
    }
  }

  /// The stock covers three wake-ups, so that a late one is not heard.
  private static let refill: Duration = .milliseconds(250)
  private static let samplesPerRead = 4800

  /// `maximumVolume` in percent limits lullaby and talk. `happened` is called on the output's threads; it must not
  /// block or call `stop`.
  init(speaker device: SpeakerDevice, maximumVolume: Int, happened: @escaping @Sendable (Event) -> Void) {
    self.device = device
    self.happened = happened
    talk = ReceivedSound(ring: talkRing)
    mix = Mutex(SoundOutputMix(maximumVolume: maximumVolume))
    speakerState = Mutex(device == .off ? .off : .opening)
  }

  /// Does nothing without a configured speaker.
  func start() {
    guard device != .off else { return }
    talk.start()
    thread.withLock { $0 = WorkerThread(name: "lullaby") { [self] in run() } }
    let new = SpeakerSupervisor(device) { [weak self] (samples, heardAt) in self?.pull(&samples, heardAt) }
    supervisor.withLock { $0 = new }
    new.start(deliver: { _ in }, stateChanged: { [weak self] state in self?.speakerChanged(state) })
  }

  /// Waits for its threads to end.
  func stop() {
    supervisor.withLock { supervisor in
      defer { supervisor = nil }
      return supervisor
    }?.stop()
    orders.close()
    talk.stop()
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
  }

  var speaker: SpeakerState { speakerState.withLock { $0 } }

  // MARK: Lullaby

  /// Opens the track and starts it. `answer` is called on one of the output's threads. On failure the current lullaby
  /// continues.
  func play(_ request: LullabyRequest, answer: @escaping @Sendable (Result<LullabyState, SoundFileError>) -> Void) {
    var request = request
    request.timer = min(LullabyRequest.longestTimer, max(.seconds(1), request.timer))
    request.fade = min(request.timer / 2, max(.milliseconds(1), request.fade))
    orders.put(Order(request: request, stops: stops.load(ordering: .relaxed), answer: answer))
  }

  func pauseLullaby() -> LullabyState { order { mix, _ in mix.pause() } }
  func resumeLullaby() -> LullabyState { order { mix, _ in mix.resume() } }

  /// With a short fade.
  func stopLullaby() -> LullabyState {
    stops.add(1, ordering: .relaxed)
    return order { mix, now in mix.stop(now: now) }
  }

  /// Percent; limited to the configured maximum.
  func setVolume(_ percent: Int) -> LullabyState { order { mix, _ in mix.setVolume(percent) } }

  var lullaby: LullabyState { order { _, _ in } }

  private func order(_ body: (inout SoundOutputMix, Instant) -> Void) -> LullabyState {
    let now = MonotonicClock.now
    return mix.withLock { mix in
      body(&mix, now)
      return mix.state(now: now)
    }
  }

  // MARK: Talk

  /// The talker's sound in playout order, as the peer connection delivers it.
  func hear(_ audio: ReceivedAudio) {
    talk.play(audio)
  }

  /// The talker has released the floor or another one has taken it: discards buffered sound.
  func endTalk() {
    talkRing.clear()
  }

  var talkStatistics: (sound: ReceivedSound.Counters, ring: PlaybackRing.Statistics) {
    (talk.current, talkRing.statistics)
  }

  // MARK: Threads

  /// Runs on the speaker's thread.
  private func pull(_ samples: inout [Int16], _ heardAt: Instant) {
    mix.withLock { $0.read(into: &samples, talk: talkRing, at: heardAt) }
    // Files and the null device cause no echo in the room.
    if device.isHeard { echo.play(samples, heardAt: heardAt) }
    addChirp(to: &samples)
    // The speaker stays awake for the first word. A chirp wakes it by itself: a louder one follows.
    if device.isHeard { silence.withLock { $0.fill(&samples) } }
  }

  /// Plays the chirp once. It is no echo to be removed: the microphone is to hear it.
  func play(chirp samples: [Int16]) {
    chirp.withLock { $0 = samples[...] }
  }

  private func addChirp(to samples: inout [Int16]) {
    chirp.withLock { chirp in
      for (index, sample) in zip(samples.indices, chirp) {
        let sum = Int(samples[index]) + Int(sample)
        samples[index] = Int16(clamping: sum)
      }
      chirp = chirp.dropFirst(samples.count)
    }
  }

  private func speakerChanged(_ speaker: SpeakerState) {
    speakerState.withLock { $0 = speaker }
    happened(.speaker(speaker))
  }

  /// Reads files and runs timers on a separate thread, because the speaker's must not wait.
  private func run() {
    var reading: Reading?
    while !orders.isClosed {
      if let order = orders.take(until: nextVisit(reading)) { begin(order, &reading) }
      if let current = reading, !refill(current) { reading = nil }
      for (track, reason) in mix.withLock({ $0.handleTimeout(now: MonotonicClock.now) }) {
        happened(.lullabyEnded(track, reason))
      }
    }
  }

  private func nextVisit(_ reading: Reading?) -> Instant? {
    // A track read to its end still has to play out.
    let (deadline, hasVoice) = mix.withLock { ($0.deadline, $0.voice != nil) }
    return hasVoice || reading != nil ? min(deadline ?? .distantFuture, MonotonicClock.now + Self.refill) : deadline
  }

  private func begin(_ order: Order, _ reading: inout Reading?) {
    do throws(SoundFileError) {
      let source = try order.request.track.open()
      guard order.stops == stops.load(ordering: .relaxed) else { return order.answer(.success(lullaby)) }
      let now = MonotonicClock.now
      let (number, state) = mix.withLock { mix in (mix.play(order.request, now: now), mix.state(now: now)) }
      reading = Reading(number: number, source: source, isLooping: state.isLooping)
      order.answer(.success(state))
    } catch {
      order.answer(.failure(error))
    }
  }

  /// Refills the stock. False when there is nothing more to read.
  private func refill(_ reading: Reading) -> Bool {
    var samples = [Float](repeating: 0, count: Self.samplesPerRead)
    while true {
      guard let room = mix.withLock({ $0.room(for: reading.number) }) else { return false }
      guard room >= samples.count else { return true }
      let count = reading.source.read(into: &samples)
      reading.samples += count
      mix.withLock { $0.append(samples[..<count], to: reading.number) }
      guard count < samples.count else { continue }
      // An empty track cannot loop.
      guard reading.isLooping, reading.samples > 0 else {
        mix.withLock { $0.complete(reading.number) }
        return false
      }
      mix.withLock { $0.setLoopLength(reading.samples, of: reading.number) }
      reading.samples = 0
      reading.source.seek(to: 0)
    }
  }
}
