internal import CLinux
internal import Glibc

/// Asks the kernel once for interfaces, addresses and routes: rtnetlink(7).
enum RouteDump {
  /// The kernel's messages are shorter; longer ones would be cut off.
  private static let maximumBytes = 1 << 16
  /// How long to wait for one part of an answer; the kernel takes less than a millisecond.
  private static let patienceMilliseconds: Int32 = 200
  /// Of a dump that was interrupted by changes.
  private static let maximumTries = 5

  /// Blocks for some milliseconds at most. Nil where the system gives no such socket, as in a sandbox without AF_NETLINK.
  static func read() -> InterfaceTable? {
    let descriptor = clinux_open_route_socket(0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var sequence: UInt32 = 0
    for _ in 0..<maximumTries {
      var table = InterfaceTable()
      let isWhole = [RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE].allSatisfy { kind in
        sequence += 1
        return dump(UInt16(kind), sequence, descriptor, into: &table)
      }
      if isWhole { return table }
    }
    return nil
  }

  private static func dump(_ kind: UInt16, _ sequence: UInt32, _ descriptor: Int32, into table: inout InterfaceTable)
    -> Bool
  {
    guard clinux_request_route_dump(descriptor, kind, sequence) == 0 else { return false }
    var hasFailed = false
    while true {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, patienceMilliseconds) == 1 else { return false }
      let bytes = [UInt8](unsafeUninitializedCapacity: maximumBytes) { buffer, count in
        count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
      }
      guard !bytes.isEmpty else { return false }
      for change in RouteMessages.changes(in: bytes) {
        switch change {
        case .dumpEnded(let ended) where ended == sequence: return !hasFailed
        // After an interrupted dump its end still comes; after an error nothing does.
        case .dumpFailed(let failed) where failed == sequence: hasFailed = true
        default: table.apply(change)
        }
      }
    }
  }
}
