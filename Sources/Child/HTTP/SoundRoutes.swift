internal import Devices
internal import Frames
internal import NIOCore
internal import NIOHTTP1
internal import Pairing
internal import Pipelines
internal import Server
internal import Signaling
internal import Storage
internal import Wire

/// `GET /sound.ogg` and `/sound.mp3`: the room's sound for players of plain HTTP, each a viewer. interfaces/wire.md, "HTTPS".
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class SoundRoutes: @unchecked Sendable {
  /// What waits for a listener: with what the kernel keeps, two seconds.
  private static let maximumWaitingBytes = 8 * 1024
  /// A microphone that gives nothing for so long is gone: a player that only waits would look as if the room were quiet.
  private static let silenceLimit: Duration = .seconds(5)

  private let viewers: Viewers

  init(viewers: Viewers) {
    self.viewers = viewers
    viewers.registry.observe { [weak self] event in
      if case .secondPassed = event { self?.endSilent() }
    }
  }

  static func format(ofPath path: String) -> SoundFormat? {
    switch path {
    case "/sound.ogg": .opus
    case "/sound.mp3": .mp3
    default: nil
    }
  }

  func respond(to request: HTTPRequest, format: SoundFormat, token: TokenRecord) throws(Problem) -> HTTPResponse {
    guard token.allow.contains(.listen) else { throw Problem(403, "this token does not allow listen") }
    switch viewers.audio.microphone {
    case .off: throw Problem(503, "the baby unit has no microphone")
    case .missing(let error): throw Problem(503, "the microphone is missing: \(error.plain)", retryAfter: .seconds(5))
    case .opening, .running: break
    }
    let outlet = SoundListener(format, maximumWaitingBytes: Self.maximumWaitingBytes, title: viewers.settings.childName)
    if request.method != .HEAD {
      let session: ViewerSession
      do throws(ViewerAdmission.Refusal) {
        session = try viewers.admit(outlet, token: token, hasSound: true)
      } catch {
        throw Problem(error)
      }
      outlet.stream.ended = { [weak viewers] in viewers?.outletEnded(session) }
    }
    return HTTPResponse(
      stream: outlet.stream,
      headers: [
        "Content-Type": format == .opus ? "audio/ogg; codecs=opus" : "audio/mpeg", "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff", "Accept-Ranges": "none",
      ])
  }

  private func endSilent() {
    let now = MonotonicClock.now
    for session in viewers.registry.all {
      guard let outlet = session.outlet as? SoundListener, now - outlet.lastSound > Self.silenceLimit else { continue }
      viewers.end(session, because: .goingAway)
    }
  }
}

extension Problem {
  /// Why a credential's session is not admitted.
  init(_ refusal: ViewerAdmission.Refusal) {
    switch refusal {
    case .tooManySessions(let maximum):
      self.init(
        429, "\(maximum) sessions are open with this token, as many as one may have; close one",
        retryAfter: .seconds(5))
    case .tooOften(let wait):
      self.init(429, "this token starts sessions too often; keep one open, or try again later", retryAfter: wait)
    case .full:
      self.init(503, "all viewer slots are in use", retryAfter: .seconds(5))
    }
  }
}
