import Control
import Messages
import Testing

@testable import Parent

/// The same as a child would send it: through the reader, and then to whatever shows it.
@Suite struct HostileMessagesTests {
  private static let status = #"""
    {"inReplyTo":"1","text":"ok","parameters":{"name":"a","id":"b","version":"1","time":NUMBER,"uptimeSeconds":NUMBER,
     "alarms":[],"lullaby":{"state":"paused","volume":1,"loop":false,"positionSeconds":NUMBER},
     "viewers":[{"id":"1","name":"b","permissions":[],"since":NUMBER}]}}
    """#
  private static let tracks = #"""
    {"inReplyTo":"1","text":"ok","parameters":{"tracks":[{"id":"a","title":"b","seconds":NUMBER}]}}
    """#
  private static let event = #"{"text":"event","parameters":{"sequence":1,"kind":"light","time":NUMBER}}"#
  private static let heartbeat = #"""
    {"text":"heartbeat","parameters":{"time":NUMBER,"uptimeSeconds":NUMBER,
     "audio":{"state":"running","captured":1,"encoded":1,"sent":1,"levelDb":NUMBER}}}
    """#
  private static let hello = #"""
    {"text":"hello","parameters":{"name":"a","id":"b","version":"1","capabilities":[],"permissions":[],"viewer":"1",
     "state":{"lullaby":{"state":"playing","volume":1,"loop":true,"positionSeconds":NUMBER}}}}
    """#
  private static let light = #"""
    {"text":"state","parameters":{"lights":[{"id":"a","state":"on","brightness":NUMBER,"dimmable":true}]}}
    """#

  private static func read(_ text: String, _ number: String, _ command: CommandName = .ping) throws -> ControlMessage {
    try ControlMessage(json: text.replacing("NUMBER", with: number)) { _ in command }
  }

  @Test(arguments: ["1e300", "-1e300", "1.7976931348623157e308", "67768036191676000", "-0", "5e-324"])
  func finiteNumbersAreShown(number: String) throws {
    let status = try Self.read(Self.status, number, .statusGet)
    guard case .reply(_, .status(let document)) = status.content else {
      throw UnreadableMessage.malformed("not a status")
    }
    #expect(document.rows.count == 3)
    guard case .reply(_, .tracks(let tracks)) = try Self.read(Self.tracks, number, .lullabyList).content else {
      throw UnreadableMessage.malformed("not a list of tracks")
    }
    #expect(tracks.map(\.row.count) == [3])
    guard case .push(.event(let event)) = try Self.read(Self.event, number).content else {
      throw UnreadableMessage.malformed("not an event")
    }
    #expect(event.text.contains("light"))
    guard case .push(.hello(let hello)) = try Self.read(Self.hello, number).content else {
      throw UnreadableMessage.malformed("not a hello")
    }
    #expect(hello.state.lullaby?.text.isEmpty == false)
    _ = try Self.read(Self.heartbeat, number)
  }

  /// JSON has no such numbers, and counts are whole.
  @Test func whatIsNoNumberIsRefused() {
    for number in ["NaN", "Infinity", "-Infinity", "1e999", "null", #""5""#] {
      #expect(throws: UnreadableMessage.self) { try Self.read(Self.event, number) }
      #expect(throws: UnreadableMessage.self) { try Self.read(Self.heartbeat, number) }
    }
    for number in ["1e300", "1.5", "9223372036854775808"] {
      #expect(throws: UnreadableMessage.self) { try Self.read(Self.light, number) }
    }
  }
}
