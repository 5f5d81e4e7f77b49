/// What a connection's process is told.
enum MeetingRequest<Order: Codable>: Codable {
  case order(Order)
  /// Does this, says goodbye, and ends.
  case leave(Order?)
}

/// What a connection's process is told first: where to connect, with credentials, which stand in no argument and no variable.
enum MeetingErrand: Codable {
  case mqtt(MQTTSettings)
  case xmpp(XMPPPlace, resource: String)
}
