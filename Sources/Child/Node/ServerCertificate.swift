internal import Frames
internal import Logging
internal import NIOCore
internal import Pairing
internal import SecureTransport
internal import Server
internal import Storage
internal import Wire

/// Keeps the certificate of the HTTPS port right while the node runs.
///
/// The family's own files (`tls:`) are loaded again when they change. Without them the node's root issues another one when the
/// machine's date, addresses or name have changed.
///
/// `@unchecked Sendable` because it is confined to the event loop, but for `init`.
final class ServerCertificate: @unchecked Sendable {
  /// What the current one was issued for.
  private struct Issue {
    var hosts: NodeHosts
    /// The date, seconds since 1970; nil: unknown.
    var date: Int64?
    var instant: Instant
  }

  private let configuration: ChildConfiguration
  private let profile: NodeProfile
  private let rootFile: AtomicFile
  private let clock: ExpiryClock
  private let loop: any EventLoop
  private let logger: Logger
  /// Nil with files of the family's own, and while the node has no name or address to make it for.
  private(set) var root: NodeCertificate?
  /// For new connections.
  private(set) var context: TLSContext
  private var issue: Issue?
  private var server: HTTPServer?
  private var files: CertificateFileMonitor?
  private var timer: RepeatedTask?
  /// When the files' end was last mentioned.
  private var warnedAt: Instant?

  private static let interval: TimeAmount = .seconds(5)
  /// The certificate is not issued again for a clock that is set by less: its validity begins two days before.
  private static let toleratedSeconds: Int64 = 86_400
  /// Of the 800 days that it is good for.
  private static let maximumAge: Duration = .seconds(30 * 86_400)
  private static let warningInterval: Duration = .seconds(86_400)

  /// Loads or makes what is needed. Throws `NodeError`.
  init(
    _ configuration: ChildConfiguration, profile: NodeProfile, rootFile: AtomicFile, clock: ExpiryClock,
    loop: any EventLoop, logger: Logger
  ) throws {
    self.configuration = configuration
    self.profile = profile
    self.rootFile = rootFile
    self.clock = clock
    self.loop = loop
    self.logger = logger
    if let tls = configuration.tls {
      files = CertificateFileMonitor(paths: [tls.certificate, tls.key], on: loop) { try NodeTLS.context(tls) }
      context = try NodeTLS.context(tls)
      warnOfTheEnd(tls)
    } else {
      let hosts = NodeHosts.current(listen: configuration.listen.host)
      root = try NodeCertificate.stored(rootFile)
      if root == nil {
        do {
          root = try NodeCertificate.make(for: hosts, name: profile.name, in: rootFile)
        } catch {
          // Phones must not install one that is gone with this process. Without it browsers warn; nobody loses the picture.
          logger.error("there is no root certificate for browsers", metadata: ["reason": "\(error)"])
        }
      }
      let date = clock.plausible?.seconds
      context = try profile.tls(root: root, hosts: hosts, date: date)
      issue = Issue(hosts: hosts, date: date, instant: MonotonicClock.now)
      warnOfOtherHosts(hosts)
    }
  }

  /// Begins to watch. On the loop.
  func start(_ server: HTTPServer) {
    self.server = server
    // What has changed since.
    server.use(context)
    files?.start { [weak self] result in self?.loaded(result) }
    timer = loop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { [weak self] _ in
      self?.beat()
    }
  }

  /// On the loop.
  func stop() {
    timer?.cancel()
    files?.stop()
  }

  private func beat() {
    clock.beat()
    if let tls = configuration.tls { return warnOfTheEnd(tls) }
    let hosts = NodeHosts.current(listen: configuration.listen.host)
    let date = clock.plausible?.seconds
    guard let issue, isStale(issue, hosts, date) else { return }
    reissue(hosts, date, because: hosts == issue.hosts ? "the date" : "the addresses")
  }

