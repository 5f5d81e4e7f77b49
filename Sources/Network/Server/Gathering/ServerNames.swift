internal import ICE
internal import NIOCore
internal import NIOPosix
internal import Wire

/// Looks up the addresses of STUN and TURN servers.
enum ServerNames {
  /// The address that the system prefers (RFC 6724); nil or a failure if there is none. A name blocks one of NIO's threads until the
  /// resolver has answered.
  static func address(of url: ICEServerURL, on loop: any EventLoop) -> EventLoopFuture<TransportAddress?> {
    if let ip = IPAddress(url.host) {
      return loop.makeSucceededFuture(TransportAddress(ip: ip, port: url.port))
    }
    let (name, port) = (url.host, Int(url.port))
    return NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
      try SocketAddress.makeAddressResolvingHost(name, port: port).transportAddress
    }
  }
}
