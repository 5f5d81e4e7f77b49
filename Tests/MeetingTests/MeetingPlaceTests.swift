import Control
import Meeting
import Signaling
import Testing

@Suite struct MeetingPlaceTests {
  @Test(arguments: [
    ("mqtt://broker.example.org", "broker.example.org", 1883, false),
    ("mqtts://Broker.example.org", "broker.example.org", 8883, true),
    ("mqtts://broker.example.org:443", "broker.example.org", 443, true),
    ("mqtt://broker.example.org:80", "broker.example.org", 80, false), ("mqtt://192.0.2.1:1", "192.0.2.1", 1, false),
    ("mqtts://[2001:db8::1]", "2001:db8::1", 8883, true),
  ])
  func aBrokersURLIsRead(text: String, host: String, port: UInt16, isEncrypted: Bool) throws {
    let url = try #require(BrokerURL(text))
    #expect(url.host == host && url.port == port && url.isEncrypted == isEncrypted)
  }

  @Test(arguments: [
    "", "mqtt", "mqtt://", "mqtt:broker", "http://broker", "mqtt://user@broker", "mqtt://user:word@broker",
    "mqtt://broker/", "mqtt://broker/a", "mqtt://broker?x", "mqtt://broker:0", "mqtt://broker:65536", "mqtt://a b",
    "MQTT://broker", "wss://broker",
  ])
  func anotherTextIsNone(text: String) {
    #expect(BrokerURL(text) == nil)
  }

  @Test func topicsAreThoseOfTheChild() {
    let topics = MeetingTopics(prefix: "home/cradle", child: "0123456789abcdef")
    #expect(topics.presence == "home/cradle/0123456789abcdef/presence")
    #expect(topics.inbox == "home/cradle/0123456789abcdef/in")
    #expect(topics.outbox("anna-1") == "home/cradle/0123456789abcdef/out/anna-1")
    for prefix in ["a", "a/b", "@x", "a$"] { #expect(MeetingTopics.isPrefix(prefix), "\(prefix)") }
    for prefix in ["", "/", "/a", "a/", "a//b", "$SYS", "a+", "#", "a b", "ä", String(repeating: "a", count: 129)] {
      #expect(!MeetingTopics.isPrefix(prefix), "\(prefix)")
    }
    for client in ["a", "anna-1_B", String(repeating: "a", count: 64)] { #expect(MeetingTopics.isClient(client)) }
    for client in ["", "a/b", "+", "#", "ä", "a b", String(repeating: "a", count: 65)] {
      #expect(!MeetingTopics.isClient(client))
    }
  }

  @Test func parentsAreToldAllButTheChildsAuthorities() throws {
    let place = MeetingPlace.mqtt(
      MQTTPlace(
        url: "mqtts://broker.example.org", username: "parents", password: "secret", topic: "home",
        authorities: "/etc/ca.pem"))
    let document = place.document
    #expect(document.kind == "mqtt" && document.url == "mqtts://broker.example.org" && document.topic == "home")
    #expect(document.username == "parents" && document.password == "secret")
    #expect(
      MeetingPlace(document)
        == .mqtt(MQTTPlace(url: "mqtts://broker.example.org", username: "parents", password: "secret", topic: "home")))
    #expect("\(place)" == "mqtts://broker.example.org")
  }

  @Test func aDocumentThatCannotBeUsedIsNoPlace() {
    var document = MeetingDocument(kind: "mqtt", url: "mqtt://broker")
    #expect(MeetingPlace(document) == .mqtt(MQTTPlace(url: "mqtt://broker")))
    document.password = "without a name"
    #expect(MeetingPlace(document) == nil)
    document.username = "name"
    #expect(MeetingPlace(document) != nil)
    document.topic = "#"
    #expect(MeetingPlace(document) == nil)
    document.topic = nil
    document.username = "a\0b"
    #expect(MeetingPlace(document) == nil)
    #expect(MeetingPlace(MeetingDocument(kind: "mqtt", url: "https://broker")) == nil)
    #expect(MeetingPlace(MeetingDocument(kind: "mqtt")) == nil)
    #expect(MeetingPlace(MeetingDocument(kind: "pigeon", url: "mqtt://broker")) == nil)
  }

  @Test(arguments: ["a@b", "Cradle.1+x@xmpp.Example.org", "a@192.0.2.1"])
  func anAccountIsRead(text: String) throws {
    #expect(try #require(AccountAddress(text)).description == text.lowercased())
  }

  @Test(arguments: ["", "a", "@b", "a@", "a@b/c", "a@b@c", "a b@c", "a'@c", "ä@b", "a@b c", "a@[::1]"])
  func anotherTextIsNoAccount(text: String) {
    #expect(AccountAddress(text) == nil)
  }

  @Test func anXMPPPlaceIsTold() throws {
    let (child, parents) = (
      try #require(AccountAddress("child@b.test")), try #require(AccountAddress("parents@b.test"))
    )
    let place = MeetingPlace.xmpp(
      XMPPPlace(
        account: parents, password: "secret", child: child, parents: parents, host: "192.0.2.1", port: 5223,
        authorities: "/etc/ca.pem"))
    var document = place.document
    #expect(document.kind == "xmpp" && document.child == "child@b.test" && document.username == "parents@b.test")
    let told = XMPPPlace(account: parents, password: "secret", child: child, host: "192.0.2.1", port: 5223)
    #expect(MeetingPlace(document) == .xmpp(told))
    #expect("\(place)" == "xmpp:child@b.test")
    document.port = 70_000
    #expect(MeetingPlace(document) == nil)
    document.port = nil
    document.password = nil
    #expect(MeetingPlace(document) == nil)
  }
}
