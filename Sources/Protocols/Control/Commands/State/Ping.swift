/// Asks for the child's time.
public struct Ping: ControlCommand {
  public struct Reply: ControlReply {
    /// Seconds since 1970-01-01 UTC.
    public var time: Double

    public init(time: Double) {
      self.time = time
    }
  }

  public static let name = "ping"
  public static let requirement: Requirement = .session

  public init() {}
}
