internal import RTPReceiving
public import Wire

/// A speaker behind a stock of sound, as the parent has it: when each packet is heard.
public struct TestSpeaker {
  /// Of the sound card and what stands before it.
  public var deviceDelay = Duration.milliseconds(30)
  private static let stock = Duration.milliseconds(20)
  /// When what is handed out next is heard.
  private var next: Instant?
  /// When the packets were heard, by their numbers.
  public private(set) var heardAt: [Int: Instant] = [:]
  /// From handing out to hearing, smoothed.
  public private(set) var outputDelay: Duration?

  public init() {}

  mutating func take(_ audio: ReceivedAudio, now: Instant) {
    // With nothing left to play it begins with a stock again.
    let heard = next.flatMap { $0 > now + deviceDelay ? $0 : nil } ?? now + deviceDelay + Self.stock
    next = heard + .nanoseconds(Int64(audio.samples) * 62_500 / 3)
    outputDelay = outputDelay.map { $0 + (heard - now - $0) / 8 } ?? heard - now
    guard case .packet(let bytes) = audio.content else { return }
    heardAt[bytes.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }] = heard
  }
}

/// When pictures were shown, and how much later than their sound was heard.
public struct TestScreen {
  public private(set) var shownAt: [(number: Int, at: Instant)] = []

  mutating func show(_ number: Int, at: Instant) {
    shownAt.append((number, at))
  }

  /// In ms, of pictures that were taken since `start` and whose sound came through.
  public func differences(
    _ camera: TestCamera?, _ microphone: TestMicrophone?, _ speaker: TestSpeaker?, since start: Instant
  ) -> [Double] {
    guard let camera, let microphone, let speaker else { return [] }
    // How much later than it was taken each sound was heard, in the order in which they were taken.
    let delays = speaker.heardAt.compactMap { number, heard in
      microphone.sentAt[number].map { (sentAt: $0, delay: heard - $0) }
    }.sorted { $0.sentAt < $1.sentAt }
    return shownAt.compactMap { shown in
      guard let taken = camera.sentAt[shown.number], taken >= start,
        let sound = delays.last(where: { $0.sentAt <= taken }), taken - sound.sentAt < .milliseconds(100)
      else { return nil }
      return (shown.at - taken - sound.delay).inMilliseconds
    }
  }
}
