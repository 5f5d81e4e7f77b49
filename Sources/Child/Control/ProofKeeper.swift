internal import Control
internal import Logging
internal import Storage

/// Keeps the last proofs over a restart. They are of no use to the child itself: a file that can't be read or written is
/// said in the log, and nothing else.
final class ProofKeeper {
  private let store: JSONStore<Proofs>
  private let logger: Logger
  /// The last ones that are over.
  private(set) var known = Proofs()
  /// A file that can't be read is not overwritten.
  private let isWritable: Bool

  init(_ store: JSONStore<Proofs>, logger: Logger) {
    self.store = store
    self.logger = logger
    do {
      if let stored = try store.load() { known = stored }
      isWritable = true
    } catch {
      logger.warning("the last proofs of hearing are not known", metadata: ["because": "\(error)"])
      isWritable = false
    }
  }

  func keep(_ hearing: HearingDocument) {
    known.hearing = hearing
    save()
  }

  func keep(_ drill: DrillDocument) {
    known.drill = drill
    save()
  }

  private func save() {
    guard isWritable else { return }
    do {
      try store.save(known)
    } catch {
      logger.warning("a proof of hearing could not be kept", metadata: ["because": "\(error)"])
    }
  }
}
