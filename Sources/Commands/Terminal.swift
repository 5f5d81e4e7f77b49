internal import Glibc

/// `20:52:07`, in this machine's time zone.
public func timeOfDay() -> String {
  var now = time(nil)
  var parts = tm()
  localtime_r(&now, &parts)
  return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
}

/// Columns of the terminal on standard output; nil when it is none.
public func standardOutputWidth() -> Int? { isatty(STDOUT_FILENO) == 1 ? terminalWidth() : nil }

/// Columns of the terminal on standard output; 80 when it does not say.
public func terminalWidth() -> Int {
  var size = winsize()
  guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
  return Int(size.ws_col)
}
