public import Control
internal import FoundationEssentials
internal import ICE
internal import Wire

/// Statistics of watching, as `watch --stats` prints them each second. interfaces/commands.md, "cradle-parent".
public struct WatchStatistics: Encodable, Sendable {
  public enum State: String, Encodable, Sendable {
    case connecting, connected, disconnected, reconnecting, ended
  }

  /// Percentiles in milliseconds.
  public struct Latency: Encodable, Sendable {
    public var p50: Int
    public var p95: Int
  }

  /// Percentiles in milliseconds, to a tenth.
  public struct Shown: Encodable, Sendable {
    public var p50: Double
    public var p95: Double

    public init(p50: Double, p95: Double) {
      self.p50 = p50
      self.p95 = p95
    }
  }

  /// Milliseconds.
  public struct LipSync: Encodable, Sendable {
    public var p50: Int
    public var p95: Int
  }

  /// What is wrong. Scripts may ring for it.
  public struct Alarm: Encodable, Sendable {
    /// As interfaces/commands.md names it.
    public var kind: String
    /// `notice`, which does not ring, `warning` or `alarm`.
    public var level: String
    /// How long it has been wrong.
    public var sinceMs: Int
    public var acknowledged: Bool
  }

  public struct Candidate: Encodable, Sendable {
    public var address: String
    public var port: UInt16
    /// host, srflx, prflx, relay.
    public var type: String
    /// How our TURN server is reached: udp, tcp or tls; W3C RTCIceCandidateStats. Nil for other candidates.
    public var relayProtocol: String?
  }

  public struct CandidatePair: Encodable, Sendable {
    public var local: Candidate
    public var remote: Candidate
  }

  /// ISO 8601, UTC.
  public var time: String
  public var state: State
  /// From the start (name lookup and TLS included) to the first decoded picture.
  public var timeToFirstFrameMs: Double?
  public var framesDecoded: UInt64 = 0
  /// Over the last interval.
  public var framesPerSecond: Double = 0
  public var width: Int?
  public var height: Int?
  public var videoKbps: Double = 0
  public var audioKbps: Double = 0
  /// Retransmissions included.
  public var packetsReceived: UInt64 = 0
  public var packetsLost: Int64 = 0
  /// How many of the lost packets were retransmitted.
  public var packetsRecovered: UInt64 = 0
  public var freezeCount: Int = 0
  public var freezeMs: Double = 0
  public var jitterMs: Double?
  public var roundTripMs: Double?
  /// Glass to glass, when the picture carries a timecode.
  public var latencyMs: Latency?
  /// From capture to decoding, the median, as far as sender reports (RFC 3550 section 6.4.1) and round trips tell; before
  /// they do, half a round trip and the time that decoding takes.
  public var latencyEstimateMs: Double?
  /// How much later pictures are decoded than their sound is heard: the median, negative where they are earlier, and what
  /// 95 of 100 do not exceed either way. Nil while no sound is heard.
  public var lipSyncMs: LipSync?
  /// dB below full scale.
  public var audioLevelDb: Double?
  /// Percent of the sound played so far that was lost and concealed.
  public var concealedPercent: Double?
  public var candidatePair: CandidatePair?
  /// Whether picture and sound pass through a TURN server; nil without a path.
  public var relayed: Bool?
  public var codec: String?
  /// What this parent calls the child; nil with WHEP.
  public var room: String?
  /// The child's name, once it has sent `hello`.
  public var child: String?
  /// With VOX: whether the speaker is open.
  public var isVoxOpen: Bool?
  /// What is wrong; null while all is well.
  @NullWhenNil public var alarm: Alarm?
  /// From the decoder to the window: median and 95th percentile since the window was opened, ms.
  public var shownMs: Shown?
  /// What the child knows of the path to here; nil from one of an earlier version.
  public var path: PathDocument?
  /// How many times the link was lost.
  public var reconnects: Int = 0

  init(state: State) {
    time = Date().formatted(.iso8601)
    self.state = state
  }

  /// One line of JSON.
  public var json: String { JSONLine.text(self) }
}

extension WatchStatistics.Candidate {
  init(_ candidate: ICECandidate) {
    switch candidate.address {
    case .ip(let address):
      self.init(address: address.ip.description, port: address.port, type: candidate.type.rawValue)
    case .name(let name, let port):
      self.init(address: name, port: port, type: candidate.type.rawValue)
    }
  }
}

/// A member that is there with `null` instead of being left out.
@propertyWrapper public struct NullWhenNil<Value: Encodable & Sendable>: Encodable, Sendable {
  public var wrappedValue: Value?

  public init(wrappedValue: Value?) {
    self.wrappedValue = wrappedValue
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
  }
}
