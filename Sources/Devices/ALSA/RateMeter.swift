internal import Wire

/// Measures how many frames a second a sound card really delivers. Some webcams' microphones take 48 kHz and deliver 16 or 32.
///
/// Fed after each read. Three things look alike from one read to the next and are kept apart:
/// - *The card is slow*: frames come evenly, and fewer of them. That is a rate.
/// - *This process was late*, or who delivers the frames was: then all that had waited is read at once, and the sum is right
///   again. A burst is therefore counted with the pause before it. Where the process was so late that a buffer may have
///   run over, unnoticed behind some ALSA plug-ins, frames may be missing that the card has delivered: such parts never prove that
///   a card stalls, and prove a rate only where it is far from the nominal one. What is missing for no longer than the process
///   was late in sum proves nothing either.
/// - *The card stalls*: after the pause frames come as before, and what was due in it never comes.
struct RateMeter: Sendable {
  enum Verdict: Hashable, Sendable {
    /// Not enough is known yet.
    case measuring
    /// It delivers so many frames a second, evenly; `error` is what the measurement may be wrong by, relatively.
    case steady(Double, error: Double)
    /// It delivers too few or too many for seconds, unevenly.
    case uneven(Double)
  }

  private(set) var verdict = Verdict.measuring
  private let nominal: Double
  /// What is being read at once; nil after a loss.
  private var arrival: Arrival?
  /// Since when the part that is being filled counts.
  private var began: Instant?
  private var part = Part()
  /// Until then frames may be read that had waited.
  private var settled: Instant?
  /// The latest.
  private var parts: [Part] = []
  /// So many of the latest had nothing before or in them that may have cost frames.
  private var undisturbed = 0
  /// So many have come since the verdict was `steady`.
  private var unclear = 0

  /// Frames that were read at once, and what passed before.
  private struct Arrival: Sendable {
    var time: Instant
    /// When the last of them were read.
    var end: Instant
    var pause: Duration
    var frames: Int
  }

  private struct Part: Sendable {
    var frames = 0.0
    var seconds = 0.0
    /// Of these: what came without a long pause before it.
    var flowFrames = 0.0
    var flowSeconds = 0.0
    /// Seconds that this process was late, by more than `RateMeter.harmless` each time.
    var late = 0.0
    /// No frame is missing that the card has delivered.
    var isComplete = true
    var rate: Double { frames / seconds }
    /// After long pauses as much came as was due: without them the rate is the same. Also where hardly anything came without.
    var isEven: Bool {
      flowSeconds < RateMeter.littleFlow * seconds
        || abs(flowFrames / flowSeconds - rate) <= RateMeter.unevenness * rate
    }

    static func + (left: Part, right: Part) -> Part {
      Part(
        frames: left.frames + right.frames, seconds: left.seconds + right.seconds,
        flowFrames: left.flowFrames + right.flowFrames, flowSeconds: left.flowSeconds + right.flowSeconds,
        late: left.late + right.late,
        isComplete: left.isComplete && right.isComplete)
    }
  }

  private static let part: Duration = .milliseconds(800)
  /// So many are kept: half a minute.
  private static let most = 36
  /// So many have to agree, by themselves or, where frames come more unevenly, threes or nines of them.
  private static let enough = 4
  private static let sizes = [1, 3, 9]
  private static let agreement = 0.08
  /// Share by which the rate without long pauses may be another one.
  private static let unevenness = 0.1
  /// Share of the time.
  private static let littleFlow = 0.05
  /// So many are looked at together where none agree, and `enough` of them have to be wrong: one stall is not enough.
  private static let several = 10
  /// Share of the time for which frames may be missing in any case: no card has just our clock's pace.
  private static let negligible = 0.005
  /// Their share of what is due.
  private static let tolerable = 0.75...1.3
  /// No card delivers so many times what is due: these frames had waited.
  private static let burst = 3.0
  /// A pause of less is the card's own pace: some have periods of 170 ms.
  private static let longPause: Duration = .milliseconds(250)
  /// Half a period, which every buffer can hold.
  private static let harmless: Duration = .milliseconds(10)
  /// The least buffer of a card holds 200 ms. Some plug-ins, which look after nobody's clock, lose more.
  private static let lateness: Duration = .milliseconds(150)
  /// So long after that what had waited may still be read.
  private static let settling: Duration = .seconds(1)

