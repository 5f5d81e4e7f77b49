internal import Frames
internal import NIOCore
internal import Pipelines
internal import RTSP
internal import Server
internal import Signaling
internal import Storage
internal import VideoFormats
internal import Wire

/// A player's RTSP connection with the media in it, or beside it as datagrams, from its first request to its end. Confined to
/// the event loop.
final class RTSPConnection: ChannelInboundHandler, MediaOutlet {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// Until a player plays.
  private static let patience: Duration = .seconds(20)
  /// A player that takes nothing for so long is gone.
  private static let stallLimit: Duration = .seconds(10)
  private static let silenceLimit: Duration = .seconds(RTSPServerSession.timeout + 5)
  /// What waits for a player of the sound alone: with what the kernel keeps, some seconds.
  private static let soundWaiting = ChannelOptions.Types.WriteBufferWaterMark(low: 4096, high: 8192)
  private static let soundBuffer = 8192
  /// To requests of a player that reads nothing.
  private static let maximumUnreadResponses = 16

  private let service: RTSPService
  /// Where the player is; nil when that is unknown.
  let client: IPAddress?
  let since = MonotonicClock.now
  private var reader = RTSPReader()
  private var session: RTSPServerSession
  private var context: ChannelHandlerContext?
  private var token: TokenRecord?
  private var wish = RTSPWish()
  private(set) var viewer: ViewerSession?
  private var picture: RTSPPackets?
  private var sound: RTSPPackets?
  private var path: RTSPPath?
  /// Frames that the player has no room for are dropped, and what follows them up to the next key frame.
  private var needsKeyFrame = true
  private var stalledSince: Instant?
  private var unreadResponses = 0
  /// When the player sent something last.
  private(set) var heardAt = MonotonicClock.now
  private(set) var bytesSent: UInt64 = 0

  init(_ service: RTSPService, client: IPAddress?, ports: (rtp: UInt16, rtcp: UInt16)?) {
    self.service = service
    self.client = client
    session = RTSPServerSession(random: RTSPService.random(), ports: ports)
  }

  let protocolName = "RTSP"
  var soundFormat: SoundFormat { sound?.stream.track.media == .pcmu ? .pcmu : .opus }
  var soundPacketsSent: UInt64 { UInt64(sound?.count ?? 0) }
  var packetsSent: UInt64 { UInt64(picture?.count ?? 0) + soundPacketsSent }

