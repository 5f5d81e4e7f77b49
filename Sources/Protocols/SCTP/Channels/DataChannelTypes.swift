/// The parameters of a data channel. W3C webrtc `RTCDataChannelInit`, RFC 8832 section 5.1.
public struct DataChannelParameters: Hashable, Sendable {
  /// How long the association tries to deliver a message.
  public enum Reliability: Hashable, Sendable {
    case reliable
    /// Abandoned after this many retransmissions.
    case maxRetransmits(UInt32)
    /// Abandoned this long after `send`.
    case maxPacketLifeTime(milliseconds: UInt32)
  }

  /// At most 65535 bytes of UTF-8.
  public var label: String
  /// The subprotocol, at most 65535 bytes of UTF-8.
  public var protocolName: String
  public var isOrdered: Bool
  public var reliability: Reliability
  /// The stream id agreed on out of band; nil: opened in band (DCEP), with an id of our parity.
  public var negotiatedID: UInt16?
  /// RFC 8831 section 6.4: 128 below normal, 256 normal, 512 high, 1024 extra high.
  public var priority: UInt16

  public init(
    label: String, protocolName: String = "", isOrdered: Bool = true, reliability: Reliability = .reliable,
    negotiatedID: UInt16? = nil, priority: UInt16 = 256
  ) {
    self.label = label
    self.protocolName = protocolName
    self.isOrdered = isOrdered
    self.reliability = reliability
    self.negotiatedID = negotiatedID
    self.priority = priority
  }
}

/// The name of a data channel, from its DCEP OPEN. RFC 8832 section 5.1.
public struct DataChannelName: Hashable, Sendable {
  public var label: String
  /// The subprotocol; empty for none.
  public var protocolName: String

  public init(label: String, protocolName: String = "") {
    self.label = label
    self.protocolName = protocolName
  }
}

/// One message of a data channel. Either kind may be empty.
///
/// Ill-formed UTF-8 in a text from the peer is repaired with U+FFFD, as a browser's decoder does: the message boundary
/// is right, so refusing it would lose more than it protects.
public enum DataChannelMessage: Hashable, Sendable {
  case text(String)
  case binary([UInt8])
}

/// Actions and events from the data channels, in order.
public enum DataChannelOutput: Hashable, Sendable {
  /// One SCTP packet for DTLS.
  case transmit([UInt8])
  /// The association is up; messages flow.
  case associationConnected
  /// The channel is open at both ends: for one of ours, when the peer has acknowledged it (RFC 8832 section 5.2); for a
  /// negotiated one, when the association is up. Messages may be sent before.
  case opened(id: UInt16, DataChannelParameters, byPeer: Bool)
  case message(id: UInt16, DataChannelMessage)
  /// The channel is gone at both ends, and its id is free.
  case closed(id: UInt16)
  /// The last output: nothing can be sent or received any more. Every channel was `closed` before.
  case associationClosed(AssociationCloseReason)
}

/// Why an association ended.
public enum AssociationCloseReason: Hashable, Sendable {
  /// By SHUTDOWN, from either side; everything sent was delivered.
  case shutDown
  /// We sent ABORT at the application's request.
  case aborted
  /// The peer sent ABORT; its cause for a log.
  case abortedByPeer(String)
  /// The peer broke the protocol; we sent ABORT with this text.
  case protocolViolation(String)
  /// The peer never answered INIT or COOKIE ECHO.
  case handshakeTimedOut
  /// The peer stopped acknowledging.
  case peerUnreachable
}

/// Why a channel or a message was refused.
public enum DataChannelError: Error, Hashable, Sendable {
  /// Label or subprotocol name exceed 65535 bytes, or together do not fit the peer's largest message.
  case nameTooLong
  /// The id is at or above the number of streams.
  case idOutOfRange(UInt16)
  /// The id belongs to another channel.
  case idInUse(UInt16)
  /// Every id of our parity is taken.
  case tooManyChannels
  case noSuchChannel(UInt16)
  /// The channel is closing.
  case channelClosing(UInt16)
  /// The message exceeds what the peer accepts, in bytes.
  case messageTooLarge(limit: Int)
  /// The send buffer is full; wait until `bufferedAmount` falls.
  case bufferFull
  /// The association has ended or is ending.
  case associationClosed
}
