public import ICE
public import RTP
public import RTPReceiving
public import RTPSending
public import SCTP
public import SDP
public import Wire

/// The configuration of one peer connection. Defaults suit a baby monitor on a home network.
public struct PeerConnectionConfiguration: Sendable {
  /// Tracks that we can send, in the order in which they are offered.
  public var media: [LocalMedia]
  public var ice: ICEConfiguration
  public var sctp: SCTPConfiguration
  public var sending: RTPSenderConfiguration
  /// Sent with every frame if the playout-delay header extension was negotiated; nil leaves the delay to the peer.
  public var playoutDelay: PlayoutDelay?
  /// Candidates of ours follow the descriptions (RFC 8838): server-reflexive and relayed ones, which servers have to be asked
  /// for. False: host candidates are all there is, and the descriptions say so.
  public var gathersCandidates = false
  public var iceTransportPolicy = ICETransportPolicy.all
  /// How received audio is buffered.
  public var receivedAudio = AudioJitterBufferConfiguration()
  /// The delay that received sound has at least; see `RTPReceiver.setSteadyDelay`.
  public var steadyDelay = Duration.zero
  /// Limit of candidates queued for their description; more are dropped. A browser has fewer than ten.
  public var maximumWaitingCandidates = 32
  /// Limit of DTLS datagrams queued for a usable pair: one whole handshake flight.
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

/// Which candidates of ours are used. W3C RTCIceTransportPolicy.
public enum ICETransportPolicy: Sendable, Hashable {
  case all
  /// Relayed ones alone: the peer does not learn our addresses.
  case relay
}

/// One of this machine's addresses, for `PeerConnection.updateLocalAddresses`.
public struct MachineAddress: Hashable, Sendable {
  public var address: TransportAddress
  /// Its interface is switched on and has a carrier.
  public var isCarrying: Bool
  /// It may become a candidate: RFC 8445 section 5.1.1.1 leaves out some IPv6 addresses, and those without a carrier are
  /// of no use.
  public var isOffered: Bool

  public init(address: TransportAddress, isCarrying: Bool = true, isOffered: Bool = true) {
    self.address = address
    self.isCarrying = isCarrying
    self.isOffered = isOffered
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

/// Events for the owner of a peer connection.
public enum PeerConnectionEvent: Sendable {
  case stateChanged(PeerConnectionState)
  /// Data now uses another candidate pair.
  case selectedPairChanged(ICECandidatePair)
  /// A candidate of ours that no description has named: send it to the peer (`candidate:…`).
  case localCandidate(String)
  /// There will be no more of them in this ICE session: notify the peer.
  case localCandidatesComplete
  /// A `.local` candidate: resolve the name by multicast DNS and call `addResolved(name:address:now:)`, or ignore it.
  case resolve(name: String)
  /// The peer cannot go on without a key frame of the track with this SSRC (PLI or FIR).
  case keyFrameRequested(ssrc: UInt32)
  /// The estimated bandwidth of the path to this peer.
  case targetBitrateChanged(kbps: Int)
  /// A complete frame, in decoding order, as soon as it is available.
  case videoFrame(ReceivedVideoFrame)
  /// The audio of the next packet interval, when it is due for playout.
  case audio(ReceivedAudio)
  /// The peer stopped sending this kind (RTCP BYE).
  case mediaEnded(MediaKind)
  case dataChannelOpened(id: UInt16, DataChannelParameters, byPeer: Bool)
  case dataChannelMessage(id: UInt16, DataChannelMessage)
  case dataChannelClosed(id: UInt16)
}

/// The outputs of `PeerConnection.poll()`, in order.
public enum PeerConnectionOutput: Sendable {
  /// One datagram for the UDP socket.
  case transmit([UInt8], from: TransportAddress, to: TransportAddress)
  case event(PeerConnectionEvent)
}

/// Why a description or a call was rejected. Nothing has changed then.
public enum PeerConnectionError: Error, Sendable {
  case negotiation(NegotiationError)
  /// The call does not fit the signalling state, as in W3C InvalidStateError.
  case invalidState(String)
  /// The secure transport could not be created.
  case secureTransport(String)
  case dataChannel(DataChannelError)
}

/// Our ICE parameters after a restart, for the peer.
public struct RestartedICE: Sendable, Hashable {
  public var ufrag: String
  public var pwd: String
  /// Attribute text from `candidate:` on.
  public var candidates: [String]
  /// No other candidates follow.
  public var isComplete = true
}
