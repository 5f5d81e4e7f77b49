import Glibc
import UDP
import WebRTC

/// One connection, from its descriptions to its end.
struct Session {
  let peer: PeerConnection
  /// The first message on a channel of ours; nil: we open none.
  var greeting: String?
  private var ownChannel: UInt16?
  private var packetizer = VP8Packetizer()

  init(peer: PeerConnection, greeting: String? = nil) {
    self.peer = peer
    self.greeting = greeting
  }

  mutating func run(on socket: UDPSocket) {
    while true {
      while let output = peer.poll() {
        switch output {
        case .transmit(let datagram, from: _, to: let destination): socket.send(datagram, to: destination)
        case .event(let event): handle(event, now: MonotonicClock.now)
        }
      }
      if peer.state.isOver { break }
      if let (datagram, source) = socket.receive(waitingUntil: peer.nextDeadline, now: MonotonicClock.now) {
        peer.handle(datagram: datagram, from: source, to: socket.address, now: MonotonicClock.now)
      }
      if peer.nextDeadline.isDue(at: MonotonicClock.now) { peer.handleTimeout(now: MonotonicClock.now) }
    }
    report()
  }

  private mutating func handle(_ event: PeerConnectionEvent, now: Instant) {
    switch event {
    case .stateChanged(let state):
      log("\(state)")
      if state == .connected, let greeting, ownChannel == nil { open(greeting, now: now) }
    case .videoFrame(let frame):
      peer.sendVP8(
        frame.payload, packetizer: &packetizer, mediaTime: frame.rtpTimestamp, captureTime: now, now: now)
    case .audio(let audio):
      // What was lost is lost for the other end as well, which fills it in by the time that is missing.
      if case .packet(let packet) = audio.content {
        peer.sendOpus(packet, mediaTime: audio.rtpTimestamp, captureTime: now, now: now)
      }
    case .keyFrameRequested:
      // Our pictures are the peer's.
      peer.requestKeyFrame(decoderFailed: false, now: now)
    case .dataChannelOpened(let id, let parameters, let byPeer):
      log("channel \(id) \"\(parameters.label)\"\(byPeer ? " of the peer" : "")")
    case .dataChannelMessage(let id, let message):
      if id == ownChannel { log("message \(message)") } else { try? peer.send(message, on: id, now: now) }
    default:
      break
    }
  }

  private mutating func open(_ greeting: String, now: Instant) {
    do {
      let channel = try peer.openDataChannel(DataChannelParameters(label: "greetings"), now: now)
      try peer.send(.text(greeting), on: channel, now: now)
      ownChannel = channel
    } catch {
      log("no channel: \(error)")
    }
  }

  private func report() {
    if let reason = peer.failureReason { log(reason) }
    let statistics = peer.statistics(now: MonotonicClock.now)
    for stream in statistics.inboundRTP {
      log("received \(stream.kind): \(stream.packetsReceived) packets, \(stream.packetsLost) lost")
    }
    for stream in statistics.outboundRTP {
      log("sent \(stream.kind): \(stream.packetsSent) packets, \(stream.nackCount) NACKs")
    }
    log("the path carries \(statistics.availableOutgoingKbps) kbit/s")
  }

  private func log(_ line: String) {
    print(line)
    fflush(nil)
  }
}
