internal import RTP
internal import RTPSending
internal import SDP

extension RTPStreamConfiguration {
  /// The negotiated media in the sender's terms.
  init(local: LocalMedia, negotiated: NegotiatedMedia, playoutDelay: PlayoutDelay?) {
    let feedback = negotiated.feedback
    var rtx: (ssrc: UInt32, payloadType: UInt8)?
    if let ssrc = local.rtxSSRC, let payloadType = negotiated.rtxPayloadType { rtx = (ssrc, payloadType) }
    self.init(
      ssrc: local.ssrc, kind: negotiated.kind == .video ? .video : .audio, payloadType: negotiated.payloadType,
      clockRate: negotiated.codec.clockRate, rtx: rtx,
      redPayloadType: SendingLimits.leavesRoomForCopies(negotiated) ? negotiated.redPayloadType : nil,
      cname: local.cname,
      mid: negotiated.mid.isEmpty ? nil : negotiated.mid,
      extensionIDs: RTPExtensionIDs(negotiated),
      supportsNACK: feedback.contains(.nack), supportsPLI: feedback.contains(.pli),
      supportsTransportCC: feedback.contains(.transportCC), supportsREMB: feedback.contains(.remb),
      answersReferenceTime: feedback.contains(.referenceTime), reducedSizeRTCP: negotiated.rtcpReducedSize,
      playoutDelay: playoutDelay)
  }
}
