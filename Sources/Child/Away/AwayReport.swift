public import Control
internal import Frames
internal import Wire

/// The daemon's part of `cradle-child away`.
public struct AwayReport: ControlReply {
  public struct Meeting: Codable, Hashable, Sendable {
    public var place: String
    /// `rendezvous`, `mqtt` or `xmpp`.
    public var kind: String
    /// `connecting`, `present` or `absent`.
    public var state: String
    /// For how long it has been present.
    public var seconds: Double?
    /// Why it is absent.
    public var reason: String?
  }

  /// `allow`, `never` or `only`.
  public var relay: String
  public var meetings: [Meeting]
  /// STUN and TURN servers that the meeting places lend the child.
  public var lentServers: [String]
}

extension MeetingBoard {
  var meetings: [AwayReport.Meeting] {
    standings.map { place, kind, standing in
      switch standing {
      case .connecting: .init(place: place, kind: kind, state: "connecting")
      case .present(let since):
        .init(
          place: place, kind: kind, state: "present",
          seconds: (MonotonicClock.now - since).inSeconds.rounded(.down))
      case .absent(let reason): .init(place: place, kind: kind, state: "absent", reason: reason)
      }
    }
  }
}
