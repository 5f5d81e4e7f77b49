internal import NIOCore
internal import Wire

/// What a proxy sends before a client's first byte: where the client is. The PROXY protocol, versions 1 and 2:
/// https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt
struct ProxyHeader: Hashable {
  /// Nil when the proxy speaks for itself, or does not know.
  var source: TransportAddress?
  /// The proxy speaks for a client; false in a health check of its own.
  var isRelayed = true
  /// The client's bytes begin behind it.
  var length: Int

  /// Also with everything that a proxy may add to version 2, except a client's certificate.
  static let maximumBytes = 1024

  private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
  /// Section 2.1: the longest line, with its CR LF.
  private static let longestLine = 107

  private init(source: TransportAddress?, isRelayed: Bool = true, length: Int) {
    self.source = source
    self.isRelayed = isRelayed
    self.length = length
  }

  /// Nil while it is not complete.
  init?(_ bytes: [UInt8]) throws(WireError) {
    let isBinary = bytes.starts(with: Self.signature.prefix(bytes.count))
    guard let header = isBinary ? try Self.binary(bytes) : try Self.line(bytes) else { return nil }
    self = header
  }

  /// Version 2, section 2.2.
  private static func binary(_ bytes: [UInt8]) throws(WireError) -> ProxyHeader? {
    guard bytes.count >= 16 else { return nil }
    var reader = ByteReader(bytes[12...])
    let (command, family) = (try reader.readUInt8(), try reader.readUInt8())
    let rest = Int(try reader.readUInt16())
    guard command == 0x20 || command == 0x21 else { throw .malformed("PROXY: version 2, LOCAL or PROXY") }
    guard 16 + rest <= maximumBytes else { throw .malformed("PROXY: too long") }
    guard reader.remaining >= rest else { return nil }
    // Over TCP: 0x11 IPv4, 0x21 IPv6. Both addresses, then both ports.
    let size = [0x11: 4, 0x21: 16][family]
    guard command == 0x21, let size else {
      return ProxyHeader(source: nil, isRelayed: command == 0x21, length: 16 + rest)
    }
    guard rest >= 2 * size + 4 else { throw .malformed("PROXY: addresses") }
    let ip = IPAddress(bytes: try reader.readBytes(size))
    _ = try reader.readBytes(size)
    let port = try reader.readUInt16()
    return ProxyHeader(source: ip.map { TransportAddress(ip: $0, port: port) }, length: 16 + rest)
  }

  /// Version 1, section 2.1: `PROXY TCP4 192.0.2.7 192.0.2.1 50000 443`.
  private static func line(_ bytes: [UInt8]) throws(WireError) -> ProxyHeader? {
    guard bytes.starts(with: Array("PROXY ".utf8).prefix(bytes.count)) else { throw .malformed("PROXY: is missing") }
    guard let end = bytes.prefix(longestLine).firstIndex(of: 10) else {
      guard bytes.count < longestLine else { throw .malformed("PROXY: too long") }
      return nil
    }
    guard bytes[end - 1] == 13 else { throw .malformed("PROXY: a line ends with CR LF") }
    let words = String(decoding: bytes[..<(end - 1)], as: UTF8.self).split(
      separator: " ", omittingEmptySubsequences: false)
    if words.count >= 2, words[1] == "UNKNOWN" { return ProxyHeader(source: nil, length: end + 1) }
    guard words.count == 6, words[1] == "TCP4" || words[1] == "TCP6", let ip = IPAddress(String(words[2])),
      let port = UInt16(words[4])
    else { throw .malformed("PROXY: addresses") }
    return ProxyHeader(source: TransportAddress(ip: ip, port: port), length: end + 1)
  }
}

/// Takes the header off a connection from one of our proxies. Before the limiter, which counts the client's address then.
final class ProxyHeaderHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let limiter: ConnectionLimiterHandler
  /// Nil once the header is complete.
  private var received: ByteBuffer? = ByteBuffer()

  init(limiter: ConnectionLimiterHandler) {
    self.limiter = limiter
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard var bytes = received else { return context.fireChannelRead(data) }
    var more = unwrapInboundIn(data)
    bytes.writeBuffer(&more)
    received = bytes
    do {
      let beginning = bytes.getBytes(at: bytes.readerIndex, length: min(bytes.readableBytes, ProxyHeader.maximumBytes))
      guard let header = try ProxyHeader(beginning ?? []) else { return }
      received = nil
      if header.isRelayed { limiter.relay(from: header.source) }
      bytes.moveReaderIndex(forwardBy: header.length)
      if bytes.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(bytes)) }
    } catch {
      context.close(promise: nil)
    }
  }
}
