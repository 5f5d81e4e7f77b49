import NIOCore
import NIOPosix
import Synchronization

/// A port on loopback that ends its first connections and passes on what comes over the others, as a busy child's.
final class BusyDoor: Sendable {
  let port: UInt16
  private let channel: any Channel
  private let count: Tally

  private final class Tally: Sendable {
    let value = Mutex(0)
  }

  /// - Parameters:
  ///   - target: where the others lead.
  ///   - refused: how many are ended.
  static func open(to target: UInt16, refused: Int) async throws -> BusyDoor {
    let count = Tally()
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let channel = try await ServerBootstrap(group: loop)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { near in
        let number = count.value.withLock { value in
          value += 1
          return value
        }
        guard number > refused else { return near.close() }
        return ClientBootstrap(group: near.eventLoop)
          .channelOption(.autoRead, value: false)
          .connect(host: "127.0.0.1", port: Int(target))
          .flatMap { far in
            near.eventLoop.makeCompletedFuture {
              for (from, to) in [(near, far), (far, near)] {
                try from.pipeline.syncOperations.addHandler(Passing(to: to))
                _ = from.setOption(.autoRead, value: true)
              }
            }
          }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return BusyDoor(channel, count)
  }

  private init(_ channel: any Channel, _ count: Tally) {
    port = UInt16(channel.localAddress?.port ?? 0)
    (self.channel, self.count) = (channel, count)
  }

  /// Connections that have come.
  var knocks: Int { count.value.withLock { $0 } }

  func close() async throws { try await channel.close() }

  private final class Passing: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    init(to other: any Channel) { self.other = other }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      other.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      other.close(promise: nil)
    }
  }
}
