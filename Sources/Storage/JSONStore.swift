internal import Glibc
internal import JSON

/// Why a store could not be opened or changed.
public enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  case file(FileError)
  /// The file does not hold what this program writes. `offset` is the first bad byte, when it is known. The file is left
  /// as it is.
  case damaged(path: String, offset: Int?, reason: String)
  /// Written by a newer version of the program. The file is left as it is.
  case newerVersion(path: String, found: Int, supported: Int)
  case invalidName(String)
  /// A token for RTSP, whose name is the user in an address.
  case invalidUser(String)
  case duplicateName(String)
  case unknownName(String)
  /// These permissions cannot be given here; the names of those in excess.
  case notAllowed([String])
  /// The store is full.
  case full(maximum: Int)

  public var description: String {
    switch self {
    case .file(let error): "\(error)"
    case .damaged(let path, let offset, let reason):
      "\(path) is damaged" + (offset.map { " at byte \($0)" } ?? "")
        + ": \(reason). It was left as it is; restore a backup of it, or move it away to start again: mv \(path) \(path).old"
    case .newerVersion(let path, let found, let supported):
      "\(path) has version \(found), this program reads up to version \(supported). It was left as it is; use the newer "
        + "program that wrote it, or restore a backup of the directory"
    case .invalidName(let name): "“\(name)” cannot be a name: use 1 to 64 printable characters"
    case .invalidUser(let name):
      "“\(name)” cannot be a user of RTSP: use letters, digits, -, . and _"
    case .duplicateName(let name): "“\(name)” exists already; choose another name or revoke that one first"
    case .unknownName(let name): "there is no “\(name)”"
    case .notAllowed(let names):
      names.isEmpty
        ? "at least one permission is needed: view, listen, talk or control"
        : "not allowed here: \(names.joined(separator: ", ")); leave it out"
    case .full(let maximum): "there are \(maximum) already, which is the limit; revoke one first"
    }
  }
}

/// A JSON file with a version, replaced atomically. It is never overwritten unless it could be read.
public struct JSONStore<Content: Decodable>: Sendable {
  /// Its `whenWritten` says when a change is on disk.
  public let file: AtomicFile

  /// Of every store until now.
  private static var version: Int { 1 }
  /// Our stores have five levels.
  private static var maximumDepth: Int { 16 }

  private struct Header: Decodable {
    var version: Int
  }

  /// - Parameter file: not accessed yet.
  public init(file: AtomicFile) {
    self.file = file
  }

  /// The content; nil when there is no file yet. Throws `StoreError.file`, `.damaged` or `.newerVersion`.
  public func load() throws(StoreError) -> Content? {
    let bytes: [UInt8]?
    do throws(FileError) {
      bytes = try file.read()
    } catch {
      throw .file(error)
    }
    guard let bytes else { return nil }
    let json = try read(bytes)
    do {
      let header = try json.decode(Header.self)
      guard header.version >= 1 else {
        throw StoreError.damaged(path: file.path, offset: nil, reason: "there is no version \(header.version)")
      }
      guard header.version <= Self.version else {
        throw StoreError.newerVersion(path: file.path, found: header.version, supported: Self.version)
      }
      return try json.decode(Content.self)
    } catch let error as StoreError {
      throw error
    } catch {
      throw .damaged(path: file.path, offset: nil, reason: Self.reason(error))
    }
  }

  /// For what may be lost: a file that cannot be parsed is renamed to `….unreadable`, in place of an earlier one of that
  /// name. `trouble` says why.
  func loadOrMoveAside() throws(FileError) -> (content: Content?, trouble: StoreError?) {
    do throws(StoreError) {
      return (try load(), nil)
    } catch {
      if case .file(let error) = error { throw error }
      guard rename(file.path, file.path + ".unreadable") == 0 else { throw .last("rename", file.path) }
      return (nil, error)
    }
  }

  private func read(_ bytes: [UInt8]) throws(StoreError) -> JSON {
    let offset: Int?
    let reason: String
    do throws(JSONError) {
      return try JSON(bytes, maximumBytes: AtomicFile.maximumBytes, maximumDepth: Self.maximumDepth)
    } catch {
      switch error {
      case .tooLong: (offset, reason) = (nil, "too large")
      case .tooDeep(let place): (offset, reason) = (place, "nested too deeply")
      case .duplicateMember(let name, let place): (offset, reason) = (place, "“\(name)” stands twice")
      case .malformed(let place):
        (offset, reason) = (place, place == bytes.count ? "it ends in the middle" : "not JSON")
      }
    }
    throw .damaged(path: file.path, offset: offset, reason: reason)
  }

  /// Writes the content with its version. Throws `StoreError.file`; what is stored is kept then.
  ///
  /// - Parameter removes: as for `AtomicFile.replace`.
  public func save(_ content: Content, removes: Bool = false) throws(StoreError) where Content: Encodable {
    guard var members = (try? JSON(encoding: content))?.object else {
      preconditionFailure("the content of a store is an object")
    }
    members["version"] = .number(Double(Self.version))
    do throws(FileError) {
      try file.replace(Array(JSON.object(members).text(pretty: true).utf8) + [UInt8(ascii: "\n")], removes: removes)
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
      return text.isEmpty ? "the whole file" : text
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
