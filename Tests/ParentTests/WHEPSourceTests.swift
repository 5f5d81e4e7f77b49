import Parent
import Server
import Signaling
import Testing

@Suite struct WHEPSourceTests {
  @Test(arguments: [
    ("https://192.168.1.20:8443/whep", "t", false), ("http://192.168.1.20/whep", "t", true),
    ("http://child.local/whep", "t", true), ("http://192.168.1.20/whep", nil, false),
    ("http://127.0.0.1:8080/whep", "t", false), ("http://[::1]/whep", "t", false),
    ("http://localhost/whep", "t", false),
    ("http://localhost.example/whep", "t", true),
  ])
  func aTokenGoesEncryptedOrStaysOnThisMachine(url: String, token: String?, isClear: Bool) throws {
    let source = WHEPSource(url: try HTTPURL(url), token: token, trust: .system)
    #expect(source.sendsTokenInClear == isClear)
  }
}
