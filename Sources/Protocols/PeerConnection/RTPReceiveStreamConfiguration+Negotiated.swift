internal import RTP
internal import RTPReceiving
internal import SDP

extension RTPReceiveStreamConfiguration {
  /// The negotiated media in the receiver's terms.
  init(_ negotiated: NegotiatedMedia) {
    let feedback = negotiated.feedback
    self.init(
      kind: negotiated.kind == .video ? .video : .audio, payloadType: negotiated.payloadType,
      clockRate: Int(negotiated.codec.clockRate), rtxPayloadType: negotiated.rtxPayloadType,
      redPayloadType: negotiated.redPayloadType, mid: negotiated.mid.isEmpty ? nil : negotiated.mid,
      extensionIDs: RTPExtensionIDs(negotiated), remoteSSRCs: negotiated.remoteSSRCs,
      supportsNACK: feedback.contains(.nack), supportsPLI: feedback.contains(.pli),
      supportsFIR: feedback.contains(.fir), supportsTransportCC: feedback.contains(.transportCC),
      supportsReferenceTime: feedback.contains(.referenceTime), reducedSizeRTCP: negotiated.rtcpReducedSize)
  }
}

extension RTPReceiverConfiguration {
  /// RTCP reports carry the SSRC of our first track, whether it sends or not.
  init(_ configuration: PeerConnectionConfiguration) {
    let media = configuration.media.first
    self.init(senderSSRC: media?.ssrc ?? 1, cname: media?.cname ?? "")
    audio = configuration.receivedAudio
    steadyDelay = configuration.steadyDelay
  }
}

extension RTPExtensionIDs {
  init(_ negotiated: NegotiatedMedia) {
    let ids = negotiated.headerExtensionIDs
    self.init(
      mid: ids[RTPHeaderExtensionURI.mid],
      transportSequenceNumber: negotiated.feedback.contains(.transportCC)
        ? ids[RTPHeaderExtensionURI.transportWideCC] : nil,
      absoluteSendTime: ids[RTPHeaderExtensionURI.absSendTime],
      absoluteCaptureTime: ids[RTPHeaderExtensionURI.absCaptureTime],
      playoutDelay: ids[RTPHeaderExtensionURI.playoutDelay])
  }
}
