internal import Frames
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Pairing
internal import SecureTransport
internal import Server
internal import Storage
internal import Wire

/// Keeps the certificate of the HTTPS port right while the node runs.
///
/// The family's own files (`tls:`) are loaded again when they change. Without them it is one that the node has issued, which
/// stays as long as the machine's date, addresses and name allow.
///
/// `@unchecked Sendable` because it is confined to the event loop, but for `init`.
final class ServerCertificate: @unchecked Sendable {
  /// What the current one was chosen for.
  private struct Choice {
    var hosts: NodeHosts
    var validity: ClosedRange<Int64>?
    /// When another could not be issued.
    var failedAt: Instant?
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
  private var issued: IssuedCertificates?
  private var choice: Choice?
  private var server: HTTPServer?
  private var files: CertificateFileMonitor?
  private var timer: RepeatedTask?
  /// When the files' end was last mentioned.
  private var warnedAt: Instant?

  private static let interval: TimeAmount = .seconds(5)
  private static let retryInterval: Duration = .seconds(3600)
  private static let warningInterval: Duration = .seconds(86_400)

  /// Loads or makes what is needed. Throws `NodeError`.
  init(
    _ configuration: ChildConfiguration, profile: NodeProfile, directory: StateDirectory, clock: ExpiryClock,
    loop: any EventLoop, logger: Logger
  ) throws {
    self.configuration = configuration
    self.profile = profile
    rootFile = directory.root
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
      var issued = profile.issuedCertificates(directory.certificate, logger: logger)
      let isFirst = issued.isEmpty
      do throws(SecureError) {
        let (certificate, isNew) = try issued.certificate(for: hosts, root: root, date: clock.plausible?.seconds)
        context = try profile.tls(certificate)
        choice = Choice(hosts: hosts, validity: certificate.validity)
        if isNew, !isFirst {
          logger.notice(
            "the certificate for browsers was issued again",
            metadata: ["because": "the stored one is for another name, address, date or root", "for": "\(hosts)"])
        }
      } catch {
        throw NodeError.tls("\(error)")
      }
      self.issued = issued
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
    guard let choice, isStale(choice, hosts, date) else { return }
    reissue(hosts, date, because: hosts == choice.hosts ? "the date" : "the name or the addresses")
  }

  private func isStale(_ choice: Choice, _ hosts: NodeHosts, _ date: Int64?) -> Bool {
    if hosts != choice.hosts { return true }
    if let failedAt = choice.failedAt, MonotonicClock.now - failedAt < Self.retryInterval { return false }
    return !NodeCertificate.isTimely(choice.validity, at: date)
  }

  private func reissue(_ hosts: NodeHosts, _ date: Int64?, because reason: String) {
    guard var issued else { return }
    let before = choice
    do {
      if root == nil { root = try NodeCertificate.make(for: hosts, name: profile.name, in: rootFile) }
      let (certificate, isNew) = try issued.certificate(for: hosts, root: root, date: date)
      let new = try profile.tls(certificate)
      self.issued = issued
      choice = Choice(hosts: hosts, validity: certificate.validity)
      if new.certificateSHA256 != context.certificateSHA256 {
        context = new
        server?.use(new)
        logger.notice(
          isNew ? "the certificate for browsers was issued again" : "an earlier certificate for browsers is used again",
          metadata: ["because": "\(reason) changed", "for": "\(hosts)"])
      }
      if hosts != before?.hosts { warnOfOtherHosts(hosts) }
    } catch {
      choice = Choice(hosts: hosts, validity: before?.validity, failedAt: MonotonicClock.now)
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
      fingerprint: context.certificateSHA256?.hexadecimal(uppercase: true, separator: ":"), hosts: hosts.all,
      validFrom: validity?[0], validUntil: validity?[1])
  }

  /// Makes a new root for the present names and addresses, and serves by it. Pairs belong to the identity key, and stay.
  ///
  /// - Throws: `NodeError`; fails with that or with `FileError`. Nothing has changed then.
  func renewRoot() throws -> EventLoopFuture<Void> {
    guard configuration.tls == nil else {
      throw NodeError.tls("the configured certificate (tls) is used, no root of its own")
    }
    let hosts = NodeHosts.current(listen: configuration.listen.host)
    let (name, file) = (profile.name, rootFile)
    return NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
      try NodeCertificate.make(for: hosts, name: name, in: file)
    }.assumeIsolated().flatMapThrowing { [self] made in
      guard let made else {
        throw NodeError.tls("this machine has no name and no address in the house to make a root certificate for")
      }
      root = made
      reissue(hosts, clock.plausible?.seconds, because: "the root")
    }.nonisolated()
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
