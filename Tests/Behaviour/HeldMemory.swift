/// What something holds on to, by reflection: enough to tell whether packets and streams are gone.
struct HeldMemory {
  /// Elements of all arrays, sets and dictionaries; a byte is one.
  private(set) var elements = 0
  /// Instances of classes, each once.
  private(set) var objects = 0
  private var seen: Set<ObjectIdentifier> = []

  static func of(_ value: Any) -> HeldMemory {
    var held = HeldMemory()
    held.visit(value, depth: 0)
    return held
  }

  private mutating func visit(_ value: Any, depth: Int) {
    if let bytes = value as? [UInt8] {
      elements += bytes.count
      return
    }
    guard depth < 64 else { return }
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .class:
      guard seen.insert(ObjectIdentifier(value as AnyObject)).inserted else { return }
      objects += 1
    case .collection, .set, .dictionary:
      elements += mirror.children.count
    default: break
    }
    for child in mirror.children { visit(child.value, depth: depth + 1) }
  }
}
