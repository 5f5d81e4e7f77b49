internal import FoundationEssentials

/// Why a store could not be opened or changed.
public enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  case file(FileError)
  /// What is in the file is not what we wrote; `offset` is the byte where it stops making sense, when that is known.
  /// The file stays as it is.
  case damaged(path: String, offset: Int?, reason: String)
  /// Written by a newer version of the program. The file stays as it is.
  case newerVersion(path: String, found: Int, supported: Int)
  case invalidName(String)
  case duplicateName(String)
  case unknownName(String)
  /// These permissions cannot be given here; the names are what was asked for too much.
  case notAllowed([String])
  /// The store is full.
  case full(maximum: Int)

  public var description: String {
    switch self {
    case .file(let error): "\(error)"
    case .damaged(let path, let offset, let reason):
      "\(path) is damaged" + (offset.map { " at byte \($0)" } ?? "")
        + ": \(reason). It was left as it is; restore a backup of it, or move it away to begin anew: mv \(path) \(path).old"
    case .newerVersion(let path, let found, let supported):
      "\(path) has version \(found), this program reads up to \(supported). It was left as it is; use the newer "
        + "program that wrote it, or restore a backup of the directory"
    case .invalidName(let name): "“\(name)” cannot be a name: use 1 to 64 printable characters"
    case .duplicateName(let name): "there is a “\(name)” already; choose another name or revoke that one first"
    case .unknownName(let name): "there is no “\(name)”"
    case .notAllowed(let names):
      names.isEmpty
        ? "at least one permission is needed: view, listen, talk or control"
        : "not allowed here: \(names.joined(separator: ", ")); leave it out"
    case .full(let maximum): "there are \(maximum) already, which is the limit; revoke one first"
    }
  }
}

/// A JSON file with a version, replaced atomically and never overwritten unless it could be read.
struct JSONStore: Sendable {
  let file: AtomicFile
  let version: Int

  private struct Header: Decodable {
    var version: Int
  }

  /// The content; nil when there is no file yet.
  func load<Content: Decodable>(_: Content.Type) throws(StoreError) -> Content? {
    let bytes: [UInt8]?
    do throws(FileError) {
      bytes = try file.read()
    } catch {
      throw .file(error)
    }
    guard let bytes else { return nil }
    if let offset = JSONSyntax.firstError(in: bytes) {
      let reason = offset == bytes.count ? "it ends in the middle" : "not JSON"
      throw .damaged(path: file.path, offset: offset, reason: reason)
    }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    do {
      let header = try decoder.decode(Header.self, from: Data(bytes))
      guard header.version >= 1 else {
        throw StoreError.damaged(path: file.path, offset: nil, reason: "version \(header.version) never was")
      }
      guard header.version <= version else {
        throw StoreError.newerVersion(path: file.path, found: header.version, supported: version)
      }
      return try decoder.decode(Content.self, from: Data(bytes))
    } catch let error as StoreError {
      throw error
    } catch {
      throw .damaged(path: file.path, offset: nil, reason: Self.reason(error))
    }
  }

  func save(_ content: some Encodable) throws(StoreError) {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let bytes: [UInt8]
    do {
      bytes = Array(try encoder.encode(content)) + [UInt8(ascii: "\n")]
    } catch {
      throw .damaged(path: file.path, offset: nil, reason: "cannot be encoded: \(error)")
    }
    do throws(FileError) {
      try file.write(bytes)
    } catch {
      throw .file(error)
    }
  }

  private static func reason(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    func path(_ context: DecodingError.Context, _ last: String = "") -> String {
      var text = context.codingPath.reduce(into: "") { text, key in
        text += key.intValue.map { "[\($0)]" } ?? (text.isEmpty ? key.stringValue : ".\(key.stringValue)")
      }
      if !last.isEmpty { text += text.isEmpty ? last : ".\(last)" }
      return text.isEmpty ? "the whole" : text
    }
    switch error {
    case .keyNotFound(let key, let context): return "\(path(context, key.stringValue)) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      return "\(path(context)) has the wrong type"
    case .dataCorrupted(let context): return "\(path(context)) has an impossible value"
    @unknown default: return "\(error)"
    }
  }
}
