internal import Glibc
public import NIOCore
internal import NIOPosix
public import SecureTransport

/// Loads a server's certificate and key again when their files have changed, as when an ACME client has renewed them.
///
/// Looked at on another thread, in intervals: files in a folder that others replace, behind symbolic links, cannot be watched
/// reliably. While one of the two is new and the other old, what was loaded stays in use.
///
/// `@unchecked Sendable` because it is confined to its event loop.
public final class CertificateFileMonitor: @unchecked Sendable {
  /// By which a change of a file's contents is seen without reading them.
  private struct FileState: Hashable, Sendable {
    var device: UInt64
    var number: UInt64
    var size: Int64
    var modified: [Int]

    /// Nil: it cannot be found.
    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      device = UInt64(status.st_dev)
      number = UInt64(status.st_ino)
      size = Int64(status.st_size)
      modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
  }

  private let paths: [String]
  private let loop: any EventLoop
  private let interval: TimeAmount
  private let load: @Sendable () throws -> TLSContext
  private var loaded: (Result<TLSContext, any Error>) -> Void = { _ in }
  /// Of what is in use, or could not be loaded.
  private var known: [FileState?]
  /// Could not be loaded; reported when it is still so at the next look.
  private var failed: [FileState?]?
  private var timer: RepeatedTask?
  private var isLooking = false

  /// Remembers what the files are now: call it before they are loaded for the first time.
  ///
  /// - Parameter load: on any thread.
  public init(
    paths: [String], on loop: any EventLoop, interval: TimeAmount = .seconds(5),
    load: @escaping @Sendable () throws -> TLSContext
  ) {
    self.paths = paths
    self.loop = loop
    self.interval = interval
    self.load = load
    known = paths.map { FileState($0) }
  }

  /// On the loop.
  ///
  /// - Parameter loaded: on the loop; a failure is reported once for each state of the files.
  public func start(loaded: @escaping (Result<TLSContext, any Error>) -> Void) {
    self.loaded = loaded
    timer = loop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { [weak self] _ in self?.look() }
  }

  /// On the loop.
  public func stop() {
    timer?.cancel()
    timer = nil
  }

  private func look() {
    guard !isLooking else { return }
    isLooking = true
    let (paths, load, known) = (paths, load, known)
    NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
      let states = paths.map { FileState($0) }
      return (states, states == known ? nil : Result { try load() })
    }.whenComplete { [self] outcome in
      isLooking = false
      guard case .success((let states, let result?)) = outcome, timer != nil else { return }
      if case .failure = result, failed != states {
        failed = states
        return
      }
      failed = nil
      self.known = states
      loaded(result)
    }
  }
}
