internal import Glibc
public import Logging

/// Logs one line a message to standard error: with the time on a terminal or in a file, with the journal's priority
/// (`<6>…`, sd-daemon(3)) when systemd reads it, which adds the time itself.
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
    let prefix = isForJournal ? "<\(Self.priority(event.level))>" : "\(Self.timeOfDay()) \(Self.word(event.level)) "
    printError("\(prefix)\(event.message)\(details)")
  }

  /// systemd.exec(5): JOURNAL_STREAM has device and inode of what the journal reads. A program that a service started on a
  /// terminal inherits the variable too.
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

  /// One message stays one line, whatever a device or a peer calls itself.
  private static func quoted(_ value: String) -> String {
    let printable = String(String.UnicodeScalarView(value.unicodeScalars.map { $0.value < 32 ? " " : $0 }))
    return printable.contains(" ") || printable.isEmpty ? "\"\(printable)\"" : printable
  }

  private static func timeOfDay() -> String {
    var now = time(nil)
    var parts = tm()
    localtime_r(&now, &parts)
    let two = { (value: Int32) in value < 10 ? "0\(value)" : "\(value)" }
    return "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
  }
}
