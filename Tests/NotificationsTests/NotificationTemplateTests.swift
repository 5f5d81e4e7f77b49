import Control
import JSON
import Testing

@testable import Notifications

@Suite struct NotificationTemplateTests {
  private static let lost = Notification(
    kind: "camera-lost", level: .alarm, time: 0, id: "cot", detail: "a \"quoted\"\nword \\ and ü")

  private static func body(
    _ template: NotificationTemplate, _ notification: Notification = lost, child: String = "Nursery"
  ) -> String {
    let escaping = NotificationTemplate.Escaping(contentType: template.contentType)
    let bytes = template.body(for: notification, child: child, date: "1970-01-01T00:00:00Z", escaping: escaping)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func fieldsAreFilledIn() throws {
    let template = try NotificationTemplate("{child}/{kind}/{level}/{id}/{name}/{time}")
    #expect(Self.body(template) == "Nursery/camera-lost/alarm/cot//1970-01-01T00:00:00Z")
  }

  @Test func standardBodyIsJSONWithEveryField() throws {
    let json = try JSON(Array(Self.body(.standard).utf8), maximumBytes: 4096)
    let members = try #require(json.object)
    #expect(members.count == 8)
    #expect(members["detail"]?.string == Self.lost.detail)
    #expect(members["text"]?.string == "Nursery: The camera cot is missing: a \"quoted\"\nword \\ and ü")
    #expect(NotificationTemplate.standard.contentType == "application/json")
  }

  /// What a parent is called must not end the string and add members.
  @Test func hostileValuesStayInsideTheirJSONString() throws {
    let template = try NotificationTemplate(#"{"message": "{name}", "priority": 8}"#)
    let joined = Notification(kind: "viewer-joined", level: .notice, time: 0, name: #"", "priority": 1, "x": "{kind}"#)
    let json = try JSON(Array(Self.body(template, joined).utf8), maximumBytes: 4096)
    #expect(json.object?["message"]?.string == joined.name)
    #expect(json.object?["priority"] == .number(8))
  }

  @Test func formValuesArePercentEncoded() throws {
    let template = try NotificationTemplate("message={detail}")
    let bytes = template.body(
      for: Notification(kind: "light", level: .notice, time: 0, detail: "a b&c=ü"), child: "", date: "",
      escaping: NotificationTemplate.Escaping(contentType: "application/x-www-form-urlencoded; charset=utf-8"))
    #expect(String(decoding: bytes, as: UTF8.self) == "message=a%20b%26c%3D%C3%BC")
  }

  @Test(arguments: ["{", "}", "{}", "{ kind}", "{Kind}", "{\"a\": {}}", "a{{b", "{kind"])
  func otherBracesStandForThemselves(text: String) throws {
    #expect(Self.body(try NotificationTemplate(text)) == text)
  }

  @Test func unknownFieldIsRefused() {
    #expect(throws: NotificationTemplate.UnknownField(name: "tiem")) { try NotificationTemplate("at {tiem}") }
  }

  @Test func contentTypeFollowsTheBody() throws {
    #expect(try NotificationTemplate(" {\"a\": 1}").contentType == "application/json")
    #expect(try NotificationTemplate("{text}").contentType == "text/plain; charset=utf-8")
    #expect(try NotificationTemplate("now: {text}").contentType == "text/plain; charset=utf-8")
    #expect(NotificationTemplate.Escaping(contentType: "application/vnd.x+json; a=b") == .json)
    #expect(NotificationTemplate.Escaping(contentType: "Application/JSON") == .json)
    #expect(NotificationTemplate.Escaping(contentType: "text/plain") == .none)
  }

  @Test(arguments: EventKind.allCases)
  func everyKindHasASentence(kind: EventKind) {
    let sentence = Notification(kind: kind.rawValue, level: kind.level, time: 0, name: "Mum", id: "x").sentence
    #expect(sentence.count > 4 && sentence.first?.isUppercase == true, "\(sentence)")
  }
}

@Suite struct NotificationFilterTests {
  private static func event(_ kind: EventKind) -> EventDocument {
    EventDocument(sequence: 1, kind: kind.rawValue, level: kind.level.rawValue, time: 0)
  }

  @Test func warningsAndAlarmsPassByDefault() {
    let filter = NotificationFilter()
    #expect(filter.admits(Self.event(.cameraLost)))
    #expect(filter.admits(Self.event(.speakerLost)))
    #expect(!filter.admits(Self.event(.cameraBack)))
    // Its own level decides, not that of its kind.
    var event = EventDocument(sequence: 1, kind: EventKind.hearing.rawValue, time: 0)
    #expect(!filter.admits(event))
    event.level = EventLevel.warning.rawValue
    #expect(filter.admits(event))
  }

  @Test func kindsAndLevelBothDecide() {
    let filter = NotificationFilter(kinds: [.restart, .microphoneLost], level: .alarm)
    #expect(filter.admits(Self.event(.microphoneLost)))
    #expect(!filter.admits(Self.event(.restart)))
    #expect(!filter.admits(Self.event(.cameraLost)))
    #expect(NotificationFilter(kinds: [.restart], level: .notice).admits(Self.event(.restart)))
  }

  @Test func unknownKindsDoNotPass() {
    #expect(!NotificationFilter(level: .notice).admits(EventDocument(sequence: 1, kind: "later", time: 0)))
  }
}
