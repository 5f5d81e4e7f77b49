public import TURN

/// One entry of `ice-servers`, like a browser's RTCIceServer.
public struct ICEServer: Sendable, Hashable {
  /// 1...8 addresses of the same server.
  public var urls: [ICEServerURL]
  /// Given together with `credential`; required for TURN.
  public var username: String?
  public var credential: String?

  public init(urls: [ICEServerURL], username: String? = nil, credential: String? = nil) {
    self.urls = urls
    self.username = username
    self.credential = credential
  }
}
