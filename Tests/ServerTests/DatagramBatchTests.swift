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

  private static func batch(_ size: Int) throws -> DatagramBatch {
    let destination = try #require(SocketAddress(here, forIPv6Socket: false))
    return DatagramBatch(datagram(size, 1), to: here, at: destination)
  }

  @Test func takesDatagramsOfOneSizeAndAShorterOneAtTheEnd() throws {
    var batch = try Self.batch(1000)
    let taken = [1000, 999, 1000, 999, 1].map { batch.append(Self.datagram($0, 2), to: Self.here) }
    #expect(taken == [true, true, false, false, false])
    #expect(batch.count == 3 && batch.remaining.count == 2999 && batch.segmentSize == 1000)
  }

  @Test func refusesDatagramsThatTheKernelWouldCutWrongly() throws {
    var batch = try Self.batch(1000)
    let taken = [
      batch.append(Self.datagram(1001, 2), to: Self.here), batch.append([], to: Self.here),
      batch.append(Self.datagram(1000, 2), to: Self.there),
    ]
    #expect(taken == [false, false, false] && batch.count == 1)
  }

  @Test(arguments: [(100, DatagramBatch.maximumDatagrams), (1400, DatagramBatch.maximumBytes / 1400), (40_000, 1)])
  func endsWhereTheKernelsLimitsAre(size: Int, most: Int) throws {
    var batch = try Self.batch(size)
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

  /// Where no batch could be sent to.
  private static func write(
    _ datagrams: [[UInt8]], from socket: MediaSocket, to port: UInt16, usesBatches: Bool = true
  ) async throws -> [TransportAddress] {
    try await socket.channel.eventLoop.submit {
      let writer = DatagramWriter(usesBatches: usesBatches)
      let address = TransportAddress(ip: .v4(0x7f00_0001), port: port)
      let destination = try #require(SocketAddress(address, forIPv6Socket: socket.isIPv6))
      for datagram in datagrams { writer.write(datagram, to: address, at: destination, through: socket) }
      writer.flush(through: socket)
      #expect(!writer.isWaiting && writer.lostDatagrams == 0)
      return writer.addressesWithoutBatches
    }.get()
  }

  @Test(arguments: [true, false])
  func datagramsArriveAsTheyWereWritten(usesBatches: Bool) async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (from, to) = (try await Receiver(on: loop), try await Receiver(on: loop))
    let refusing = try await Self.write(Self.sent, from: from.socket, to: to.socket.port, usesBatches: usesBatches)
    #expect(await to.next(Self.sent.count) == Self.sent)
    #expect(refusing.isEmpty)
    await from.socket.close()
    await to.socket.close()
  }

  /// Unwanted datagrams are left out of a batch, too.
  @Test func eachDatagramOfABatchIsFiltered() async throws {
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
  @Test func aRefusedBatchArrivesAsSingleDatagrams() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (from, to) = (try await Receiver(on: loop), try await Receiver(on: loop))
    let noChecksum = ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: SO_NO_CHECK))
    try await from.socket.channel.setOption(noChecksum, value: 1).get()
    let refusing = try await Self.write(Self.sent, from: from.socket, to: to.socket.port)
    #expect(await to.next(Self.sent.count) == Self.sent)
    #expect(refusing == [TransportAddress(ip: .v4(0x7f00_0001), port: to.socket.port)])
    await from.socket.close()
    await to.socket.close()
  }

  /// The system refuses datagrams to a broadcast address (EACCES).
  @Test func aRefusedDestinationLeavesTheSocketOpen() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (from, to) = (try await Receiver(on: loop), try await Receiver(on: loop))
    let socket = from.socket
    let result = try await loop.submit {
      let broadcast = TransportAddress(ip: .v4(0x7fff_ffff), port: 9)
      let destination = try #require(SocketAddress(broadcast, forIPv6Socket: socket.isIPv6))
      return socket.send([1, 2, 3], to: destination, segmentSize: 0)
    }.get()
    #expect(result == .refused(errno: EACCES) && socket.channel.isActive)
    _ = try await Self.write(Self.sent, from: socket, to: to.socket.port)
    #expect(await to.next(Self.sent.count) == Self.sent)
    await socket.close()
    let afterwards = try await loop.submit {
      let destination = try #require(SocketAddress(Self.here, forIPv6Socket: socket.isIPv6))
      return socket.send([1], to: destination, segmentSize: 0)
    }.get()
    #expect(afterwards == .refused(errno: EBADF))
    await to.socket.close()
  }
}
