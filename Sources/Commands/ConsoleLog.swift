internal import Glibc
public import Logging

/// Logs each message as one line to standard error. When systemd's journal reads it, a line begins with its priority
/// (`<6>…`, sd-daemon(3)) and the journal adds the time; otherwise it begins with the time.
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
    printError("\(prefix)\(event.message)\(details)")
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

  /// Keeps a message on one line, whatever name a device or a peer has.
  private static func quoted(_ value: String) -> String {
    let printable = String(String.UnicodeScalarView(value.unicodeScalars.map { $0.value < 32 ? " " : $0 }))
    return printable.contains(" ") || printable.isEmpty ? "\"\(printable)\"" : printable
  }
}
