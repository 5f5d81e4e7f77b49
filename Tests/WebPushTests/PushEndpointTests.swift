import Signaling
import Testing
import WebPush
import Wire

@Suite struct PushEndpointTests {
  @Test(arguments: [
    "https://fcm.googleapis.com/fcm/send/abc:def", "https://updates.push.services.mozilla.com/wpush/v2/gAAA",
    "https://web.push.apple.com/QGuQ", "https://8.8.8.8/x", "https://[2606:4700::1111]/x",
  ])
  func pushServicesAreTaken(_ text: String) throws {
    #expect(try PushEndpoint(text, mayBePrivate: false).url.description == text)
  }

  @Test(arguments: [
    "http://push.example.net/x", "ftp://push.example.net/x", "push.example.net", "", "https://",
    "https://user@push.example.net/x", "https://localhost/x", "https://localhost./x", "https://router/x",
    "https://printer.local/x", "https://a.b.internal/x", "https://127.0.0.1/x", "https://[::1]/x", "https://10.0.0.1/x",
    "https://172.16.0.1/x", "https://172.31.255.255/x", "https://192.168.1.1/x", "https://169.254.169.254/latest",
    "https://100.64.0.1/x", "https://0.0.0.0/x", "https://224.0.0.1/x", "https://255.255.255.255/x",
    "https://[::]/x", "https://[fe80::1]/x", "https://[fc00::1]/x", "https://[::ffff:127.0.0.1]/x",
    "https://[64:ff9b::192.168.1.1]/x", "https://[2002:c0a8:101::1]/x", "https://[2001:db8::1]/x",
    "https://[2001::1]/x", "https://[ff02::1]/x", "https://2130706433/x", "https://0x7f.1/x", "https://127.1/x",
  ])
  func othersAreNot(_ text: String) {
    #expect(throws: PushEndpoint.Refusal.self) { try PushEndpoint(text, mayBePrivate: false) }
  }

  @Test func aFamilyMayHaveItsOwnPushService() throws {
    #expect(try PushEndpoint("https://127.0.0.1:9/x", mayBePrivate: true).url.origin.port == 9)
    #expect(throws: PushEndpoint.Refusal.self) { try PushEndpoint("http://127.0.0.1:9/x", mayBePrivate: true) }
  }

  @Test func longAddressesAreRefused() {
    let text = "https://push.example.net/" + String(repeating: "x", count: PushEndpoint.maximumBytes - 25)
    #expect(throws: Never.self) { try PushEndpoint(text, mayBePrivate: false) }
    #expect(throws: PushEndpoint.Refusal.self) { try PushEndpoint(text + "x", mayBePrivate: false) }
  }

  @Test(arguments: [
    ("172.15.255.255", true), ("172.32.0.0", true), ("100.63.255.255", true), ("100.128.0.0", true),
    ("198.17.0.1", true),
    ("198.18.0.1", false), ("198.19.255.255", false), ("198.20.0.0", true), ("64:ff9b::808:808", true),
    ("2001:200::1", true), ("2001:1ff::1", false), ("3fff::1", true), ("4000::1", false), ("1.1.1.1", true),
  ])
  func privateNetworksEndWhereTheyDo(_ text: String, _ isPublic: Bool) throws {
    #expect(try #require(IPAddress(text)).isPublic == isPublic)
  }
}
