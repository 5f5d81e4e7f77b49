public import DeviceNames
internal import Wire

/// The address of the node's TCP port: `listen`, `--listen`.
public struct ListenAddress: ConfigurationText {
  /// An IPv4 or IPv6 address without brackets (`::` means all addresses of both families), or a host name.
  public var host: String
  /// 0 lets the system choose.
  public var port: UInt16

  public static let allowed = "[::]:8443, 0.0.0.0:8443 or host:8443, with a port from 0 to 65535"

  public init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  public init?(_ text: String) {
    guard let (host, port) = HostAndPort.split(text), let port else { return nil }
    self.init(host: host, port: port)
  }

  public var description: String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
