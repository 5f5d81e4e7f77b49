import ArgumentParser
import Control
import Foundation
import Frames
import NIOCore
import NIOPosix
import PeerConnection
import RTPReceiving
import SCTP
import SDP
import SecureTransport
import Server
import Wire

/// Viewers in one process that count packets, pictures and key frames and decode none, so that watching leaves the cores to
/// the child.
///
/// Whoever runs it signals for them, by lines on standard input, each answered by one JSON object: `add` by the next
/// viewer's `{"offer"}`; the line after that is `{"answer"}`, itself answered when media flows. `keep N` sends those beyond
/// the first N away. `report` says what each has received. The end of input ends all.
struct Crowd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Viewers that decode nothing; commands and answers to their offers come on standard input.")

  private struct Answer: Decodable {
    var answer: String
  }

  private struct Reply: Encodable {
    var offer: String?
    var error: String?
    var watching: Int?
    /// Unix time.
    var time: Double?
    var received: [LightViewer.Received]?
  }

  func run() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let key = PrivateKey.generate()
    let transports = try OpenSSLTransports(key: key, certificate: Certificate(key: key))
    var viewers: [LightViewer] = []
    while let command = readLine() {
      do {
        let words = command.split(separator: " ")
        switch (words.first, words.dropFirst().first.flatMap { Int($0) }) {
        case ("add", nil):
          let viewer = try await LightViewer(transports, eventLoop: group.next())
          viewers.append(viewer)
          try say(Reply(offer: viewer.offer))
          let answer = try JSONDecoder().decode(Answer.self, from: Data((readLine() ?? "").utf8))
          try await viewer.connect(answer.answer)
          try say(Reply(watching: viewers.count))
        case ("keep", let count?) where count >= 0:
          while viewers.count > count { await viewers.removeLast().leave() }
          try say(Reply(watching: viewers.count))
        case ("report", nil):
          var received: [LightViewer.Received] = []
          for viewer in viewers { received.append(try await viewer.received()) }
          let time = Double(MonotonicClock.unixNanoseconds) / 1e9
          try say(Reply(watching: viewers.count, time: time, received: received))
        default:
          try say(Reply(error: "there is no command \(command)"))
        }
      } catch {
        try say(Reply(error: "\(error)"))
      }
    }
    for viewer in viewers { await viewer.leave() }
    try await group.shutdownGracefully()
  }

  private func say(_ reply: Reply) throws {
    try printJSON(reply)
    // All streams: standard output is a variable, of the whole program.
    fflush(nil)
  }
}

/// One viewer; receives as `cradle-parent` does, with feedback for the whole transport.
private struct LightViewer {
  struct Problem: Error, CustomStringConvertible {
    var description: String
  }

  struct Received: Encodable, Sendable {
    struct Picture: Encodable, Sendable {
      var frames: UInt64
      var packets: UInt64
      var keyFrames: UInt64
    }
    var video: Picture
  }

  let offer: String
  private let hub: PeerHub
  private let peer: PeerID

  init(_ transports: OpenSSLTransports, eventLoop: any EventLoop) async throws {
    // Each has a port of its own: by its address a child knows whose packets they are.
    let hub = PeerHub(eventLoop: eventLoop, limit: 1, now: { MonotonicClock.now }) { configuration in
      PeerConnection(
        configuration: configuration, secure: transports, hashes: CryptoHashes(),
        random: SystemRandomNumberGenerator(), wallClock: MonotonicClock.wallClockReference)
    }
    try await hub.bind(ports: 0...0)
    self.hub = hub
    let extensions = [
      RTPHeaderExtensionURI.mid, RTPHeaderExtensionURI.transportWideCC, RTPHeaderExtensionURI.absSendTime,
      RTPHeaderExtensionURI.absCaptureTime,
    ]
    let media = [(MediaKind.video, [RTPCodec.vp8, .rtx]), (.audio, [.opus, .opusRED])].map { kind, codecs in
      LocalMedia(
        kind: kind, direction: .receiveOnly, codecs: codecs, headerExtensions: extensions,
        ssrc: .random(in: 1...UInt32.max), cname: "crowd", streamID: "-", trackID: kind == .video ? "video" : "audio")
    }
    (peer, offer) = try await eventLoop.submit {
      var configuration = PeerConnectionConfiguration(media: media)
      configuration.sctp.expectedChannels = []
      let (peer, offer) = try hub.offer(configuration: configuration, wantsDataChannel: true, includingLoopback: false)
      hub.onEvent = { peer, event in
        guard case .stateChanged(.connected) = event else { return }
        // What the child says there has to be paid for, too; nobody reads it.
        hub.with(peer) { connection, now in
          _ = try? connection.openDataChannel(
            DataChannelParameters(label: ControlLimits.channelLabel, protocolName: ControlLimits.protocolName), now: now
          )
        }
      }
      return (peer, offer.description)
    }.get()
  }

  /// Returns when pictures come.
  func connect(_ answer: String) async throws {
    let description = try SessionDescription(parsing: answer)
    try await hub.eventLoop.submit { [hub, peer] in
      try hub.with(peer) { connection, now in try connection.accept(description, now: now) }
    }.get()
    let deadline = MonotonicClock.now + .seconds(15)
    while (try? await received())?.video.frames ?? 0 == 0 {
      guard MonotonicClock.now < deadline else { throw Problem(description: "no picture comes") }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  func received() async throws -> Received {
    try await hub.eventLoop.submit { [hub, peer] in
      guard let connection = hub.connection(peer), connection.state == .connected else {
        throw Problem(description: "a viewer is not connected")
      }
      let video = connection.statistics(now: MonotonicClock.now).inboundRTP.first { $0.kind == .video }
      return Received(
        video: .init(
          frames: video?.framesReceived ?? 0, packets: video?.packetsReceived ?? 0,
          keyFrames: video?.keyFramesReceived ?? 0))
    }.get()
  }

  func leave() async {
    await hub.shutDown(sayingGoodbye: true)
  }
}
