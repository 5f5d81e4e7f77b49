public import Wire

/// One proof of hearing as the child runs it: it begins softly and becomes louder until its own microphone and a parent
/// have heard it. Pure.
public struct HearingTest: Sendable {
  public enum Way: String, Sendable {
    /// The speaker plays a chirp.
    case chirp
    /// Without a speaker: the noise of the room is compared. A weaker proof.
    case noiseFloor = "noise-floor"
  }

  public enum Action: Hashable, Sendable {
    /// RMS, dB relative to full scale.
    case play(levelDb: Double)
    /// It is over.
    case finish
  }

  /// Somebody who listens.
  public struct Listener: Hashable, Sendable {
    public var id: String
    public var name: String

    public init(id: String, name: String) {
      self.id = id
      self.name = name
    }
  }

  public let number: Int
  public let way: Way
  private let began: Instant
  private var nextChirp: Instant?
  /// When the first chirp is over: nobody can have found it before.
  private var audibleSince: Instant?
  private var levelDb = softestDb
  /// Chirps so far.
  private var chirps = 0
  /// The share of the chirp in what the child's microphone heard.
  public private(set) var microphoneShare: Double?
  public private(set) var childFloor: NoiseFloor.Figures?
  public private(set) var heardBy: [Listener] = []

  /// Names of those who listen and have not heard it, each once. A parent with several sessions has, when one of them has.
  public func unanswered(by listeners: [Listener]) -> [String] {
    var names: [String] = []
    for listener in listeners where !(heardBy.map(\.name) + names).contains(listener.name) {
      names.append(listener.name)
    }
    return names
  }

  /// For parents to begin to listen.
  private static let preparation: Duration = .seconds(1)
  /// From one chirp to the next: it lasts 0.43 s, and is found up to 0.5 s later, at a parent after the link's delay.
  private static let interval: Duration = .milliseconds(1800)
  private static let softestDb = -58.0
  private static let stepDb = 6.0
  private static let maximumChirps = 5
  /// Of the noise floor.
  private static let noiseTime: Duration = .seconds(5)
  /// As loud as the noise of its band, or louder: a step more could be louder than the noise + 10 dB.
  private static let loudEnough = 0.5
  private static let maximumListeners = 32
  /// How long parents have to listen.
  public static let longest = preparation + interval * (maximumChirps + 1)

  public init(number: Int, way: Way, now: Instant) {
    self.number = number
    self.way = way
    began = now
    nextChirp = way == .chirp ? now + Self.preparation : nil
  }

  /// The child's own microphone has heard a chirp.
  public mutating func microphoneHeard(share: Double) {
    guard way == .chirp, chirps > 0 else { return }
    microphoneShare = max(microphoneShare ?? 0, share)
  }

  /// The child's own noise floor.
  public mutating func measured(_ floor: NoiseFloor.Figures) {
    childFloor = floor
  }

  /// A parent says that it has heard the chirp. It counts only after one was played.
  public mutating func heard(by listener: Listener, now: Instant) {
    guard way == .chirp, audibleSince.isDue(at: now) else { return }
    add(listener)
  }

  /// A parent reports the noise floor that it receives.
  public mutating func received(_ floor: NoiseFloor.Figures, by listener: Listener) {
    guard way == .noiseFloor, let childFloor, NoiseFloor.isSameRoom(childFloor, floor) else { return }
    add(listener)
  }

  private mutating func add(_ listener: Listener) {
    if heardBy.count < Self.maximumListeners, !heardBy.contains(where: { $0.id == listener.id }) {
      heardBy.append(listener)
    }
  }

  /// Whether the child and at least one parent have heard it.
  public var isHeard: Bool {
    switch way {
    case .chirp: microphoneShare != nil && !heardBy.isEmpty
    case .noiseFloor: !heardBy.isEmpty
    }
  }

  /// What is to be done now. Call several times a second until `finish`.
  ///
  /// - Parameter listeners: ids of those who listen now; it is over as soon as all have heard it.
  public mutating func handleTimeout(now: Instant, listeners: [String]) -> Action? {
    let known = Set(heardBy.map(\.id))
    if isHeard, listeners.allSatisfy(known.contains) { return .finish }
    guard way == .chirp else { return now - began >= Self.noiseTime + Self.preparation ? .finish : nil }
    guard let time = nextChirp, time <= now else { return nil }
    guard chirps < Self.maximumChirps else { return .finish }
    if chirps > 0, microphoneShare ?? 0 < Self.loudEnough { levelDb = min(Chirp.loudestDb, levelDb + Self.stepDb) }
    chirps += 1
    audibleSince = audibleSince ?? now + Chirp.duration
    nextChirp = now + Self.interval
    return .play(levelDb: levelDb)
  }
}
