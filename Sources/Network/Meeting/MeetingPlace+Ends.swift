public import Control
public import NIOCore
internal import Signaling
internal import Wire

extension MeetingPlace {
  /// From what a child has sent; nil for a place of a later version, or one that cannot be read.
  public init?(_ document: MeetingDocument) {
    switch (document.kind, document.url) {
    case ("rendezvous", let url?):
      let place = RendezvousPlace(url: url, keySHA256: document.keySHA256.flatMap { [UInt8](hexadecimal: $0) })
      guard place.serverName != nil else { return nil }
      self = .rendezvous(place)
    case ("mqtt", let url?):
      let place = MQTTPlace(
        url: url, username: document.username, password: document.password,
        topic: document.topic ?? MeetingTopics.usualPrefix)
      guard place.isUsable else { return nil }
      self = .mqtt(place)
    case ("xmpp", _):
      guard let account = document.username.flatMap({ AccountAddress($0) }), let password = document.password,
        let child = document.child.flatMap({ AccountAddress($0) })
      else { return nil }
      var place = XMPPPlace(account: account, password: password, child: child, host: document.host)
      if let port = document.port {
        guard let number = UInt16(exactly: port) else { return nil }
        place.port = number
      }
      guard place.isUsable else { return nil }
      self = .xmpp(place)
    default:
      return nil
    }
  }

  /// As sent to parents.
  public var document: MeetingDocument {
    switch self {
    case .rendezvous(let place):
      return MeetingDocument(kind: "rendezvous", url: place.url, keySHA256: place.keySHA256.map { $0.hexadecimal() })
    case .mqtt(let place):
      var document = MeetingDocument(kind: "mqtt", url: place.url)
      document.username = place.username
      document.password = place.password
      document.topic = place.topic
      return document
    case .xmpp(let place):
      var document = MeetingDocument(kind: "xmpp")
      document.username = "\(place.account)"
      document.password = place.password
      document.child = "\(place.child)"
      document.host = place.host
      document.port = place.port.map(Int.init)
      return document
    }
  }

  /// The child's end.
  ///
  /// - Parameters:
  ///   - child: the child's id.
  ///   - program: serves the connection, where a library in C reads it.
  ///   - prove: signs the proof that the child is the host of its room, for a server's name and challenge.
  public func host(
    child: String, program: MeetingProgram = .own, eventLoop: any EventLoop,
    prove: @escaping (_ server: String, _ challenge: String) -> String
  ) -> MeetingHost {
    switch self {
    case .rendezvous(let place):
      MeetingHost(
        RendezvousHost(place, child: child, eventLoop: eventLoop, prove: prove), .rendezvous, eventLoop: eventLoop)
    case .mqtt(let place):
      MeetingHost(MQTTHost(place, child: child, program: program, eventLoop: eventLoop), .mqtt, eventLoop: eventLoop)
    case .xmpp(let place):
      MeetingHost(XMPPHost(place, child: child, program: program, eventLoop: eventLoop), .xmpp, eventLoop: eventLoop)
    }
  }

  /// A parent's end, for one session.
  ///
  /// - Parameters:
  ///   - child: the child's id.
  ///   - client: the name of the session's room client.
  ///   - program: serves the connection, where a library in C reads it.
  public func link(
    child: String, client: String, program: MeetingProgram = .own, eventLoop: any EventLoop
  ) -> MeetingLink {
    let (transport, timing): (any MeetingLinkTransport, MeetingLinkMachine.Timing) =
      switch self {
      case .rendezvous(let place):
        (RendezvousLink(place, child: child, client: client, eventLoop: eventLoop), .rendezvous)
      case .mqtt(let place):
        (MQTTLink(place, child: child, client: client, program: program, eventLoop: eventLoop), .mqtt)
      case .xmpp(let place):
        (XMPPLink(place, child: child, client: client, program: program, eventLoop: eventLoop), .xmpp)
      }
    let machine = MeetingLinkMachine(
      timing, child: child, client: client, random: SystemRandomNumberGenerator())
    return MeetingLink(transport, at: self, machine, eventLoop: eventLoop)
  }
}

extension MeetingPlace: CustomStringConvertible {
  /// For logs and people: without credentials.
  public var description: String {
    switch self {
    case .rendezvous(let place): place.url
    case .mqtt(let place): place.url
    case .xmpp(let place): "xmpp:\(place.child)"
    }
  }
}
