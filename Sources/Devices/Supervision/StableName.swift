internal import Linux
internal import Synchronization

/// Finds a device that is configured by its number again when it comes back under another one, as USB devices do.
///
/// The first time it is opened, a name is remembered that goes with the device: udev's link of a camera (its serial number,
/// or else its socket), the identifier of a sound card.
final class StableName: Sendable {
  private let files: SystemFiles
  /// A camera's links, the best first.
  private let links = Mutex<[String]>([])
  /// A sound card's identifier.
  private let remembered = Mutex<String?>(nil)

  init(_ files: SystemFiles = SystemFiles()) {
    self.files = files
  }

  // MARK: Cameras

  /// The node of the remembered camera; `path` when none is remembered, or it is not there.
  func node(for path: String) -> String {
    links.withLock { $0 }.lazy.compactMap { self.node(of: $0) }.first ?? path
  }

  /// `path` has been opened.
  func remember(node path: String) {
    links.withLock { links in
      guard links.isEmpty, let node = resolved(path) else { return }
      links = Self.folders.flatMap { folder in self.files.names(folder).map { "\(folder)/\($0)" } }
        .filter { self.node(of: $0) == node }
    }
  }

  /// udev's rules 60-persistent-v4l.rules. A serial number is found in every socket.
  private static let bySerialNumber = "/dev/v4l/by-id"
  private static let folders = [bySerialNumber, "/dev/v4l/by-path"]

  /// What the link leads to; nil for one by a serial number that two cameras share: it leads to the one that was plugged in
  /// last.
  private func node(of link: String) -> String? {
    guard let node = resolved(link) else { return nil }
    return link.hasPrefix(Self.bySerialNumber) && sharesSerialNumber(node) ? nil : node
  }

  /// Whether another USB camera is there with the same maker, model and serial number: cheap ones all have the same.
  func sharesSerialNumber(_ node: String) -> Bool {
    guard let own = usbDevice(of: node) else { return false }
    return files.names(Self.nodes).contains { name in
      guard let other = usbDevice(of: name) else { return false }
      return other.folder != own.folder && other.identity == own.identity
    }
  }

  private static let nodes = "/sys/class/video4linux"

  /// The device of a node, which is one of its interfaces' parents; nil for one that is not on USB.
  private func usbDevice(of node: String) -> (folder: String, identity: [String])? {
    let name = node.split(separator: "/").last.map(String.init) ?? node
    let device = "\(Self.nodes)/\(name)/device/.."
    guard let maker = files.line("\(device)/idVendor"), let model = files.line("\(device)/idProduct"),
      let folder = files.resolved(device)
    else { return nil }
    return (folder, [maker, model, files.line("\(device)/serial") ?? ""])
  }

  private func resolved(_ path: String) -> String? {
    guard let target = files.resolved(path), let root = files.resolved("/") else { return nil }
    return root == "/" ? target : String(target.dropFirst(root.utf8.count))
  }

  // MARK: Sound cards

  /// `pcm` with the present number of the remembered card; `pcm` when none is remembered, or it is not there.
  func pcm(for pcm: String) -> String {
    guard let card = remembered.withLock({ $0 }), let numbered = NumberedPCM(pcm) else { return pcm }
    let number = files.names(Self.cards).lazy.compactMap(Self.number).first { self.identifier(of: $0) == card }
    return number.map { numbered.with($0) } ?? pcm
  }

  /// `pcm` has been opened.
  func remember(pcm: String) {
    remembered.withLock { name in
      guard name == nil, let numbered = NumberedPCM(pcm) else { return }
      name = identifier(of: numbered.card)
    }
  }

  private static let cards = "/sys/class/sound"

  private static func number(_ name: String) -> Int? {
    name.hasPrefix("card") ? Int(name.dropFirst(4)) : nil
  }

  private func identifier(of card: Int) -> String? {
    files.line("\(Self.cards)/card\(card)/id")
  }
}

/// `hw:1`, `plughw:1,0`: an ALSA name with a card's number.
private struct NumberedPCM {
  var prefix: Substring
  var card: Int
  /// Device and subdevice, with their comma.
  var rest: Substring

  init?(_ name: String) {
    guard let colon = name.firstIndex(of: ":"), ["hw", "plughw"].contains(name[..<colon]) else { return nil }
    let arguments = name[name.index(after: colon)...]
    let digits = arguments.prefix { $0.isASCII && $0.isNumber }
    guard let card = Int(digits) else { return nil }
    prefix = name[...colon]
    self.card = card
    rest = arguments.dropFirst(digits.count)
  }

  func with(_ card: Int) -> String { "\(prefix)\(card)\(rest)" }
}
