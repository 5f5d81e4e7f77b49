/// The transport's state of one channel.
struct DataChannel: Sendable {
  enum State: Hashable, Sendable {
    /// Our OPEN is not acknowledged yet, or a negotiated channel waits for the association.
    case connecting
    case open
    /// Gone when both directions are reset. RFC 8831 section 6.7.
    case closing(outgoingReset: Bool, incomingReset: Bool)
  }

  var parameters: DataChannelParameters
  var state: State
  /// Before our OPEN is acknowledged everything is sent in order, so that nothing overtakes it. RFC 8832 section 6.
  var mustSendOrdered: Bool
  /// False for a channel that the peer may not open: it is closed without notifying the application.
  var isAnnounced = true
  var messagesSent: UInt64 = 0
  var bytesSent: UInt64 = 0
  var messagesReceived: UInt64 = 0
  var bytesReceived: UInt64 = 0

  var isClosing: Bool {
    if case .closing = state { true } else { false }
  }

  func statistics(id: UInt16) -> DataChannelStatistics {
    let reported: DataChannelState =
      switch state {
      case .connecting: .connecting
      case .open: .open
      case .closing: .closing
      }
    return DataChannelStatistics(
      label: parameters.label, protocolName: parameters.protocolName, dataChannelIdentifier: id, state: reported,
      messagesSent: messagesSent, bytesSent: bytesSent, messagesReceived: messagesReceived,
      bytesReceived: bytesReceived)
  }
}
