internal import Frames
internal import Pairing
internal import PeerConnection
internal import RTPSending
internal import SCTP
internal import Server
internal import Signaling
internal import Wire

// The child's end of the `control` data channel. INTERFACES.md, "Data channel".
extension Viewers {
  private struct Hello: Encodable {
    var name: String
    var id: String
    var version: String
    var capabilities: [String]
    var permissions: [String]
    var state: State

    struct State: Encodable {
      var camera: String
      var microphone: String
    }
  }

  struct Goodbye: Encodable {
    var reason: String
  }

  private struct Pong: Encodable {
    /// Seconds since 1970-01-01 UTC.
    var time: Double
  }

  private struct Beat: Encodable {
    var time: Double
    var uptimeSeconds: Double
    var video: Video
    var audio: Audio

    struct Video: Encodable {
      var state: String
      var captured: UInt64
      var encoded: UInt64
      var keyFrames: UInt64
      var sent: UInt64
      var targetKbps: Int
    }

    struct Audio: Encodable {
      var state: String
      var captured: UInt64
      var encoded: UInt64
      var sent: UInt64
      var levelDb: Double
    }
  }

  func sayHello(to peer: PeerID) {
    guard let viewer = table[peer] else { return }
    tell(
      viewer, text: "hello",
      parameters: Hello(
        name: settings.childName, id: settings.childID, version: settings.version, capabilities: ["ping"],
        permissions: viewer.permissions.names,
        state: .init(camera: pipeline(of: viewer)?.camera.word ?? "off", microphone: audio.microphone.word)))
  }

  func answer(_ message: DataChannelMessage, from viewer: Viewer) {
    guard case .text(let text) = message, let command = ControlMessages.parse(text) else {
      return tell(
        viewer,
        ControlMessages.encodeError(
          id: nextMessageID(), inReplyTo: nil, .badMessage,
          "A message is a JSON object with a \"text\", at most 16 KiB."))
    }
    switch command.text {
    case "ping":
      tell(viewer, inReplyTo: command.id, text: "ok", parameters: Pong(time: Self.unixTime))
    default:
      tell(
        viewer,
        ControlMessages.encodeError(
          id: nextMessageID(), inReplyTo: command.id, .unknownCommand,
          "This child does not know the command \"\(command.text.prefix(64))\"."))
    }
  }

  func beat() {
    let audio = audio.counters
    for viewer in table.values where viewer.controlChannel != nil {
      let pipeline = pipeline(of: viewer)
      let video = pipeline?.counters ?? .init()
      let streams = hub.connection(viewer.peer)?.statistics(now: MonotonicClock.now).outboundRTP ?? []
      let sent = { (kind: RTPMediaKind) in streams.first { $0.kind == kind }?.packetsSent ?? 0 }
      tell(
        viewer, text: "heartbeat",
        parameters: Beat(
          time: Self.unixTime, uptimeSeconds: (MonotonicClock.now - started).inSeconds.rounded(.down),
          video: .init(
            state: pipeline?.camera.word ?? "off", captured: video.captured, encoded: video.encoded,
            keyFrames: video.keyFrames, sent: sent(.video), targetKbps: pipeline?.targetKbps ?? 0),
          audio: .init(
            state: self.audio.microphone.word, captured: audio.captured, encoded: audio.encoded, sent: sent(.audio),
            levelDb: (audio.levelDb * 10).rounded() / 10)))
    }
  }

  func sayGoodbye(to viewer: Viewer) {
    tell(viewer, text: "goodbye", parameters: Goodbye(reason: "The child is stopping."))
  }

  private static var unixTime: Double { Double(MonotonicClock.unixNanoseconds / 1_000_000) / 1000 }

  private func nextMessageID() -> String {
    messageNumber += 1
    return "c\(messageNumber)"
  }

  private func tell(_ viewer: Viewer, inReplyTo: String? = nil, text: String, parameters: some Encodable) {
    tell(
      viewer, ControlMessages.encode(id: nextMessageID(), inReplyTo: inReplyTo, text: text, parameters: parameters))
  }

  private func tell(_ viewer: Viewer, _ message: String) {
    guard let channel = table[viewer.peer]?.controlChannel else { return }
    hub.with(viewer.peer) { connection, now in
      // A viewer that stopped reading fills its buffer; consent ends it, a heartbeat more or less does not matter.
      try? connection.send(.text(message), on: channel, now: now)
    }
  }
}
