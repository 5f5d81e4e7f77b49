internal import Frames
internal import SecureTransport
public import Storage
internal import Wire

/// What a configuration needs beside itself.
public enum RendezvousCheck {
  /// One sentence for each thing that does not work.
  public static func problems(_ configuration: RendezvousConfiguration) -> [String] {
    var problems: [String] = []
    if let files = configuration.tls {
      do {
        try PrivateFileError.checkSharedKey(files.key)
        _ = try TLSContext(certificateFile: files.certificate, keyFile: files.key)
      } catch {
        problems.append("tls: \(error)")
      }
    }
    for (index, entry) in configuration.iceServers.enumerated() {
      do throws(ConfiguredValueError) {
        _ = try entry.server(
          for: "check", lifetime: entry.lifetime, clock: MonotonicClock.wallClockReference, now: MonotonicClock.now,
          hashes: CryptoHashes())
      } catch {
        problems.append("ice-servers[\(index)]: \(error)")
      }
    }
    return problems
  }
}