  private func isStale(_ issue: Issue, _ hosts: NodeHosts, _ date: Int64?) -> Bool {
    let age = MonotonicClock.now - issue.instant
    guard hosts == issue.hosts, age < Self.maximumAge else { return true }
    guard let date, let issued = issue.date else { return (date == nil) != (issue.date == nil) }
    return abs(date - issued - age.components.seconds) > Self.toleratedSeconds
  }

  private func reissue(_ hosts: NodeHosts, _ date: Int64?, because reason: String) {
    // Failures are tried again only when something changes once more.
    defer { issue = Issue(hosts: hosts, date: date, instant: MonotonicClock.now) }
    do {
      if root == nil { root = try NodeCertificate.make(for: hosts, name: profile.name, in: rootFile) }
      context = try profile.tls(root: root, hosts: hosts, date: date)
      server?.use(context)
      logger.notice(
        "the certificate for browsers was issued again", metadata: ["because": "\(reason) changed", "for": "\(hosts)"])
      if hosts != issue?.hosts { warnOfOtherHosts(hosts) }
    } catch {
      logger.error("the certificate for browsers could not be issued again", metadata: ["reason": "\(error)"])
    }
  }

  private func warnOfOtherHosts(_ hosts: NodeHosts) {
    guard let root else { return }
    let missing = root.missing(of: hosts)
    guard !missing.isEmpty else { return }
    logger.warning(
      """
      phones that have the root certificate installed warn at addresses that it is not for. \
      `cradle-child certificate renew` makes a new one, which phones have to install again; pairs stay
      """,
      metadata: ["not-for": "\(missing.joined(separator: ", "))", "for": "\(root.hosts.joined(separator: ", "))"])
  }

  // MARK: - Commands

  /// What `cradle-child certificate` shows.
  var report: CertificateReport {
    let hosts = NodeHosts.current(listen: configuration.listen.host)
    let validity = context.validity.map { range in
      [range.lowerBound, range.upperBound].map { UnixTime(seconds: $0).date }
    }
    return CertificateReport(
      file: configuration.tls?.certificate,
      root: root.map { .init(fingerprint: $0.fingerprint, hosts: $0.hosts, missing: $0.missing(of: hosts)) },
      hosts: hosts.all, validFrom: validity?[0], validUntil: validity?[1])
  }

  /// Makes a new root for the present names and addresses, and serves by it. Pairs belong to the identity key, and stay.
  ///
  /// - Throws: `NodeError` or `FileError`; nothing has changed then.
  func renewRoot() throws {
    guard configuration.tls == nil else {
      throw NodeError.tls("the configured certificate (tls) is used, no root of its own")
    }
    let hosts = NodeHosts.current(listen: configuration.listen.host)
    guard let made = try NodeCertificate.make(for: hosts, name: profile.name, in: rootFile) else {
      throw NodeError.tls("this machine has no name and no address in the house to make a root certificate for")
    }
    root = made
    reissue(hosts, clock.plausible?.seconds, because: "the root")
  }

  // MARK: - Files

  private func loaded(_ result: Result<TLSContext, any Error>) {
    guard let tls = configuration.tls else { return }
    switch result {
    case .success(let new):
      context = new
      server?.use(new)
      let term = new.validity.map { CertificateTerm($0, now: now).description } ?? ""
      logger.notice(
        "the certificate has changed; new connections get it",
        metadata: ["file": "\(tls.certificate)", "validity": "\(term)"])
      warnedAt = nil
      warnOfTheEnd(tls)
    case .failure(let error):
      logger.error(
        "the certificate has changed and cannot be used; the one before stays", metadata: ["reason": "\(error)"])
    }
  }

  private var now: Int64 { MonotonicClock.unixSeconds }

  /// Once a day.
  private func warnOfTheEnd(_ tls: ChildConfiguration.TLSFiles) {
    guard let validity = context.validity else { return }
    let term = CertificateTerm(validity, now: now)
    if case .good = term { return }
    if let warnedAt, MonotonicClock.now - warnedAt < Self.warningInterval { return }
    warnedAt = MonotonicClock.now
    logger.warning("the certificate \(term): renew it", metadata: ["file": "\(tls.certificate)"])
  }
}
