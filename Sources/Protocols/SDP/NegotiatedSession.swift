/// The feedback messages that both sides understand. RFC 4585 section 4.2, RFC 5104 section 7.
public struct NegotiatedFeedback: OptionSet, Hashable, Sendable {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Generic NACK.
  public static let nack = NegotiatedFeedback(rawValue: 1)
  /// Picture loss indication.
  public static let pli = NegotiatedFeedback(rawValue: 2)
  /// Full intra request.
  public static let fir = NegotiatedFeedback(rawValue: 4)
  /// Receiver's bandwidth estimate (draft-alvestrand-rmcat-remb).
  public static let remb = NegotiatedFeedback(rawValue: 8)
  /// Transport-wide congestion control (draft-holmer-rmcat-transport-wide-cc-extensions).
  public static let transportCC = NegotiatedFeedback(rawValue: 16)
  /// Receiver reference time (RFC 3611 section 4.4), as libwebrtc names it where RFC 3611 section 5.1 has `a=rtcp-xr:rcvr-rtt`.
  public static let referenceTime = NegotiatedFeedback(rawValue: 32)

  init(_ types: [String]) {
    self = []
    for type in types {
      switch type.lowercased() {
      case "nack": insert(.nack)
      case "nack pli": insert(.pli)
      case "ccm fir": insert(.fir)
      case "goog-remb": insert(.remb)
      case "transport-cc": insert(.transportCC)
      case "rrtr": insert(.referenceTime)
      default: break
      }
    }
  }
}

/// A media section that both sides accepted.
public struct NegotiatedMedia: Hashable, Sendable {
  /// The index of its `m=` section.
  public var index: Int
  /// The index into `LocalSession.media`; one for sending and one for receiving may have the same.
  public var local: Int
  /// Empty if the peer gave none, which only happens with a single section.
  public var mid: String
  public var kind: MediaKind
  /// As we see it.
  public var direction: MediaDirection
  /// Used in both directions.
  public var payloadType: UInt8
  /// Ours.
  public var codec: RTPCodec
  /// The peer's `fmtp` parameters, for what we send.
  public var remoteParameters: FormatParameters
  /// RFC 4588; nil: no retransmission stream.
  public var rtxPayloadType: UInt8?
  /// RFC 2198; nil: no redundancy.
  public var redPayloadType: UInt8?
  public var feedback: NegotiatedFeedback
  /// Ids 1 to 14, by URI.
  public var headerExtensionIDs: [String: UInt8]
  /// The peer's sources listed in its description, primary before retransmission.
  public var remoteSSRCs: [UInt32]
  /// RTCP feedback may be sent without a full compound packet. RFC 5506.
  public var rtcpReducedSize: Bool
  /// What the peer wants to receive here at most.
  public var remoteBandwidth = Bandwidth()
}

/// The data channel section that both sides accepted. RFC 8841.
public struct NegotiatedDataChannel: Hashable, Sendable {
  public var index: Int
  public var mid: String
  public var remoteSCTPPort: UInt16
  /// The largest message that the peer accepts, in bytes; `Int.max` for any size.
  public var remoteMaxMessageSize: Int
}

/// The peer's ICE parameters for the session's one transport.
public struct RemoteICE: Hashable, Sendable {
  public var ufrag: String
  public var pwd: String
  /// RFC 8839 section 5.3.
  public var isLite: Bool
  /// Attribute text from `candidate:` on; RTP components only.
  public var candidates: [String]
  public var endOfCandidates: Bool
}

/// The result of offer and answer. Everything uses one transport (RFC 9143).
public struct NegotiatedSession: Hashable, Sendable {
  /// In section order, including `inactive` ones.
  public var media: [NegotiatedMedia]
  public var dataChannel: NegotiatedDataChannel?
  /// Sections that the peer offered and the answer rejects.
  public var rejected: [RejectedMedia]
  public var remoteICE: RemoteICE
  /// The peer's certificate must match one of them; at least one is `sha-256`.
  public var remoteFingerprints: [Fingerprint]
  /// We send ClientHello. RFC 8842 section 5.
  public var weAreDTLSClient: Bool
  /// The id of the MID header extension, if any section has it. RFC 9143 section 15.2.
  public var midExtensionID: UInt8?
  /// What the peer wants to receive in all sections together at most.
  public var remoteBandwidth = Bandwidth()
}
