extension PeerHub {
  /// Optimisations that save system calls and wake-ups. Everything works the same without them.
  public struct FastPaths: Sendable {
    /// Passes datagrams to one address to the kernel in one write: `DatagramBatch`.
    public var usesDatagramBatches = true
    /// Uses a timer that can be postponed, instead of NIO's: `LoopTimer`.
    public var usesLoopTimer = true

    public static let none = FastPaths(usesDatagramBatches: false, usesLoopTimer: false)

    public init(usesDatagramBatches: Bool = true, usesLoopTimer: Bool = true) {
      self.usesDatagramBatches = usesDatagramBatches
      self.usesLoopTimer = usesLoopTimer
    }
  }
}
