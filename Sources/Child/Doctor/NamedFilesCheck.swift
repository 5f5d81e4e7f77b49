internal import Frames
internal import Glibc
internal import Health
internal import Meeting
internal import SecureTransport
internal import Signaling
internal import Storage
internal import TURN
internal import Wire

/// Secrets and authorities that the configuration names by their files: whether they can be read now. Connects to nothing.
enum NamedFilesCheck {
  static func servers(_ entries: [ChildConfiguration.ICEServerEntry]) -> [Finding] {
    entries.map { entry in
      let what = "server \(entry.urls.first.map { "\($0)" } ?? "")"
      return finding(what, "not tried, `cradle-child away` does", files(entry)) {
        _ = try entry.server(
          for: "check", lifetime: .seconds(600), clock: MonotonicClock.wallClockReference, now: MonotonicClock.now,
          hashes: CryptoHashes())
      }
    }
  }

  static func meetings(_ meetings: [ChildConfiguration.Meeting]) -> [Finding] {
    meetings.map { meeting in
      finding("meeting place \(meeting.url)", "not tried, `cradle-child away` does", files(meeting)) {
        try read(meeting)
      }
    }
  }

  /// The child's password, that of its parents, and the authorities.
  static func read(_ meeting: ChildConfiguration.Meeting) throws {
    _ = try MeetingPlace(meeting, access: meeting.access)
    if let parents = meeting.parents { _ = try MeetingPlace(meeting, access: parents) }
    try meeting.authorities.map(readAuthorities)
  }

  /// Sends nothing: that is `cradle-child notify --test`.
  static func notifiers(_ notifiers: [ChildConfiguration.Notifier]) -> [Finding] {
    notifiers.map { notifier in
      let what = "notifier \(notifier.name)"
      var origin = ""
      var finding = finding(what, "", files(notifier)) {
        origin = "\(try ConfiguredRequest(notifier, child: "").url.origin)"
        try notifier.authorities.map(readAuthorities)
      }
      if finding.state == .ok { finding.detail = "\(origin); not tried, `cradle-child notify --test` does" }
      return finding
    }
  }

  /// Nil when no file is named.
  static func push(_ push: ChildConfiguration.Push) -> Finding? {
    push.authorities.map { path in
      finding("push", "\(path) has certificates", [path]) { try readAuthorities(path) }
    }
  }

  private static func readAuthorities(_ path: String) throws {
    _ = try TLSContext(trust: .authorities(file: path))
  }

  /// - Parameter files: what `read` reads. What this user may not read is not known; root and the daemon may.
  private static func finding(_ what: String, _ good: String, _ files: [String], _ read: () throws -> Void) -> Finding {
    do {
      try read()
      return Finding(what, .ok, good)
    } catch {
      let isHidden = geteuid() != 0 && files.contains { access($0, R_OK) != 0 && errno == EACCES }
      return Finding(
        what, isHidden ? .unknown : .problem, "\(error)",
        remedy: isHidden ? "Run it with sudo." : "Look at this entry in child.yaml, and at the file.")
    }
  }

  private static func files(_ entry: ChildConfiguration.ICEServerEntry) -> [String] {
    switch entry.access {
    case .everybody: []
    case .password(_, let value), .secret(let value): [value.file].compactMap(\.self)
    }
  }

  private static func files(_ meeting: ChildConfiguration.Meeting) -> [String] {
    [meeting.access?.password?.file, meeting.parents?.password?.file, meeting.authorities].compactMap(\.self)
  }

  private static func files(_ notifier: ChildConfiguration.Notifier) -> [String] {
    ([notifier.url] + notifier.headers.map(\.value)).compactMap(\.file)
      + [notifier.authorities].compactMap(\.self)
  }
}

extension ConfiguredValue {
  fileprivate var file: String? { if case .file(let path, _) = self { path } else { nil } }
}

extension ChildConfiguration.Meeting {
  /// The PEM file with the authority that the child trusts there; nil: those of the machine.
  fileprivate var authorities: String? {
    switch kind {
    case .rendezvous: nil
    case .mqtt(_, _, let file), .xmpp(_, _, _, let file): file
    }
  }
}
