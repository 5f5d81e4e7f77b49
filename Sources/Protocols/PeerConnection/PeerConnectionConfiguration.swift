public import ICE
public import RTP
public import RTPReceiving
public import RTPSending
public import SCTP
public import SDP
public import Wire

/// What one peer connection is made with. Defaults suit a child on a home network.
public struct PeerConnectionConfiguration: Sendable {
  /// Tracks that we can send, in the order in which they are offered.
  public var media: [LocalMedia]
  public var ice: ICEConfiguration
  public var sctp: SCTPConfiguration
  public var sending: RTPSenderConfiguration
  /// Asked of the peer with every picture, where the playout-delay header extension was negotiated; nil: as it likes.
  public var playoutDelay: PlayoutDelay?
  /// How received sound is buffered.
  public var receivedAudio = AudioJitterBufferConfiguration()
  /// Candidates that may wait for their description; more are dropped, as a browser has fewer than ten.
  public var maximumWaitingCandidates = 32
  /// DTLS datagrams that may wait for a usable pair: a whole flight of a handshake.
  public var maximumWaitingDatagrams = 16

  public init(
    media: [LocalMedia], ice: ICEConfiguration = .init(), sctp: SCTPConfiguration = .init(),
    sending: RTPSenderConfiguration = .init(), playoutDelay: PlayoutDelay? = nil
  ) {
    self.media = media
    self.ice = ice
    self.sctp = sctp
    self.sending = sending
    self.playoutDelay = playoutDelay
  }
}

/// W3C RTCPeerConnectionState.
public enum PeerConnectionState: String, Sendable, Hashable {
  case new, connecting, connected, disconnected, failed, closed
}

/// W3C RTCDtlsTransportState.
public enum DTLSTransportState: String, Sendable, Hashable {
  case new, connecting, connected, closed, failed
}

/// What the owner of a peer connection has to know.
public enum PeerConnectionEvent: Sendable {
  case stateChanged(PeerConnectionState)
  /// Another pair of addresses carries the data from now on.
  case selectedPairChanged(ICECandidatePair)
  /// A `.local` candidate: look the name up by multicast DNS and call `addResolved(name:address:now:)`, or do nothing.
  case resolve(name: String)
  /// The peer cannot go on without a key frame of the track with this SSRC (PLI or FIR).
  case keyFrameRequested(ssrc: UInt32)
  /// What the path to this peer is estimated to carry.
  case targetBitrateChanged(kbps: Int)
  /// A whole picture in decoding order, as soon as it is there.
  case videoFrame(ReceivedVideoFrame)
  /// The sound of the next packet time, when it is to be played.
  case audio(ReceivedAudio)
  /// The peer said that it sends no more of this (RTCP BYE).
  case mediaEnded(MediaKind)
  case dataChannelOpened(id: UInt16, DataChannelParameters, byPeer: Bool)
  case dataChannelMessage(id: UInt16, DataChannelMessage)
  case dataChannelClosed(id: UInt16)
}

/// What `PeerConnection.poll()` hands out, in order.
public enum PeerConnectionOutput: Sendable {
  /// One datagram for the UDP socket.
  case transmit([UInt8], from: TransportAddress, to: TransportAddress)
  case event(PeerConnectionEvent)
}

/// Why a description or a call was refused. Nothing has changed then.
public enum PeerConnectionError: Error, Sendable {
  case negotiation(NegotiationError)
  /// The call does not fit the signalling state, as in W3C InvalidStateError.
  case invalidState(String)
  /// The secure transport could not be made.
  case secureTransport(String)
  case dataChannel(DataChannelError)
}

/// Our side of ICE after a restart, for the peer.
public struct RestartedICE: Sendable, Hashable {
  public var ufrag: String
  public var pwd: String
  /// Attribute text from `candidate:` on.
  public var candidates: [String]
}
