internal import CLinux
internal import Wire

/// One change of an interface or an address, as the kernel reports it: rtnetlink(7).
enum RouteChange: Hashable {
  case link(InterfaceTable.Link, index: Int32)
  case linkGone(index: Int32)
  case address(InterfaceTable.Address)
  case addressGone(IPAddress, index: Int32)
  case defaultRoute(InterfaceTable.DefaultRoute)
  /// The end of a dump, by its number.
  case dumpEnded(sequence: UInt32)
  /// A dump that was interrupted by changes, or an error: ask again.
  case dumpFailed(sequence: UInt32)
}

/// Reads netlink messages: netlink(3), rtnetlink(7). Whatever does not fit is left out; nothing outside of the buffer is
/// read.
enum RouteMessages {
  /// Sizes of struct nlmsghdr, struct ifinfomsg, struct ifaddrmsg, struct rtmsg and struct rtnexthop.
  private static let headerSize = 16
  private static let linkSize = 16
  private static let addressSize = 8
  private static let routeSize = 12
  private static let hopSize = 8
  /// More than the kernel has attributes of any kind.
  private static let maximumAttributes = 128

  /// What one datagram says, in order.
  static func changes(in datagram: [UInt8]) -> [RouteChange] {
    var changes: [RouteChange] = []
    var rest = datagram[...]
    while let length = rest.host(UInt32.self, at: 0), length >= headerSize, Int(length) <= rest.count,
      let kind = rest.host(UInt16.self, at: 4), let flags = rest.host(UInt16.self, at: 6),
      let sequence = rest.host(UInt32.self, at: 8)
    {
      let body = rest.dropFirst(headerSize).prefix(Int(length) - headerSize)
      if Int32(flags) & NLM_F_DUMP_INTR != 0 { changes.append(.dumpFailed(sequence: sequence)) }
      if Int(kind) == Int(RTM_NEWROUTE) {
        changes += defaultRoutes(body).map { .defaultRoute($0) }
      } else if let change = change(kind: Int(kind), sequence: sequence, body) {
        changes.append(change)
      }
      rest = rest.dropFirst(aligned(Int(length)))
    }
    return changes
  }

  private static func change(kind: Int, sequence: UInt32, _ body: ArraySlice<UInt8>) -> RouteChange? {
    switch kind {
    case Int(NLMSG_DONE): .dumpEnded(sequence: sequence)
    case Int(NLMSG_ERROR): .dumpFailed(sequence: sequence)
    case Int(RTM_NEWLINK): link(body)
    case Int(RTM_DELLINK): linkGone(body)
    case Int(RTM_NEWADDR): address(body).map { .address($0) }
    case Int(RTM_DELADDR): address(body).map { .addressGone($0.ip, index: $0.index) }
    default: nil
    }
  }

  /// struct ifinfomsg: family, padding, type, index, flags, change.
  private static func link(_ body: ArraySlice<UInt8>) -> RouteChange? {
    guard isOfTheInterfaceItself(body), let index = body.host(Int32.self, at: 4),
      let flags = body.host(UInt32.self, at: 8)
    else { return nil }
    let running = CLINUX_IFF_UP | CLINUX_IFF_RUNNING
    var link = InterfaceTable.Link(
      isRunning: flags & running == running, isPointToPoint: flags & CLINUX_IFF_POINTOPOINT != 0)
    for (kind, value) in attributes(body.dropFirst(linkSize)) {
      switch kind {
      case Int(IFLA_MASTER): link.master = value.host(Int32.self, at: 0) ?? 0
      case Int(IFLA_LINKINFO):
        let name = attributes(value).first { $0.kind == Int(IFLA_INFO_KIND) }?.value.prefix { $0 != 0 }
        link.kind = String(decoding: name ?? [], as: UTF8.self)
      default: break
      }
    }
    return .link(link, index: index)
  }

  /// Bridges report what concerns their ports alone in the same messages, with a family of their own.
  private static func isOfTheInterfaceItself(_ body: ArraySlice<UInt8>) -> Bool {
    body.count >= linkSize && body.first == UInt8(AF_UNSPEC)
  }

  private static func linkGone(_ body: ArraySlice<UInt8>) -> RouteChange? {
    guard isOfTheInterfaceItself(body), let index = body.host(Int32.self, at: 4) else { return nil }
    return .linkGone(index: index)
  }

