import Control
import FuzzBodies
import Testing

@testable import Messages
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

  private static func read(_ text: String, _ number: String, _ command: any ControlCommand.Type = Ping.self) throws
    -> ControlMessage
  {
    try ControlMessage(json: text.replacing("NUMBER", with: number)) { _ in command }
  }

  @Test(arguments: ["1e10", "-0", "5e-324"]) func possibleNumbersAreShown(number: String) throws {
    let status = try Self.read(Self.status, number, StatusGet.self)
    guard case .reply(_, let answer) = status.content, let document = answer.reply as? StatusDocument else {
      throw UnreadableMessage.malformed("not a status")
    }
    #expect(document.rows.count == 3)
    guard case .reply(_, let list) = try Self.read(Self.tracks, number, LullabyList.self).content,
      let tracks = list.reply as? [TrackDocument]
    else {
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
  }

  /// A date that no calendar has, a level beyond what a microphone can mean.
  @Test(arguments: ["1e300", "-1e300", "1.7976931348623157e308", "67768036191676000", "253402300800", "-1"])
  func impossibleNumbersAreRefusedByName(number: String) {
    for text in [Self.status, Self.tracks, Self.event, Self.heartbeat, Self.hello] {
      let command: any ControlCommand.Type = text.contains("tracks") ? LullabyList.self : StatusGet.self
      let error = #expect(throws: UnreadableMessage.self) { try Self.read(text, number, command) }
      #expect("\(String(describing: error))".contains("cannot be"), "\(String(describing: error))")
    }
  }

  /// Each in every place of every document: it is refused, or everything that is shown of it can be made.
  @Test(arguments: ChildDocuments.messages.indices) func everyNumberIsPossibleOrRefused(message: Int) throws {
    let json = ChildDocuments.messages[message]
    let read = try #require(ChildDocuments.read(json))
    #expect(!ChildDocuments.show(read, draws: true).isEmpty)
    let names = ChildDocuments.numbers(json)
    for (place, name) in names.enumerated() {
      #expect(NumberBounds.knows(name), "NumberBounds has no range for \(name)")
      for number in [1e300, -1e300, 1e19, -9.3e18, 9e15, -9e15, 1e11, -1, 0, 65_535, 0.5] {
        guard let read = ChildDocuments.read(ChildDocuments.replacing(place, of: json, with: number)) else { continue }
        #expect(abs(number) <= 9e15, "\(name) \(number)")
        _ = ChildDocuments.show(read, draws: ["from", "to", "minutes"].contains(name))
      }
    }
  }

  @Test func aReportsMinutesGoTogether() throws {
    let json = try #require(ChildDocuments.messages.first { ChildDocuments.numbers($0).contains("monitoredMinutes") })
    let names = ChildDocuments.numbers(json)
    for (name, number) in [
      ("recordedMinutes", 11.0), ("monitoredMinutes", 11), ("minutes", 13), ("to", 3599), ("to", 3e10),
    ] {
      let place = try #require(names.lastIndex(of: name))
      #expect(ChildDocuments.read(ChildDocuments.replacing(place, of: json, with: number)) == nil, "\(name) \(number)")
    }
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
