internal import Glibc
public import Logging
internal import Wire

/// Logs each message as one line to standard error. When systemd's journal reads it, a line begins with its priority
/// (`<6>…`, sd-daemon(3)) and the journal adds the time; otherwise it begins with the time.
///
/// Names and reasons come from devices, peers and programs: none of them can end its line, control a terminal or look like
/// another field. A value with a space, `"` or `\` stands in quotes, with `\` before both; what is too long is cut, with `…`.
public struct ConsoleLog: LogHandler {
  public var logLevel: Logger.Level = .info
  public var metadata: Logger.Metadata = [:]
  private let isForJournal = ConsoleLog.journalReadsStandardError

  public init() {}

  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  public func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    let details = all.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.quoted("\($0.value)"))" }.joined()
    let prefix = isForJournal ? "<\(Self.priority(event.level))>" : "\(timeOfDay()) \(Self.word(event.level)) "
    printError(prefix + Self.shown("\(event.message)", maximum: 2000) + details)
  }

  /// systemd.exec(5): JOURNAL_STREAM names the device and inode that the journal reads. They are compared, because a program
  /// that a service starts on a terminal inherits the variable too.
  private static var journalReadsStandardError: Bool {
    guard let stream = getenv("JOURNAL_STREAM") else { return false }
    var status = stat()
    return fstat(STDERR_FILENO, &status) == 0 && String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
  }

  /// syslog(3) priorities.
  private static func priority(_ level: Logger.Level) -> Int {
    switch level {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    case .critical: 2
    }
  }

  private static func word(_ level: Logger.Level) -> String {
    switch level {
    case .trace, .debug, .info: "info "
    case .notice: "note "
    case .warning: "WARN "
    case .error, .critical: "ERROR"
    }
  }

  /// A field's value.
  static func quoted(_ value: String) -> String {
    let text = shown(value, maximum: 1000)
    // By scalar: with a mark upon it, a quote is another character.
    let special: [Unicode.Scalar] = [" ", "\"", "\\"]
    guard text.isEmpty || text.unicodeScalars.contains(where: special.contains) else { return text }
    var result = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { result.append("\\") }
      result.append(scalar)
    }
    return String(result) + "\""
  }

  private static func shown(_ text: String, maximum: Int) -> String {
    let printable = text.printable(maximum: maximum + 1).unicodeScalars
    guard printable.count > maximum else { return String(printable) }
    return String(printable.prefix(maximum)) + "…"
  }
}
