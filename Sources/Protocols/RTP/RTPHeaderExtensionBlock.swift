import Wire

/// A raw header extension. RFC 3550 section 5.3.1; its elements follow RFC 8285.
public struct RTPHeaderExtensionBlock: Hashable, Sendable {
  /// "Defined by profile": 0xBEDE for one-byte elements, 0x1000...0x100F for two-byte ones.
  public var profile: UInt16
  /// A multiple of four bytes.
  public var data: ArraySlice<UInt8>

  public init(profile: UInt16, data: ArraySlice<UInt8>) {
    self.profile = profile
    self.data = data
  }

  static let oneByteProfile: UInt16 = 0xbede
  static let twoByteProfile: UInt16 = 0x1000

  /// The readable elements. Iteration stops at a malformed one; the payload may still be good.
  public var elements: RTPHeaderExtensionElements { RTPHeaderExtensionElements(self) }

  func write(to writer: inout ByteWriter) {
    let words = min((data.count + 3) / 4, Int(UInt16.max))
    writer.write(profile)
    writer.write(UInt16(words))
    let kept = data.prefix(words * 4)
    writer.write(contentsOf: kept)
    writer.write(zeros: words * 4 - kept.count)
  }
}

/// One element of a header extension.
public struct RTPHeaderExtensionElement: Hashable, Sendable {
  /// 1...14 in the one-byte form, 1...255 in the two-byte form.
  public var id: UInt8
  public var data: ArraySlice<UInt8>
}

/// Walks the elements of a header extension without allocating.
public struct RTPHeaderExtensionElements: Sequence, IteratorProtocol, Sendable {
  private enum Form { case oneByte, twoByte, unknown }
  private let form: Form
  private var rest: ArraySlice<UInt8>

  fileprivate init(_ block: RTPHeaderExtensionBlock) {
    rest = block.data
    form =
      switch block.profile {
      case RTPHeaderExtensionBlock.oneByteProfile: .oneByte
      case 0x1000...0x100f: .twoByte
      default: .unknown
      }
  }

  public mutating func next() -> RTPHeaderExtensionElement? {
    // Zero bytes between elements are padding in both forms.
    while rest.first == 0 { rest.removeFirst() }
    guard let head = rest.popFirst() else { return nil }
    let id: UInt8
    let count: Int
    switch form {
    case .oneByte:
      // RFC 8285 section 4.2: identifier 15 ends the processing; the length field is one less than the length.
      id = head >> 4
      guard id != 15 else { return end() }
      count = Int(head & 0x0f) + 1
    case .twoByte:
      id = head
      guard let length = rest.popFirst() else { return nil }
      count = Int(length)
    case .unknown:
      return end()
    }
    guard rest.count >= count else { return end() }
    defer { rest = rest.dropFirst(count) }
    // Identifier 0 with a length occurs only in the one-byte form and ends the processing.
    return id == 0 ? end() : RTPHeaderExtensionElement(id: id, data: rest.prefix(count))
  }

  private mutating func end() -> RTPHeaderExtensionElement? {
    rest = []
    return nil
  }
}
