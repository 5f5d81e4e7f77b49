public import Linux

/// Available memory: proc_meminfo(5).
public enum MemoryCheck {
  // MB. The child needs about 50 MB with a viewer; a package upgrade needs more beside it.
  private static let little = 100
  private static let tooLittle = 40

  public static func run(_ files: SystemFiles) -> Finding {
    var values: [(name: Substring, megabytes: Int)] = []
    for fields in files.words("/proc/meminfo", further: ":") {
      // In KiB.
      if fields.count > 1, let value = Int(fields[1]) { values.append((fields[0], value >> 10)) }
    }
    let value = { (name: Substring) in values.first { $0.name == name }?.megabytes }
    guard let total = value("MemTotal"), let available = value("MemAvailable") else {
      return Finding("memory", .unknown, "the system does not say how much is free", remedy: "free -m")
    }
    var text = "\(available) of \(total) MB available"
    if let swap = value("SwapTotal") {
      text += swap == 0 ? ", no swap" : ", \(swap - (value("SwapFree") ?? swap)) of \(swap) MB swap in use"
    }
    let state: Finding.State = available < tooLittle ? .problem : available < little ? .warning : .ok
    return Finding("memory", state, text, remedy: state == .ok ? nil : "ps -eo rss,comm --sort=-rss | head")
  }
}
