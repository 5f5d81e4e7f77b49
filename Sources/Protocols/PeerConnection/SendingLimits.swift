internal import RTPSending
internal import SDP

/// How much a peer wants to be sent, by the `b=` lines of its description (RFC 8866 section 5.8): kbit/s, with the headers of
/// IP, UDP and RTP; nil: any rate.
public struct SendingLimits: Hashable, Sendable {
  /// Of everything together.
  public var totalKbps: Int?
  public var pictureKbps: Int?
  public var soundKbps: Int?

  /// Opus at 40 kbit/s, each packet with a copy of the one before (RFC 2198), and its headers.
  public static let soundWithCopiesKbps = 105

  public init() {}

  init(_ session: NegotiatedSession) {
    let sent = session.media.filter(\.direction.sends)
    func limit(of kind: MediaKind) -> Int? {
      sent.first { $0.kind == kind }?.remoteBandwidth.limitKbps
    }
    pictureKbps = limit(of: .video)
    soundKbps = limit(of: .audio)
    // Sound is as much as it is: beside a limit for the picture alone it comes on top.
    let sections = sent.map { $0.remoteBandwidth.limitKbps ?? ($0.kind == .audio ? Self.soundWithCopiesKbps : nil) }
    let limits = [session.remoteBandwidth.limitKbps, pictureKbps == nil && soundKbps == nil ? nil : Self.sum(sections)]
    totalKbps = limits.compactMap { $0 }.min()
  }

  /// What is left for the picture beside sound of this rate; nil: any rate.
  public func pictureKbps(besideSoundKbps sound: Int) -> Int? {
    [pictureKbps, totalKbps.map { max(0, $0 - sound) }].compactMap { $0 }.min()
  }

  /// Nil if one of them has no limit.
  private static func sum(_ limits: [Int?]) -> Int? {
    limits.reduce(0) { sum, limit in
      guard let sum, let limit else { return nil }
      return sum + limit
    }
  }

  /// Whether a section for sound takes each packet's copy as well.
  static func leavesRoomForCopies(_ media: NegotiatedMedia) -> Bool {
    media.remoteBandwidth.limitKbps.map { $0 >= soundWithCopiesKbps } ?? true
  }
}

extension PeerConnection {
  /// Before anything is sent.
  func limitSending() {
    guard let limit = sendingLimits.totalKbps else { return }
    let mayProbe = sender.mayProbe
    sender = RTPSender(
      configuration: configuration.sending.limited(toKbps: limit), wallClock: sender.wallClock, random: random)
    sender.mayProbe = mayProbe
  }
}
