internal import Signaling

/// What is sent to a connection's process.
enum MeetingRequest<Order: Codable>: Codable {
  case order(Order)
  /// Does this, says goodbye, and ends.
  case leave(Order?)
}

/// What is sent to a connection's process first: where to connect, with credentials, which stand in no argument and no variable.
enum MeetingErrand: Codable {
  case mqtt(MQTTSettings)
  case xmpp(XMPPPlace, resource: String)

  /// What answers there is one server, whoever logs in.
  var server: String {
    switch self {
    case .mqtt(let settings):
      BrokerURL(settings.place.url).map { "mqtt:\($0.host):\($0.port)" } ?? settings.place.url
    case .xmpp(let place, _): "xmpp:\(place.host ?? place.account.server):\(place.port ?? 0)"
    }
  }
}