  init(nominal: Int) {
    self.nominal = Double(nominal)
  }

  /// Frames were lost: what was begun says nothing.
  mutating func restart() {
    arrival = nil
    began = nil
    settled = nil
    undisturbed = 0
  }

  /// So many frames have been read. Of the time since the last call this thread could have run for `late` and did not.
  mutating func add(frames count: Int, late: Duration = .zero, now: Instant) {
    if late > Self.harmless { part.late += late.inSeconds }
    if late >= Self.lateness {
      settled = now + Self.settling
      part.isComplete = false
      undisturbed = 0
    }
    guard let last = arrival else {
      arrival = Arrival(time: now, end: now, pause: .zero, frames: 0)
      return
    }
    let since = now - last.end
    if Double(count) >= Self.burst * nominal * since.inSeconds, now - last.time < Self.part {
      arrival?.frames += count
      arrival?.end = now
    } else {
      finish(last)
      arrival = Arrival(time: now, end: now, pause: since, frames: count)
    }
  }

  /// All that came at once has been read.
  private mutating func finish(_ arrival: Arrival) {
    guard let began else { return begin(at: arrival.time) }
    part.frames += Double(arrival.frames)
    if arrival.pause < Self.longPause {
      part.flowSeconds += (arrival.pause + (arrival.end - arrival.time)).inSeconds
      part.flowFrames += Double(arrival.frames)
    }
    guard arrival.time - began >= Self.part else { return }
    part.seconds = (arrival.time - began).inSeconds
    parts.append(part)
    if parts.count > Self.most { parts.removeFirst() }
    undisturbed = part.isComplete ? undisturbed + 1 : 0
    unclear += 1
    begin(at: arrival.time)
    judge()
  }

  private mutating func begin(at time: Instant) {
    began = time
    part = Part(isComplete: settled.map { time >= $0 } ?? true)
  }

  private mutating func judge() {
    if let found = steady() {
      unclear = 0
      verdict = found
      return
    }
    guard undisturbed >= Self.several else { return }
    let last = parts.suffix(Self.several)
    let sum = last.reduce(Part(), +)
    let wrong = last.count { !Self.tolerable.contains($0.rate / nominal) }
    if wrong >= Self.enough, !Self.tolerable.contains(sum.rate / nominal), !isLateEnough(sum),
      !sum.isEven || unclear >= Self.most
    {
      verdict = .uneven(sum.rate)
    }
  }

  private func steady() -> Verdict? {
    if let found = rate(of: parts.filter(\.isComplete)) { return found }
    for size in Self.sizes {
      guard let found = rate(of: Self.groups(of: size, in: parts)) else { continue }
      // What was lost with a late process is no slow card's, unless it is more than that could be.
      if undisturbed >= size * Self.enough { return found }
      if case .steady(let rate, _) = found, !Self.tolerable.contains(rate / nominal) { return found }
    }
    return nil
  }

  /// The rate in which the last of them agree, with all before that agree with it.
  private func rate(of parts: [Part]) -> Verdict? {
    guard parts.count >= Self.enough else { return nil }
    let sum = parts.suffix(Self.enough).reduce(Part(), +)
    func agrees(_ part: Part) -> Bool { abs(part.rate - sum.rate) <= Self.agreement * sum.rate }
    guard sum.frames > 0, sum.isEven else { return nil }
    let agreeing = parts.reversed().prefix(while: agrees)
    guard agreeing.count >= Self.enough, case let all = agreeing.reduce(Part(), +), !isLateEnough(all) else {
      return nil
    }
    let spread = agreeing.reduce(0) { max($0, abs($1.rate - all.rate)) } / all.rate
    // What one part has too much the next has too little.
    return .steady(all.rate, error: spread / Double(agreeing.count))
  }

  /// Whether this process was late for as long as frames are missing: perhaps they were lost meanwhile.
  private func isLateEnough(_ part: Part) -> Bool {
    let missing = part.seconds - part.frames / nominal
    return missing > Self.negligible * part.seconds && missing <= part.late
  }

  private static func groups(of size: Int, in parts: [Part]) -> [Part] {
    let rest = parts.count % size
    return stride(from: rest, to: parts.count, by: size).map { parts[$0..<$0 + size].reduce(Part(), +) }
  }
}
