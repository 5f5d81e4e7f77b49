internal import CDNSSD
internal import Glibc
internal import Wire

/// A reply of the library for a reference.
enum ServiceReply {
  /// Published under this name.
  case registered(name: String)
  case found(name: String)
  case lost(name: String)
  case resolved(host: String, port: UInt16, text: [UInt8])
  case address(IPAddress, interface: UInt32, isThere: Bool)
  /// The reference no longer works.
  case failed(ServiceFailure)
}

/// An error code of dns_sd.h.
struct ServiceFailure: Error, Hashable {
  var code: DNSServiceErrorType

  var isNameConflict: Bool { code == kDNSServiceErr_NameConflict }

  /// The library reports "unknown" when the daemon or D-Bus is missing or has gone away.
  var problem: DiscoveryProblem { code == kDNSServiceErr_Unknown ? .noAvahi : .refused(code: code) }
}

/// A registration, a browser, a resolver or a record query of the library. Each has its own thread, socket pair and
/// D-Bus connection, so there should be few. Creating one waits for the daemon.
///
/// Confined to one thread. Callbacks run only within `takeReplies` and only store their reply, so nothing is freed
/// while the library uses it.
final class ServiceReference {
  static let type = "_cradle._tcp"
  static let domain = "local"

  private let handle: Handle
  private let inbox: Inbox

  private struct Handle: ~Copyable {
    let reference: DNSServiceRef
    deinit { DNSServiceRefDeallocate(reference) }
  }

  private final class Inbox {
    var replies: [ServiceReply] = []

    static func note(_ reply: ServiceReply?, _ code: DNSServiceErrorType, in context: UnsafeMutableRawPointer?) {
      guard let context else { return }
      let inbox = Unmanaged<Inbox>.fromOpaque(context).takeUnretainedValue()
      if code != kDNSServiceErr_NoError {
        inbox.replies.append(.failed(ServiceFailure(code: code)))
      } else if let reply {
        inbox.replies.append(reply)
      }
    }
  }

  private static let prepared: Void = cdnssd_prepare()

  private init(
    _ create: (inout DNSServiceRef?, UnsafeMutableRawPointer) -> DNSServiceErrorType
  ) throws(ServiceFailure) {
    _ = Self.prepared
    let inbox = Inbox()
    var reference: DNSServiceRef?
    let code = create(&reference, Unmanaged.passUnretained(inbox).toOpaque())
    guard code == kDNSServiceErr_NoError, let reference else {
      throw ServiceFailure(code: code == kDNSServiceErr_NoError ? DNSServiceErrorType(kDNSServiceErr_Unknown) : code)
    }
    handle = Handle(reference: reference)
    self.inbox = inbox
  }

  /// Readable when there are replies; -1 if there never will be.
  var descriptor: Int32 { DNSServiceRefSockFD(handle.reference) }

  /// The replies since the last call. Call it when `descriptor` is readable; otherwise it blocks.
  func takeReplies() -> [ServiceReply] {
    let code = DNSServiceProcessResult(handle.reference)
    defer { inbox.replies = [] }
    return inbox.replies + (code == kDNSServiceErr_NoError ? [] : [.failed(ServiceFailure(code: code))])
  }
}

extension ServiceReference {
  /// Replies: `registered`, and again under another name after a later conflict.
  static func register(name: String, port: UInt16, text: [UInt8]) throws(ServiceFailure) -> ServiceReference {
    try ServiceReference { reference, context in
      DNSServiceRegister(
        &reference, 0, 0, name, type, domain, nil, port.bigEndian, UInt16(clamping: text.count), text,
        { _, _, code, name, _, _, context in
          Inbox.note(name.map { .registered(name: String(cString: $0)) }, code, in: context)
        }, context)
    }
  }

  /// Changes the TXT record of a registration.
  func update(text: [UInt8]) throws(ServiceFailure) {
    let code = DNSServiceUpdateRecord(handle.reference, nil, 0, UInt16(clamping: text.count), text, 0)
    guard code == kDNSServiceErr_NoError else { throw ServiceFailure(code: code) }
  }

  /// Replies: `found` and `lost`, once per network interface and IP version.
  static func browse() throws(ServiceFailure) -> ServiceReference {
    try ServiceReference { reference, context in
      DNSServiceBrowse(
        &reference, 0, 0, type, domain,
        { _, flags, _, code, name, _, _, context in
          let isThere = flags & DNSServiceFlags(kDNSServiceFlagsAdd) != 0
          let name = name.map { String(cString: $0) }
          Inbox.note(name.map { isThere ? .found(name: $0) : .lost(name: $0) }, code, in: context)
        }, context)
    }
  }

  /// Replies: `resolved`, again whenever the service's records change.
  static func resolve(name: String) throws(ServiceFailure) -> ServiceReference {
    try ServiceReference { reference, context in
      DNSServiceResolve(
        &reference, 0, 0, name, type, domain,
        { _, _, _, code, _, host, port, count, text, context in
          let bytes = UnsafeBufferPointer(start: text, count: text == nil ? 0 : Int(count))
          let reply = host.map {
            ServiceReply.resolved(host: String(cString: $0), port: UInt16(bigEndian: port), text: Array(bytes))
          }
          Inbox.note(reply, code, in: context)
        }, context)
    }
  }

  /// Replies: `address`, for records of `type`: A (1) or AAAA (28).
  static func addresses(of host: String, type: Int) throws(ServiceFailure) -> ServiceReference {
    try ServiceReference { reference, context in
      DNSServiceQueryRecord(
        &reference, 0, 0, host, UInt16(type), UInt16(kDNSServiceClass_IN),
        { _, flags, interface, code, _, _, _, count, data, _, context in
          let bytes = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : Int(count))
          let isThere = flags & DNSServiceFlags(kDNSServiceFlagsAdd) != 0
          let reply = IPAddress(bytes: bytes).map {
            ServiceReply.address($0, interface: interface, isThere: isThere)
          }
          Inbox.note(reply, code, in: context)
        }, context)
    }
  }

  /// "Nursery" → "Nursery #2" → "Nursery #3", as Avahi resolves conflicts; nil if out of memory.
  static func alternative(to name: String) -> String? {
    guard let next = avahi_alternative_service_name(name) else { return nil }
    defer { avahi_free(next) }
    return String(cString: next)
  }

  /// The interface's name, such as "eth0"; nil if there is no such interface.
  static func interfaceName(_ index: UInt32) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
      if_indextoname(index, buffer.baseAddress).map { String(cString: $0) }
    }
  }
}
