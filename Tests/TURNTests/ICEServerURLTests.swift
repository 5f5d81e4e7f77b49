import TURN
import Testing

/// RFC 7064, RFC 7065. What is refused stands beside the configuration's tests.
@Suite struct ICEServerURLTests {
  @Test(arguments: [
    ("stun:example.org", "stun:example.org:3478", nil), ("stuns:example.org", "stuns:example.org:5349", nil),
    ("turn:example.org", "turn:example.org:3478?transport=udp", TURNTransport.udp),
    ("turn:example.org:80?transport=tcp", "turn:example.org:80?transport=tcp", .tcp),
    ("turns:example.org", "turns:example.org:5349?transport=tcp", .tls),
    ("turns:[2001:db8::1]:443", "turns:[2001:db8::1]:443?transport=tcp", .tls),
    ("turns:example.org?transport=udp", "turns:example.org:5349?transport=udp", nil),
  ])
  func areReadWithTheirDefaults(text: String, whole: String, transport: TURNTransport?) throws {
    let url = try #require(ICEServerURL(text))
    #expect(url.description == whole && url.turnTransport == transport)
    #expect(ICEServerURL(whole) == url)
  }
}
