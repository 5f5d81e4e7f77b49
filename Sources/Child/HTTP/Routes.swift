internal import Frames
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import PeerConnection
internal import SDP
internal import Server
internal import Signaling
internal import Storage
internal import TURN
internal import Wire

/// Answers HTTPS requests. Only `GET /`, `GET /healthz` and, while the window is open, pairing need no authentication.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class Routes: @unchecked Sendable {
  private let loop: any EventLoop
  private let viewers: Viewers
  private let tokens: TokenBook
  private let pairing: PairingService
  private let report: StatusReporter
  private let certificate: ServerCertificate
  private let refused: RefusedPlayers
  private let logger: Logger
  private var whep: WHEPEndpoint
  private let unsent: UnsentAnswers
  private let stills: StillRoute
  private let sounds: SoundRoutes
  private var wrongTokens = WrongTokenLimiter()

  init(
    loop: any EventLoop, viewers: Viewers, tokens: TokenBook, pairing: PairingService,
    configuration: ChildConfiguration, report: StatusReporter, certificate: ServerCertificate,
    refused: RefusedPlayers, logger: Logger
  ) {
    self.refused = refused
    self.certificate = certificate
    self.loop = loop
    self.viewers = viewers
    self.tokens = tokens
    self.pairing = pairing
    self.report = report
    self.logger = logger
    unsent = UnsentAnswers(on: loop)
    stills = StillRoute(loop: loop, viewers: viewers)
    sounds = SoundRoutes(viewers: viewers)
    whep = WHEPEndpoint(
      configuration: WHEPConfiguration(
        maximumSessions: ViewerAdmission.places),
      random: SystemRandomNumberGenerator())
    viewers.registry.observe { [weak self] event in
      self?.unsent.observe(event)
      if case .ended(let session) = event { self?.ended(session) }
    }
  }

  func respond(to request: HTTPRequest) -> EventLoopFuture<HTTPResponse> {
    loop.preconditionInEventLoop()
    if whep.serves(path: request.path) {
      let standing = standing(of: request)
      let promise = loop.makePromise(of: HTTPResponse.self)
      answerWHEP(request) { [weak self] response in
        if let problem = response.problem { self?.recordRefusal(of: request, problem) }
        var response = HTTPResponse(response)
        response.standing = standing
        promise.succeed(response)
      }
      return promise.futureResult
    }
    if request.path == "/pair" { return pairing.respond(to: request) }
    if request.path == StillRoute.path || SoundRoutes.format(ofPath: request.path) != nil {
      return answerMedia(request)
    }
    var response = answer(request)
    if let standing = standing(of: request) { response.standing = standing }
    return loop.makeSucceededFuture(response)
  }

  private func answer(_ request: HTTPRequest) -> HTTPResponse {
    if let page = PageRoutes.response(to: request, root: certificate.root) { return page }
    let isRead = request.method == .GET || request.method == .HEAD
    switch request.path {
    case "/healthz" where isRead:
      return HTTPResponse(contentType: "text/plain; charset=utf-8", text: "ok\n")
    case "/metrics" where isRead:
      if !request.isLocal, let refusal = refusal(of: request) { return refusal }
      return HTTPResponse(
        contentType: "text/plain; version=0.0.4; charset=utf-8", text: MetricsText.make(report.report()))
    case "/healthz", "/metrics":
      return Self.notAllowed(request.method)
    default:
      return refusal(of: request) ?? HTTPResponse(Problem(404, "there is nothing at this path"))
    }
  }

  private static func notAllowed(_ method: HTTPMethod) -> HTTPResponse {
    var response = HTTPResponse(Problem(405, "\(method.rawValue) means nothing here; allowed are GET, HEAD"))
    response.headers.add(name: "Allow", value: "GET, HEAD")
    return response
  }

  // MARK: Stills and sound

  private func answerMedia(_ request: HTTPRequest) -> EventLoopFuture<HTTPResponse> {
    if var refusal = refusal(of: request) {
      // Players of HTTP that know no tokens send a user and a password, once they are asked for them.
      if refusal.status == .unauthorized {
        refusal.headers.add(name: "WWW-Authenticate", value: #"Basic realm="cradle""#)
      }
      return loop.makeSucceededFuture(refusal)
    }
    guard request.method == .GET || request.method == .HEAD else {
      return loop.makeSucceededFuture(Self.notAllowed(request.method))
    }
    let standing = standing(of: request)
    let answer: EventLoopFuture<HTTPResponse>
    do throws(Problem) {
      // Without one it was refused above.
      guard case .some(.some(let record)) = token(of: request) else { throw Problem(401, "this needs a token") }
      if let format = SoundRoutes.format(ofPath: request.path) {
        answer = loop.makeSucceededFuture(try sounds.respond(to: request, format: format, token: record))
      } else {
        answer = try stills.respond(to: request, token: record)
      }
    } catch {
      answer = loop.makeFailedFuture(error)
    }
    return answer.flatMapErrorThrowing { [self] error in
      guard let problem = error as? Problem else { throw error }
      recordRefusal(of: request, problem)
      return HTTPResponse(problem)
    }.map { response in
      var response = response
      response.standing = standing
      return response
    }
  }

  // MARK: Authentication

  private func token(of request: HTTPRequest) -> TokenRecord?? {
    guard let value = request.headers.first(name: "Authorization") else { return .none }
    return .some(AccessToken.read(fromAuthorization: value).flatMap { tokens.verify($0) })
  }

  /// What a valid token makes of the connection.
  private func standing(of request: HTTPRequest) -> ConnectionStanding? {
    guard case .some(.some(let record)) = token(of: request) else { return nil }
    return viewers.credentials.connection(of: .token(id: record.id)).map { .holder($0) }
  }

  private func authorization(of request: HTTPRequest, _ record: TokenRecord??) -> Authorization {
    let authorization: Authorization =
      switch record {
      case .some(.some(let record)): .granted(record.allow)
      case .some(nil): .invalid
      case nil: .none
      }
    return wrongTokens.count(authorization, of: client(of: request), now: MonotonicClock.now)
  }

  private func client(of request: HTTPRequest) -> String { request.remoteAddress.map { "\($0.ip)" } ?? "" }

  private func refusal(of request: HTTPRequest) -> HTTPResponse? {
    guard let problem = Problem(refusing: authorization(of: request, token(of: request))) else { return nil }
    // Without any token it is no player, but somebody who looks around.
    if request.headers.contains(name: "Authorization") { recordRefusal(of: request, problem) }
    return HTTPResponse(problem)
  }

  private func recordRefusal(of request: HTTPRequest, _ problem: Problem) {
    // A session that is over is no news to its player.
    if [.PATCH, .DELETE].contains(request.method), ![401, 429].contains(problem.status) { return }
    var refusal = RefusedPlayers.Refusal(
      address: client(of: request), status: problem.status, reason: problem.detail)
    switch token(of: request) {
    case .some(.some(let record)): refusal.token = record.name
    case nil: refusal.reason = "it sends no token"
    case .some(nil):
      let text = request.headers.first(name: "Authorization").flatMap { AccessToken.read(fromAuthorization: $0) }
      let unusable = text.flatMap { tokens.unusable($0) }
      refusal.token = unusable?.name
      if problem.status == 401 {
        refusal.reason = unusable?.reason ?? (text == nil ? "its Authorization has no token" : "its token is unknown")
      }
    }
    refused.record(refusal)
  }

  // MARK: WHEP

  /// Calls `respond` once: at once, or when a new session's candidates are there.
  private func answerWHEP(_ request: HTTPRequest, respond: @escaping (WHEPResponse) -> Void) {
    let record = token(of: request)
    let authorization = authorization(of: request, record)
    var headers = HTTPFields()
    for (name, value) in request.headers { headers.add(name, value) }
    let whepRequest = WHEPRequest(
      method: request.method.rawValue, path: request.path, query: request.query ?? "", headers: headers,
      body: request.body, client: client(of: request), credential: record.flatMap { $0?.id } ?? "")
    switch whep.handle(whepRequest, authorization: authorization, now: MonotonicClock.now) {
    case .respond(let response):
      respond(response)
    case .createSession(let creation):
      let token = record.flatMap { $0 }
      let reach = NetworkReach(local: request.localAddress?.ip, remote: request.remoteAddress?.ip)
      let complete = { [weak self] (result: Result<SessionDescription, Problem>) in
        guard let self else { return }
        let timeLeft = token.map { self.viewers.credentials.timeLeft(of: .token(id: $0.id)) } ?? .zero
        whep.iceServers = viewers.servers.servers(for: token?.id ?? "viewer", timeLeft: timeLeft).map(\.document)
        respond(whep.completeCreate(creation.session, result))
      }
      switch create(creation, token: token, isFromLoopback: request.isFromLoopback, reach: reach) {
      case .success(let answer) where !answer.isComplete: unsent.hold(answer, of: creation.session, send: complete)
      case let result: complete(result)
      }
    case .addCandidates(let session, let fragment, let response):
      if let open = viewers.registry.session(whep: session) {
        viewers.hub.with(open.peer) { connection, now in
          for candidate in fragment.candidates { connection.addRemoteCandidate(candidate, now: now) }
          if fragment.isComplete { connection.addRemoteCandidate("", now: now) }
        }
      }
      respond(response)
    case .restart(let session, let ufrag, let pwd, let fragment):
      respond(whep.completeRestart(session, restart(session, ufrag: ufrag, pwd: pwd, fragment)))
    case .endSession(let session, let response):
      if let open = viewers.registry.session(whep: session) { viewers.end(open, because: .left) }
      respond(response)
    }
  }

  private func create(
    _ creation: WHEPCreation, token: TokenRecord?, isFromLoopback: Bool, reach: NetworkReach
  ) -> Result<SessionDescription, Problem> {
    let camera: Int?
    do throws(Problem) {
      camera = try creation.cameraID.map { id throws(Problem) in try viewers.camera(named: id) }
    } catch {
      return .failure(error)
    }
    // The endpoint never creates a session without a token.
    guard let token else { return .failure(Problem(401, "this needs a token")) }
    do throws(ViewerRefusal) {
      return .success(
        try viewers.admit(
          creation.offer, origin: .whep(creation.session, token: token.id), name: token.name,
          permissions: creation.permissions, camera: camera, includingLoopback: isFromLoopback,
          reach: reach))
    } catch {
      switch error {
      case .admission(let refusal):
        return .failure(Problem(refusal))
      case .connection(.negotiation(let reason)):
        return .failure(Problem(negotiation: reason))
      case .connection(let reason):
        logger.error("a viewer could not be taken", metadata: ["reason": "\(reason)"])
        return .failure(Problem(500, "the child could not set up the connection; its log says why"))
      }
    }
  }

  private func restart(
    _ session: WHEPSessionID, ufrag: String, pwd: String, _ fragment: TrickleFragment
  ) -> Result<WHEPRestartedICE, Problem> {
    guard let open = viewers.registry.session(whep: session) else {
      return .failure(Problem(404, "no such session; it may have ended"))
    }
    guard let ours = viewers.restartICE(of: open, ufrag: ufrag, pwd: pwd, candidates: fragment.candidates) else {
      return .failure(Problem(409, "this session cannot restart"))
    }
    return .success(WHEPRestartedICE(ufrag: ours.ufrag, pwd: ours.pwd, candidates: ours.candidates))
  }

  private func ended(_ session: ViewerSession) {
    if case .whep(let id, _) = session.origin { whep.sessionEnded(id) }
  }
}

extension SessionDescription {
  /// No candidates of ours follow.
  fileprivate var isComplete: Bool { media.contains(where: \.endOfCandidates) }
}
