// What `import WebRTC` brings: the names that a program has to write. Members of other types, such as those of
// `PeerConnectionConfiguration.ice`, need no import.

// Whole: the operators of `Instant` are found by their module.
@_exported public import Wire

@_exported public import enum Frames.MonotonicClock
@_exported public import struct ICE.ICECandidatePair
@_exported public import enum PeerConnection.DTLSTransportState
@_exported public import enum PeerConnection.ICETransportPolicy
@_exported public import struct PeerConnection.MachineAddress
@_exported public import class PeerConnection.PeerConnection
@_exported public import struct PeerConnection.PeerConnectionConfiguration
@_exported public import enum PeerConnection.PeerConnectionError
@_exported public import enum PeerConnection.PeerConnectionEvent
@_exported public import enum PeerConnection.PeerConnectionOutput
@_exported public import enum PeerConnection.PeerConnectionState
@_exported public import struct PeerConnection.PeerConnectionStatistics
@_exported public import struct PeerConnection.RestartedICE
@_exported public import struct PeerConnection.SendingLimits
@_exported public import struct RTP.VP8Packetizer
@_exported public import struct RTPReceiving.RTPInboundStatistics
@_exported public import struct RTPReceiving.ReceivedAudio
@_exported public import struct RTPReceiving.ReceivedVideoFrame
@_exported public import struct RTPSending.RTPStreamStatistics
@_exported public import enum SCTP.DataChannelError
@_exported public import enum SCTP.DataChannelMessage
@_exported public import struct SCTP.DataChannelParameters
@_exported public import enum SDP.MediaDirection
@_exported public import enum SDP.MediaKind
@_exported public import enum SDP.NegotiationError
@_exported public import struct SDP.SDPError
@_exported public import struct SDP.SessionDescription
@_exported public import struct SecureTransport.Certificate
@_exported public import struct SecureTransport.OpenSSLTransports
@_exported public import struct SecureTransport.PrivateKey
@_exported public import enum SecureTransport.SecureError
