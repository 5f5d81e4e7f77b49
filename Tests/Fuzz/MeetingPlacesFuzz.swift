import Control
import JSON
import Meeting
import Storage
import TURN
import Wire

/// How a child says that it is reached from elsewhere: meeting places in JSON, as they come in `hello`, and the file in which a
/// parent keeps them (`away.json`). An input is either: both are tried.
enum MeetingPlacesFuzz: FuzzBody {
  static let name = "meeting places"

  private static let child = "0123456789abcdef"

  static let seeds: [[UInt8]] = [
    #"{"iceServers":[{"urls":["turn:turn.example.org?transport=tcp"],"username":"u","credential":"c"}],"meetings":["#
      + #"{"kind":"rendezvous","url":"wss://meet.example.org:8443/signal","keySHA256":"00ff"}]}"#,
    #"{"iceServers":[],"meetings":[{"kind":"mqtt","url":"mqtts://broker.example.org","username":"u","password":"p","#
      + #""topic":"house/cradle"},{"kind":"mqtt","url":"mqtt://[2001:db8::1]:1884"}]}"#,
    #"{"iceServers":[],"meetings":[{"kind":"xmpp","username":"parents@xmpp.example.org","password":"p","#
      + #""child":"child@xmpp.example.org","host":"192.0.2.1","port":5222}]}"#,
    #"{"version":1,"children":[{"child":"0123456789abcdef","iceServers":[{"urls":["stun:stun.example.org"]}],"#
      + #""addresses":["house.example.org:8443"],"meetings":[{"kind":"rendezvous","url":"wss://meet.example.org"}],"#
      + #""metFrom":"192.0.2.7"}]}"#,
  ].map { Array($0.utf8) }

  private static let file = FuzzFile()

  private static func check(_ documents: [MeetingDocument], _ servers: [[String]]) {
    for document in documents {
      guard let place = MeetingPlace(document) else { continue }
      precondition(MeetingPlace(place.document) == place, "what was told reads back the same")
    }
    for urls in servers { for url in urls { _ = ICEServerURL(url) } }
  }

  static func run(_ input: [UInt8]) {
    if let away = try? JSON(input, maximumBytes: 64 * 1024).decode(AwayDocument.self) {
      check(away.meetings ?? [], away.iceServers.map(\.urls))
    }
    file.replace(with: input)
    guard let store = try? AwayStore(file: AtomicFile(path: file.path)) else { return }
    check(store.meetings(of: child), store.servers(of: child).map(\.urls))
    _ = store.metFrom(of: child).flatMap { IPAddress($0) }
    precondition(store.addresses(of: "another").isEmpty, "nobody else's is shown")
  }
}