  // MARK: The connection

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    context.fireChannelInactive()
  }

  /// Also of a connection that ended before it began.
  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    service.ended(self)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  func close() {
    context?.close(promise: nil)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    stalledSince = context.channel.isWritable ? nil : MonotonicClock.now
    unreadResponses = 0
    context.fireChannelWritabilityChanged()
  }

  /// Each second.
  func beat(now: Instant) {
    path?.update(now: now)
    viewer?.estimateKbps = path?.kbps
    let isStalled = stalledSince.map { now - $0 > Self.stallLimit } ?? false
    let isIdle = viewer == nil && now - since > Self.patience
    // One that takes its media in the connection shows so that it is there.
    let isSilent = hasDatagrams && now - heardAt > Self.silenceLimit
    if isStalled || isIdle || isSilent { close() }
  }

  private var hasDatagrams: Bool {
    [picture, sound].contains { if case .datagrams? = $0?.stream.transport { true } else { false } }
  }

  /// A datagram came from an address: true if it is this player's, which is there then.
  func hear(from address: SocketAddress) -> Bool {
    let isOurs = [picture, sound].contains { packets in
      guard case .datagrams(let rtp, let rtcp)? = packets?.stream.transport else { return false }
      return [rtp, rtcp].contains { destination(port: $0) == address }
    }
    if isOurs { heardAt = MonotonicClock.now }
    return isOurs
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    heardAt = MonotonicClock.now
    reader.append(unwrapInboundIn(data).readableBytesView)
    do throws(RTSPReader.Failure) {
      while self.context != nil, let item = try reader.next() {
        // Packets are receivers' reports, which change nothing in a connection that loses nothing.
        if case .request(let request) = item { answer(request) }
      }
    } catch {
      respond(RTSPServerSession.refusal(error), to: nil)
      close()
    }
  }

  private func answer(_ request: RTSPRequest) {
    if RTSPServerSession.needsCredential(request) {
      switch service.authorize(request, of: session, from: client) {
      case .granted(let token): self.token = token
      case .refused(let response): return respond(response, to: request)
      }
    }
    switch session.handle(request) {
    case .respond(let response): respond(response, to: request)
    case .describe: respond(describe(request), to: request)
    case .play(let streams): respond(play(streams), to: request)
    case .end(let response):
      respond(response, to: request)
      close()
    }
  }

  private func describe(_ request: RTSPRequest) -> RTSPResponse {
    guard let token else { return session.challenge() }
    do throws(Problem) {
      let (wish, tracks) = try service.tracks(for: token, path: request.path, query: request.query)
      self.wish = wish
      return session.describe(request, tracks: tracks, title: service.title)
    } catch {
      return service.refuse(client, token, error)
    }
  }

  private func play(_ streams: [RTSPStream]) -> RTSPResponse {
    guard let token, viewer == nil else { return session.challenge() }
    let picture = streams.first { $0.track.isPicture }
    let sound = streams.first { !$0.track.isPicture }
    let name = RTSPService.random().prefix(8).hexadecimal()
    self.picture = picture.map { RTSPPackets($0, name: name) }
    self.sound = sound.map { RTSPPackets($0, name: name) }
    do throws(Problem) {
      viewer = try service.begin(
        self, token: token, camera: picture.map { _ in wish.camera },
        codec: picture?.track.media == .h264 ? .h264 : .vp8, hasSound: sound != nil)
    } catch {
      (self.picture, self.sound) = (nil, nil)
      return service.refuse(client, token, error)
    }
    if picture == nil {
      let options = context?.channel.syncOptions
      try? options?.setOption(.writeBufferWaterMark, value: Self.soundWaiting)
      try? options?.setOption(.socketOption(.so_sndbuf), value: SocketOptionValue(Self.soundBuffer))
    } else {
      path = RTSPPath(maximumKbps: service.maximumKbps)
    }
    return session.played()
  }

  private func respond(_ response: RTSPResponse, to request: RTSPRequest?) {
    if !(context?.channel.isWritable ?? false) {
      unreadResponses += 1
      if unreadResponses > Self.maximumUnreadResponses { return close() }
    }
    write(response.bytes(sequence: request?["cseq"]))
  }

  private func write(_ bytes: [UInt8]) {
    guard let context else { return }
    bytesSent += UInt64(bytes.count)
    context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
  }

  // MARK: Media

  func send(_ frame: EncodedVideoFrame, payloads: [[UInt8]]) {
    guard var packets = picture, !needsKeyFrame || frame.isKeyFrame else { return }
    let now = MonotonicClock.now
    guard hasRoom(packets) else {
      if !needsKeyFrame { path?.recordDrop(now: now) }
      return needsKeyFrame = true
    }
    needsKeyFrame = false
    // 90 kHz, RFC 7741 section 4.1 and RFC 6184 section 5.1; nanoseconds * 9 / 100,000.
    let time = UInt32(truncatingIfNeeded: frame.captureTime.nanoseconds / 100_000 * 9)
    let report = packets.report(
      timestamp: time, captureTime: frame.captureTime, wallClock: MonotonicClock.wallClockReference, now: now)
    let media = packets.media(payloads, timestamp: time)
    picture = packets
    deliver(media, report: report, by: packets.stream.transport)
  }

  func send(_ packet: EncodedAudioPacket) {
    send(packet.data, timestamp: packet.samplePosition, captureTime: packet.captureTime)
  }

  func send(_ sound: ConvertedSound) {
    // 8 kHz of 48.
    send(sound.data, timestamp: sound.samplePosition / 6, captureTime: sound.captureTime)
  }

  private func send(_ payload: [UInt8], timestamp: UInt64, captureTime: Instant) {
    guard var packets = sound, hasRoom(packets) else { return }
    let time = UInt32(truncatingIfNeeded: timestamp)
    let report = packets.report(
      timestamp: time, captureTime: captureTime, wallClock: MonotonicClock.wallClockReference,
      now: MonotonicClock.now)
    let media = packets.media([payload], timestamp: time)
    sound = packets
    deliver(media, report: report, by: packets.stream.transport)
  }

  /// The player has taken what was sent before.
  private func hasRoom(_ packets: RTSPPackets) -> Bool {
    if case .datagrams = packets.stream.transport { return true }
    return context?.channel.isWritable ?? false
  }

  private func deliver(_ packets: [[UInt8]], report: [UInt8]?, by transport: RTSPStream.Transport) {
    switch transport {
    case .interleaved(let channel):
      var bytes: [UInt8] = []
      if let report { Self.interleave(report, on: channel + 1, into: &bytes) }
      for packet in packets { Self.interleave(packet, on: channel, into: &bytes) }
      write(bytes)
    case .datagrams(let rtp, let rtcp):
      if let report, let address = destination(port: rtcp) {
        service.send([report], to: address, areReports: true)
      }
      guard let address = destination(port: rtp) else { return }
      bytesSent += packets.reduce(0) { $0 + UInt64($1.count) }
      service.send(packets, to: address)
    }
  }

  /// Nowhere but to the address that the connection comes from.
  private func destination(port: UInt16) -> SocketAddress? {
    var address = context?.channel.remoteAddress
    address?.port = Int(port)
    return address
  }

  /// RFC 2326 section 10.12.
  private static func interleave(_ packet: [UInt8], on channel: UInt8, into bytes: inout [UInt8]) {
    bytes += [UInt8(ascii: "$"), channel, UInt8(truncatingIfNeeded: packet.count >> 8), UInt8(packet.count & 0xff)]
    bytes += packet
  }
}