  /// struct ifaddrmsg: family, prefix length, flags, scope, index; then attributes.
  private static func address(_ body: ArraySlice<UInt8>) -> InterfaceTable.Address? {
    guard body.count >= addressSize, let prefixLength = body.host(UInt8.self, at: 1),
      let shortFlags = body.host(UInt8.self, at: 2), let index = body.host(Int32.self, at: 4)
    else { return nil }
    var (local, other): (IPAddress?, IPAddress?)
    var flags = UInt32(shortFlags)
    for (kind, value) in attributes(body.dropFirst(addressSize)) {
      switch kind {
      // On a point-to-point link IFA_ADDRESS is the other end's.
      case Int(IFA_LOCAL): local = IPAddress(bytes: value)
      case Int(IFA_ADDRESS): other = IPAddress(bytes: value)
      // All 32 flags; the message itself has room for eight.
      case Int(IFA_FLAGS): flags = value.host(UInt32.self, at: 0) ?? flags
      default: break
      }
    }
    guard let ip = local ?? other, ip.isIPv6 == (body.first == UInt8(AF_INET6)) else { return nil }
    return InterfaceTable.Address(ip: ip, index: index, prefixLength: prefixLength, flags: flags)
  }

  /// struct rtmsg: family, lengths of destination and source, TOS, table, protocol, scope, type, flags; then attributes.
  /// A route over several hops is one for each.
  private static func defaultRoutes(_ body: ArraySlice<UInt8>) -> [InterfaceTable.DefaultRoute] {
    guard body.count >= routeSize, let family = body.first, let length = body.host(UInt8.self, at: 1), length == 0,
      let table = body.host(UInt8.self, at: 4), Int(table) == Int(RT_TABLE_MAIN.rawValue),
      let type = body.host(UInt8.self, at: 7), Int(type) == Int(RTN_UNICAST),
      family == UInt8(AF_INET) || family == UInt8(AF_INET6)
    else { return [] }
    var (metric, indexes): (UInt32, [Int32]) = (0, [])
    for (kind, value) in attributes(body.dropFirst(routeSize)) {
      switch kind {
      case Int(RTA_OIF.rawValue): indexes += [value.host(Int32.self, at: 0)].compactMap(\.self)
      case Int(RTA_PRIORITY.rawValue): metric = value.host(UInt32.self, at: 0) ?? 0
      case Int(RTA_MULTIPATH.rawValue): indexes += hops(value)
      default: break
      }
    }
    return indexes.map { .init(index: $0, metric: metric, isIPv6: family == UInt8(AF_INET6)) }
  }

  /// struct rtnexthop: length with this header and attributes, flags, hops, interface.
  private static func hops(_ bytes: ArraySlice<UInt8>) -> [Int32] {
    var found: [Int32] = []
    var rest = bytes
    while found.count < maximumAttributes, let length = rest.host(UInt16.self, at: 0), Int(length) >= hopSize,
      Int(length) <= rest.count, let index = rest.host(Int32.self, at: 4)
    {
      found.append(index)
      rest = rest.dropFirst(aligned(Int(length)))
    }
    return found
  }

  /// struct rtattr: length with this header, type, value; each begins at a multiple of four.
  private static func attributes(_ bytes: ArraySlice<UInt8>) -> [(kind: Int, value: ArraySlice<UInt8>)] {
    var found: [(Int, ArraySlice<UInt8>)] = []
    var rest = bytes
    while found.count < maximumAttributes, let length = rest.host(UInt16.self, at: 0), length >= 4,
      Int(length) <= rest.count, let kind = rest.host(UInt16.self, at: 2)
    {
      found.append((Int(kind), rest.dropFirst(4).prefix(Int(length) - 4)))
      rest = rest.dropFirst(aligned(Int(length)))
    }
    return found
  }

  private static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
}

extension ArraySlice<UInt8> {
  /// A number in this machine's byte order; nil beyond the end.
  fileprivate func host<Value: FixedWidthInteger & BitwiseCopyable>(_: Value.Type, at offset: Int) -> Value? {
    guard offset + MemoryLayout<Value>.size <= count else { return nil }
    return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Value.self) }
  }
}
