/// One thing that takes bytes from a peer or a file. It may refuse them; it must not trap or hang.
public protocol FuzzBody: SendableMetatype {
  static var name: String { get }
  /// Valid inputs to begin from.
  static var seeds: [[UInt8]] { get }
  static func run(_ input: [UInt8])
}

extension FuzzBody {
  /// The name for folders and command lines: lower case, hyphens for spaces.
  public static var slug: String { name.lowercased().split(separator: " ").joined(separator: "-") }
}
