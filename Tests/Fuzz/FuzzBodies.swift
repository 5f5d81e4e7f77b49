/// Everything that reads bytes of others.
public enum FuzzBodies {
  public static let all: [any FuzzBody.Type] = [
    STUNFuzz.self, TURNFuzz.self, ICEFuzz.self, SDPFuzz.self, RTPFuzz.self, RTCPFuzz.self, VP8PayloadFuzz.self,
    H264PayloadFuzz.self,
    RTPReceivingFuzz.self, AudioJitterBufferFuzz.self, SCTPFuzz.self, DCEPFuzz.self, DTLSFuzz.self, TLSFuzz.self,
    PeerConnectionFuzz.self, WHEPFuzz.self, TrickleFragmentFuzz.self, WHEPClientFuzz.self,
    ConfigurationFuzz.self, Y4MFuzz.self, WAVFuzz.self, JPEGFuzz.self, VP8Fuzz.self,
    OpusFuzz.self, WebMFuzz.self, PairingFuzz.self, RoomFuzz.self, SignedMessageFuzz.self, ControlRequestsFuzz.self,
    ControlRepliesFuzz.self, DocumentNumbersFuzz.self, ControlMachinesFuzz.self, ServiceTextFuzz.self, JSONFuzz.self,
    PushSubscriptionFuzz.self,
    HostProofFuzz.self, MeetingRepliesFuzz.self, MeetingPlacesFuzz.self, XMPPFuzz.self, RTSPFuzz.self,
  ]
}
