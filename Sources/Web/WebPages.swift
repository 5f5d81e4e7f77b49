internal import CWebPages

/// The phone page: the files of Sources/Web/Pages, compiled into the program. Nothing to install, nothing to lose.
///
/// All but the shell (`index.html`, the service worker, the manifest) are served below `folder`, whose name changes with
/// their content: browsers may keep them for good, and a reload asks for one file. The languages are the tables in `texts`.
public enum WebPages {
  /// Names these files: 16 hexadecimal digits that change when a file does.
  public static let version: String = {
    // FNV-1a, 64 bits: it only has to differ.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for path in contents.keys.sorted() {
      for byte in Array(path.utf8) + [0] + (contents[path] ?? []) {
        hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
      }
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }()

  /// `/page/VERSION/`
  public static let folder = "/page/\(version)/"

  /// Names in Sources/Web/Pages, such as `core/pairing.js`.
  public static var names: [String] { contents.keys.sorted() }

  /// The bytes of a file; nil if there is none of this name. The shell names `folder` instead of `/page/0/`, and `languages`.
  public static func content(_ name: String) -> [UInt8]? {
    guard shell.contains(name) else { return contents[name] }
    return shellContents[name]
  }

  /// Served outside `folder`.
  public static let shell: Set<String> = ["index.html", "service-worker.js", "manifest.webmanifest"]

  /// By the ending of its name, with the character set for texts.
  public static func contentType(_ name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "svg": "image/svg+xml"
    case "png": "image/png"
    case "webmanifest": "application/manifest+json"
    default: "application/octet-stream"
    }
  }

  private static let contents: [String: [UInt8]] = {
    var files: [String: [UInt8]] = [:]
    for index in 0..<web_page_count() {
      let page = web_page_at(index)
      files[String(cString: page.path)] = Array(UnsafeBufferPointer(start: page.start, count: page.end - page.start))
    }
    return files
  }()

  /// By language, where its table is and its own name and first words: the line `own` of the table. A JSON object.
  public static let languages: String = {
    let entries = names.compactMap { name -> String? in
      guard let match = name.wholeMatch(of: #/texts\/(..)\.js/#), let content = contents[name],
        let own = String(decoding: content, as: UTF8.self).firstMatch(of: #/\n  own: \{(.*)\},\n/#)
      else { return nil }
      return "\"\(match.1)\": {\"table\": \"./page/0/\(name)\",\(own.1)}"
    }
    return "{\(entries.joined(separator: ", "))}"
  }()

  private static let shellContents: [String: [UInt8]] = {
    var files: [String: [UInt8]] = [:]
    for name in shell {
      guard let content = contents[name] else { continue }
      let text = String(decoding: content, as: UTF8.self).split(
        separator: "/*languages*/", omittingEmptySubsequences: false
      ).joined(separator: languages)
      files[name] = Array(
        text.split(separator: "/page/0/", omittingEmptySubsequences: false).joined(separator: folder).utf8)
    }
    return files
  }()
}
