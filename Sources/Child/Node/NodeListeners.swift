internal import Glibc
internal import NIOCore
internal import SecureTransport
internal import Server
internal import Storage

/// The child's listeners: the UDP port for media, HTTPS with the room, and the command socket.
struct NodeListeners: Sendable {
  let hub: PeerHub
  let http: HTTPServer
  private let rtsp: RTSPService
  private let commands: CommandSocket

  /// Opens all of them, or none.
  ///
  /// - Throws: `NodeError` that names the listener.
  static func open(
    _ configuration: ChildConfiguration, runtimeDirectory: String, tls: TLSContext, hub: PeerHub, rtsp: RTSPService,
    rooms: WebSocketRooms, routes: Routes, admin: AdminCommands, report: StatusReporter
  ) async throws -> NodeListeners {
    let ports = configuration.mediaPorts ?? 0...0
    do {
      try await hub.bind(ports: ports, marking: configuration.marksMedia ? .interactiveVideo : .none)
    } catch {
      throw Self.cannotBind("the UDP ports \(ports.lowerBound) to \(ports.upperBound) (media-ports)", error)
    }
    let http: HTTPServer
    do {
      http = try await HTTPServer.start(
        host: configuration.listen.host, port: Int(configuration.listen.port), tls: tls,
        webSocket: WebSocketEndpoint(path: "/signal") { socket in rooms.accept(socket) },
        proxies: .field(configuration.proxies), on: hub.eventLoop, responder: { request in routes.respond(to: request) }
      )
    } catch {
      await hub.shutDown()
      throw Self.cannotBind("\(configuration.listen) (listen)", error)
    }
    // `status` shows it as soon as the command socket answers.
    report.setPort(http.port)
    do {
      if configuration.rtsp.isEnabled { report.setRTSPPort(try await rtsp.open(configuration.rtsp.listen)) }
    } catch {
      await http.stop()
      await hub.shutDown()
      throw Self.cannotBind("\(configuration.rtsp.listen) (rtsp)", error)
    }
    do {
      try NodeFiles.makeRuntimeDirectory(runtimeDirectory)
      let commands = try await CommandSocket.start(
        path: runtimeDirectory + "/" + AdminProtocol.socketName, on: hub.eventLoop,
        responder: { line in admin.respond(to: line) })
      return NodeListeners(hub: hub, http: http, rtsp: rtsp, commands: commands)
    } catch {
      await rtsp.close()
      await http.stop()
      await hub.shutDown()
      throw NodeError.runtimeDirectory(path: runtimeDirectory, reason: "\(error)")
    }
  }

  /// With the system's words, not those of the call that failed.
  private static func cannotBind(_ what: String, _ error: any Error) -> NodeError {
    let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
    return .cannotBind(what: what, reason: reason)
  }

  /// Says goodbye to the remaining viewers and closes the listeners.
  func close() async {
    await rtsp.close()
    await http.stop()
    await hub.shutDown()
    await commands.stop()
  }
}
