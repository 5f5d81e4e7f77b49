import Glibc
import NIOCore
import NIOPosix
import Testing
import Wire

@testable import Server

/// One write for many datagrams, udp(7): UDP_SEGMENT and UDP_GRO of the real kernel.
@Suite(.timeLimit(.minutes(1))) struct DatagramBatchTests {
  private static let here = TransportAddress(ip: .v4(0x7f00_0001), port: 9)
  private static let there = TransportAddress(ip: .v4(0x7f00_0001), port: 10)

  private static func datagram(_ size: Int, _ mark: UInt8) -> [UInt8] { Array(repeating: mark, count: size) }

  private static func batch(_ size: Int) -> DatagramBatch {
    DatagramBatch(datagram(size, 1), to: here, allocator: ByteBufferAllocator())
  }

  @Test func takesWhatIsOfOneSizeAndAShorterOneAtTheEnd() {
    var batch = Self.batch(1000)
    let taken = [1000, 999, 1000, 999, 1].map { batch.append(Self.datagram($0, 2), to: Self.here) }
    #expect(taken == [true, true, false, false, false])
    #expect(batch.count == 3 && batch.bytes.readableBytes == 2999 && batch.segmentSize == 1000)
  }

  @Test func refusesWhatTheKernelWouldCutWrongly() {
    var batch = Self.batch(1000)
    let taken = [
      batch.append(Self.datagram(1001, 2), to: Self.here), batch.append([], to: Self.here),
      batch.append(Self.datagram(1000, 2), to: Self.there),
    ]
    #expect(taken == [false, false, false] && batch.count == 1)
  }

  @Test(arguments: [(100, DatagramBatch.maximumDatagrams), (1400, DatagramBatch.maximumBytes / 1400), (40_000, 1)])
  func endsWhereTheKernelsLimitsAre(size: Int, most: Int) {
    var batch = Self.batch(size)
    while batch.append(Self.datagram(size, 2), to: Self.here) {}
    #expect(batch.count == min(most, DatagramBatch.maximumDatagrams))
  }

  /// A MediaSocket that keeps what it receives.
  private struct Receiver {
    let socket: MediaSocket
    let datagrams: AsyncStream<[UInt8]>

    init(on loop: any EventLoop) async throws {
      let (stream, kept) = AsyncStream.makeStream(of: [UInt8].self)
      datagrams = stream
      socket = try await MediaSocket.bind(ports: 0...0, on: loop, isWanted: { first, _ in first != 0xee }) {
        datagram, _, _ in
        kept.yield(datagram)
      } receivedAll: {
      }
    }

    func next(_ count: Int) async -> [[UInt8]] {
      var result: [[UInt8]] = []
      for await datagram in datagrams {
        result.append(datagram)
        if result.count == count { break }
      }
      return result
    }
  }

  private static let sent =
    (1...7).map { datagram(1190, $0) } + [datagram(300, 8), datagram(500, 9), datagram(500, 10), datagram(1, 11)]

  private static func write(_ datagrams: [[UInt8]], from socket: MediaSocket, to port: UInt16) async throws -> Bool {
    try await socket.channel.eventLoop.submit {
      let writer = DatagramWriter()
      let address = TransportAddress(ip: .v4(0x7f00_0001), port: port)
      let destination = try #require(SocketAddress(address, forIPv6Socket: socket.isIPv6))
      for datagram in datagrams { writer.write(datagram, to: address, at: destination, through: socket.channel) }
      writer.flush(socket.channel)
      return writer.usesBatches
    }.get()
  }

  @Test func arrivesAsWhatWasWrittenInOrder() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (from, to) = (try await Receiver(on: loop), try await Receiver(on: loop))
    let kept = try await Self.write(Self.sent, from: from.socket, to: to.socket.port)
    #expect(await to.next(Self.sent.count) == Self.sent)
    #expect(kept)
    await from.socket.close()
    await to.socket.close()
  }

  /// What nobody waits for is left out of a batch, too.
  @Test func eachDatagramOfATrainIsLookedAt() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (from, to) = (try await Receiver(on: loop), try await Receiver(on: loop))
    var sent = Self.sent
    sent[2] = Self.datagram(1190, 0xee)
    _ = try await Self.write(sent, from: from.socket, to: to.socket.port)
    sent.remove(at: 2)
    #expect(await to.next(sent.count) == sent)
    await from.socket.close()
    await to.socket.close()
  }

  /// Gives a socket a free port of the loopback interface.
  private static func bind(_ descriptor: Int32) throws -> UInt16 {
    let bound = try SocketAddress(ipAddress: "127.0.0.1", port: 0).withSockAddr { address, size in
      Glibc.bind(descriptor, address, socklen_t(size))
    }
    #expect(bound == 0)
    // sockaddr_in, ip(7): family, then the port.
    var name = [UInt8](repeating: 0, count: 16)
    var length = socklen_t(name.count)
    let named = name.withUnsafeMutableBytes {
      getsockname(descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length)
    }
    #expect(named == 0)
    return UInt16(name[2]) << 8 | UInt16(name[3])
  }

  /// A viewer of any other make sees single datagrams.
  @Test func aPlainSocketReceivesDatagrams() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let from = try await Receiver(on: loop)
    let plain = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(plain) }
    let port = try Self.bind(plain)
    _ = try await Self.write(Self.sent, from: from.socket, to: port)
    let sizes = try await NIOThreadPool.singleton.runIfActive {
      var time = timeval(tv_sec: 10, tv_usec: 0)
      setsockopt(plain, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
      var buffer = [UInt8](repeating: 0, count: 65_536)
      return Self.sent.map { _ in recv(plain, &buffer, buffer.count, 0) }
    }
    #expect(sizes == Self.sent.map(\.count))
    await from.socket.close()
  }

  /// The kernel refuses to cut datagrams without checksums (EINVAL), as it does on a path for smaller ones.
  @Test func aRefusalEndsTrains() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let from = try await Receiver(on: loop)
    let noChecksum = ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: SO_NO_CHECK))
    try await from.socket.channel.setOption(noChecksum, value: 1).get()
    #expect(try await Self.write(Self.sent, from: from.socket, to: 9) == false)
    await from.socket.close()
  }
}
