public import Control
public import FoundationEssentials

/// `cradle-child pair`: opens the pairing window.
public struct PairOpen: DaemonCommand {
  public typealias Reply = PairingOpened

  public static let name = "pair.open"
  public static let parameters: [ControlParameter] = [.flag("admin"), .flag("recordings")]

  /// The new parent gets these permissions, too.
  public var admin: Bool?
  public var recordings: Bool?

  public init(admin: Bool, recordings: Bool) {
    self.admin = admin
    self.recordings = recordings
  }
}

/// `pair --json`, when the window opens.
public struct PairingOpened: ControlReply {
  /// `1234-5678`
  public var code: String
  /// `https://HOST/#pair=SECRET`
  public var link: String
  /// The same at each address that leads here, `link` first: more than one where the machine is in several networks.
  public var links: [String]
  public var expiresAt: Date
  /// What a parent that pairs may do.
  public var allow: [String]
  /// Why the links work on this machine alone; left out where they do not.
  public var problem: String?
  /// Whether somebody has `admin` and uses it; nil from a daemon of an earlier version.
  public var hasOwner: Bool?
}
