import Logging
import NIOCore
import NIOPosix
import Notifications
import Storage
import Testing

@testable import Child

@Suite struct NotifierPictureTests {
  /// One that wants a picture, and has no address.
  private struct Nowhere: NotifierDestination {
    let name = "nowhere"
    let filter = NotificationFilter()
    let wantsPicture = true

    func request() throws(NotifierProblem) -> any NotifierRequest { throw NotifierProblem(description: "no address") }
  }

  /// A camera or a pool of threads that hangs holds up no message.
  @Test(.timeLimit(.minutes(1))) func aPictureThatNeverComesIsNotWaitedFor() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let never = loop.makePromise(of: [UInt8]?.self)
    let notifier = Notifier(
      Nowhere(), loop: loop, logger: Logger(label: "test"), takePicture: { _ in never.futureResult }
    ) { () throws(FileError) in AtomicFile(path: "/nowhere/notify.json") }
    #expect(try await notifier.test().get().detail == "no address")
    never.succeed([1])
  }
}
