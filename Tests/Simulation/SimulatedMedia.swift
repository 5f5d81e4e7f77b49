internal import PeerConnection
internal import RTP
internal import RTPReceiving
internal import SDP
public import Wire

/// Pictures whose bytes say which they are: VP8 frame headers with a number and a pattern of its own behind them.
public struct TestPicture {
  public var number: Int
  public var isKeyFrame: Bool
  public var byteCount: Int

  public init(number: Int, isKeyFrame: Bool, byteCount: Int) {
    self.number = number
    self.isKeyFrame = isKeyFrame
    self.byteCount = max(byteCount, 14)
  }

  /// RFC 6386 section 9.1: the frame tag; for a key frame the start code and 640x480.
  public var bytes: [UInt8] {
    var bytes: [UInt8] =
      isKeyFrame ? [0x10, 0, 0, 0x9d, 0x01, 0x2a, 0x80, 0x02, 0xe0, 0x01] : [0x11, 0, 0]
    bytes += (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    let start = number % 256
    return bytes + Self.pattern[start..<start + byteCount - bytes.count]
  }

  /// Nil when the bytes are not exactly those of the picture whose number they carry.
  public init?(bytes: [UInt8]) {
    guard let first = bytes.first, bytes.count >= 14 else { return nil }
    let isKeyFrame = first & 1 == 0
    let number = bytes[(isKeyFrame ? 10 : 3)...].prefix(4).reduce(0) { $0 << 8 | Int($1) }
    self.init(number: number, isKeyFrame: isKeyFrame, byteCount: bytes.count)
    guard self.bytes == bytes else { return nil }
  }

  private static let pattern = (0..<70_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
}

/// Sends numbered pictures at a steady rate, the first of which is a key frame, and one whenever the peer asks. They are
/// made smaller where the path is said to carry less.
public struct TestCamera {
  public var interval: Duration = .milliseconds(33)
  public var byteCount = 2400
  public var keyFrameByteCount = 12_000
  public var payloadSize = 1100
  /// How long the encoder takes over a key frame that was asked for; nil: for ever.
  public var keyFrameDelay: Duration? = .zero
  private var targetKbps = Int.max
  /// When each picture was sent.
  public private(set) var sentAt: [Int: Instant] = [:]
  /// When the peer asked for a key frame.
  public private(set) var requests: [Instant] = []
  public private(set) var keyFrames: [Int] = []
  public private(set) var nextNumber = 0
  private(set) var nextAt: Instant = .zero
  private var keyFrameDue: Instant?
  private let mediaTimeBase: UInt32
  private var packetizer: VP8Packetizer

  /// - Parameter mediaTime: of the first picture, in units of 90 kHz.
  public init(mediaTime: UInt32 = 0, pictureID: UInt16 = 0, tl0PictureIndex: UInt8 = 0) {
    mediaTimeBase = mediaTime
    packetizer = VP8Packetizer(pictureID: pictureID, tl0PictureIndex: tl0PictureIndex)
    keyFrameDue = .zero
  }

  mutating func noteRequest(now: Instant) {
    requests.append(now)
    if let keyFrameDelay, keyFrameDue == nil { keyFrameDue = now + keyFrameDelay }
  }

  mutating func noteTarget(kbps: Int) {
    targetKbps = kbps
  }

  /// Nine tenths of what the path carries.
  private var affordableByteCount: Int {
    targetKbps > 100_000 ? .max : max(50, Int(Double(targetKbps) * 112 * interval.inSeconds))
  }

  mutating func sendIfDue(to peer: PeerConnection, now: Instant) {
    guard now >= nextAt else { return }
    nextAt = now + interval
    let isKeyFrame = keyFrameDue.map { $0 <= now } ?? false
    if isKeyFrame {
      keyFrameDue = nil
      keyFrames.append(nextNumber)
    }
    let size = min(byteCount, affordableByteCount)
    let picture = TestPicture(
      number: nextNumber, isKeyFrame: isKeyFrame, byteCount: isKeyFrame ? min(keyFrameByteCount, size * 5) : size)
    sentAt[nextNumber] = now
    nextNumber += 1
    let payloads = packetizer.packetize(picture.bytes, isKeyFrame: isKeyFrame, maximumPayloadSize: payloadSize)
    peer.send(
      payloads, kind: .video,
      mediaTime: mediaTimeBase &+ UInt32(truncatingIfNeeded: now.nanoseconds / 100_000 * 9), captureTime: now,
      isKeyFrame: isKeyFrame, now: now)
  }
}

/// Sends numbered packets that look like Opus, 20 ms each.
public struct TestMicrophone {
  public private(set) var nextNumber = 0
  private(set) var nextAt: Instant = .zero
  /// When each packet was sent: the time of its first sample.
  public private(set) var sentAt: [Int: Instant] = [:]
  private let mediaTimeBase: UInt32

  public init(mediaTime: UInt32 = 0) {
    mediaTimeBase = mediaTime
  }

  /// RFC 6716 section 3.1: one 20 ms CELT frame, mono.
  static func packet(_ number: Int) -> [UInt8] {
    [0xf8] + (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
      + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 60)
  }

  mutating func sendIfDue(to peer: PeerConnection, now: Instant) {
    guard now >= nextAt else { return }
    nextAt = max(nextAt, now - .milliseconds(20)) + .milliseconds(20)
    sentAt[nextNumber] = now
    peer.send(
      [Self.packet(nextNumber)], kind: .audio,
      mediaTime: mediaTimeBase &+ UInt32(truncatingIfNeeded: nextNumber &* 960),
      captureTime: now, now: now)
    nextNumber += 1
  }
}

/// What a parent saw and heard.
public struct TestViewer {
  public struct Seen {
    public var number: Int
    public var isKeyFrame: Bool
    public var at: Instant
    public var captureTime: Instant?
    /// On the parent's clock, as it estimates it.
    public var localCaptureTime: Instant?
  }

  public private(set) var pictures: [Seen] = []
  /// Pictures that a decoder could not have decoded after the one before, or whose bytes were not those that were sent.
  public private(set) var brokenPictures = 0
  /// Numbers of the sound packets, in order.
  public private(set) var sounds: [Int] = []
  /// Times at which sound had to be made up.
  public private(set) var concealments = 0
  public private(set) var silences = 0
  public private(set) var discontinuities = 0
  public private(set) var brokenSounds = 0

  mutating func take(_ frame: ReceivedVideoFrame, capturedAt: Instant?, now: Instant) {
    guard let picture = TestPicture(bytes: frame.payload), picture.isKeyFrame == frame.isKeyFrame else {
      brokenPictures += 1
      return
    }
    // A key frame needs nothing; any other needs the one before it.
    let follows = pictures.last.map { picture.number == $0.number + 1 } ?? false
    let isNewer = pictures.last.map { picture.number > $0.number } ?? true
    if !isNewer || !follows && !picture.isKeyFrame { brokenPictures += 1 }
    pictures.append(
      Seen(
        number: picture.number, isKeyFrame: picture.isKeyFrame, at: now, captureTime: frame.captureTime,
        localCaptureTime: capturedAt))
  }

  mutating func take(_ audio: ReceivedAudio) {
    if audio.isAfterDiscontinuity { discontinuities += 1 }
    switch audio.content {
    case .packet(let bytes):
      let number = bytes.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
      if bytes != TestMicrophone.packet(number) || number <= sounds.last ?? -1 { brokenSounds += 1 }
      sounds.append(number)
    case .forwardErrorCorrection, .concealment: concealments += 1
    case .silence: silences += 1
    }
  }

  /// The longest time without a new picture, from `start` to `end`.
  public func longestFreeze(from start: Instant, to end: Instant) -> Duration {
    let times = [start] + pictures.map(\.at).filter { $0 > start && $0 <= end } + [end]
    return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .zero
  }

  /// From the sending of each picture to its being handed out, shortest first.
  public func delays(_ camera: TestCamera?, since start: Instant = .zero) -> [Duration] {
    pictures.compactMap { seen in
      camera?.sentAt[seen.number].flatMap { $0 >= start ? seen.at - $0 : nil }
    }.sorted()
  }
}
