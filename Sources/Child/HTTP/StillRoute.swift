internal import Control
internal import Frames
internal import NIOCore
internal import NIOHTTP1
internal import Pairing
internal import Server
internal import Signaling
internal import Storage

/// `GET /still.jpg`: a picture for programs that show one now and then, also while nobody watches. interfaces/wire.md, "HTTPS".
///
/// Who asks for the same picture meanwhile gets the same one, and only so many are made at once, each on a thread of its own.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class StillRoute: @unchecked Sendable {
  private struct Wanted: Hashable {
    var camera: Int
    var height: Int?
  }

  static let path = "/still.jpg"
  static let heights = 16...4320
  /// Of one token, at once and then.
  static let burst = 20
  static let interval: Duration = .milliseconds(200)
  private static let maximumUnderway = 4
  /// With what JPEG takes, the answer is there within a second.
  private static let patience: Duration = .milliseconds(900)

  private let loop: any EventLoop
  private let viewers: Viewers
  private var underway: [Wanted: EventLoopFuture<StillPictures.Still>] = [:]
  private var requests = RateLimiter<String>(burst: burst, interval: interval)

  init(loop: any EventLoop, viewers: Viewers) {
    self.loop = loop
    self.viewers = viewers
  }

  /// The future may fail with `Problem`.
  func respond(to request: HTTPRequest, token: TokenRecord) throws(Problem) -> EventLoopFuture<HTTPResponse> {
    guard token.allow.contains(.view) else { throw Problem(403, "this token does not allow view") }
    let query = URLQuery(request.query ?? "")
    let wanted = Wanted(camera: try viewers.camera(named: try query.value(of: "camera")), height: try height(query))
    if let wait = requests.admit(token.id, now: MonotonicClock.now).wait {
      throw Problem(429, "this token asks for pictures too often", retryAfter: wait)
    }
    return try take(wanted).map { still in
      HTTPResponse(
        status: .ok,
        headers: ["Content-Type": "image/jpeg", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"],
        body: still.jpeg)
    }.flatMapErrorThrowing { error in
      guard let error = error as? ControlError else { throw error }
      throw Problem(error.code == .unavailable ? 503 : 500, error.message, retryAfter: .seconds(5))
    }
  }

  private func height(_ query: URLQuery) throws(Problem) -> Int? {
    guard let text = try query.value(of: "height") else { return nil }
    guard let height = Int(text), Self.heights.contains(height) else {
      throw Problem(400, "height is a number from \(Self.heights.lowerBound) to \(Self.heights.upperBound)")
    }
    return height
  }

  private func take(_ wanted: Wanted) throws(Problem) -> EventLoopFuture<StillPictures.Still> {
    if let same = underway[wanted] { return same }
    guard underway.count < Self.maximumUnderway else {
      throw Problem(503, "other pictures are being made", retryAfter: .seconds(1))
    }
    let still = StillPictures.take(
      viewers.cameras[wanted.camera].pipeline, quality: ControlDefaults.quality, height: wanted.height,
      within: Self.patience, on: loop)
    underway[wanted] = still
    still.assumeIsolated().whenComplete { [self] _ in underway[wanted] = nil }
    return still
  }
}
