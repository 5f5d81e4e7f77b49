internal import Wire

/// Inputs to hashing, signing and sealing in pairing: labels and length-prefixed parts, so that no two different
/// messages have the same bytes.
enum PairingBytes {
  /// Each use has its own label: nothing made for one purpose or role is valid for another.
  static func writer(label: String) -> ByteWriter {
    var writer = ByteWriter(reservingCapacity: 256)
    writer.write(part: Array("Cradle pairing 1 \(label)".utf8))
    return writer
  }

  static func label(_ text: String) -> [UInt8] { writer(label: text).bytes }

  /// Binds a SPAKE2+ run with a code to this protocol and to the parameters that the child sent.
  static func names(salt: [UInt8], iterations: Int) -> SPAKE2PlusNames {
    var context = writer(label: "code")
    context.write(part: salt)
    context.write(UInt32(clamping: iterations))
    return SPAKE2PlusNames(context: context.bytes, prover: Array("parent".utf8), verifier: Array("child".utf8))
  }

  /// The same for a link.
  static func names(link id: [UInt8]) -> SPAKE2PlusNames {
    var context = writer(label: "link")
    context.write(part: id)
    return SPAKE2PlusNames(context: context.bytes, prover: Array("parent".utf8), verifier: Array("child".utf8))
  }

  /// Hash of everything exchanged before the introductions. `names` include whether a code or a link was used.
  static func transcript(
    names: SPAKE2PlusNames, shareP: [UInt8], session: [UInt8], shareV: [UInt8], hashes: any Hashes
  ) -> [UInt8] {
    var writer = writer(label: "transcript")
    for part in [names.context, shareP, session, shareV] {
      writer.write(part: part)
    }
    return hashes.sha256(writer.bytes)
  }

  /// Identifies a link without revealing its secret.
  static func linkID(_ secret: PairingSecret, hashes: any Hashes) -> [UInt8] {
    HKDF.derive(from: secret.bytes, info: label("link id"), count: PairingSize.linkID, hashes: hashes)
  }
}

extension ByteWriter {
  /// A two-byte length, then the part.
  mutating func write(part: [UInt8]) {
    precondition(part.count <= Int(UInt16.max), "parts are short; their makers bound them")
    write(UInt16(part.count))
    write(contentsOf: part)
  }
}

extension ByteReader {
  mutating func readPart() throws(WireError) -> [UInt8] {
    Array(try readBytes(Int(try readUInt16())))
  }
}
