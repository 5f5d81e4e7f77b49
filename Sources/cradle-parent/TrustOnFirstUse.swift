import Commands
import Server
import Signaling
import Storage
import Synchronization
import Wire

/// Remembers the key that a server showed first, and refuses another one.
final class TrustOnFirstUse: Sendable {
  private let origin: String
  private let known: Mutex<KnownServers>

  init(origin: HTTPOrigin, known: KnownServers) {
    self.origin = "\(origin)"
    self.known = Mutex(known)
  }

  var trust: HTTPTrust {
    .firstUse { [self] key in isTrusted(key) }
  }

  private func isTrusted(_ key: [UInt8]) -> Bool {
    let fingerprint = key.hexadecimal()
    return known.withLock { known in
      if let before = known.key(of: origin) {
        if before != fingerprint {
          printError(
            "\(origin) shows a different key than before. If it was reinstalled, remove its entry from "
              + "known-servers.json; if not, somebody may be in between.")
        }
        return before == fingerprint
      }
      printError("\(origin) is new here; its key is remembered (SHA-256 \(fingerprint)).")
      do throws(StoreError) {
        try known.remember(origin, keySHA256: fingerprint)
      } catch {
        // Watching works all the same; the next time the server is new again.
        printError("it could not be remembered: \(error)")
      }
      return true
    }
  }
}
