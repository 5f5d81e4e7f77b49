public import Control

extension ControlReply {
  /// For programs: the parameters that the child sent, on one line; one line for each event.
  public var json: String {
    switch self {
    case .time(let time): JSONLine.text(["time": time])
    case .status(let status): JSONLine.text(status)
    case .light(let light): JSONLine.text(["light": light])
    case .tracks(let tracks): JSONLine.text(["tracks": tracks])
    case .lullaby(let lullaby): JSONLine.text(["lullaby": lullaby])
    case .cameras(let cameras): JSONLine.text(["cameras": cameras])
    case .transfer(let transfer): JSONLine.text(transfer)
    case .talk(let talk): JSONLine.text(["talk": talk])
    case .events(let events): events.map(JSONLine.text).joined(separator: "\n")
    case .report(let report): JSONLine.text(["report": report])
    case .hearing(let hearing): JSONLine.text(["hearing": hearing])
    case .drill(let drill): JSONLine.text(["drill": drill])
    case .pairing(let pairing): JSONLine.text(["pairing": pairing])
    case .pairs(let pairs): JSONLine.text(["pairs": pairs])
    case .invite(let invite): JSONLine.text(["invite": invite])
    case .recordings(let recordings): JSONLine.text(["recordings": recordings])
    case .pushKey(let key): JSONLine.text(key)
    case .pushTest(let test): JSONLine.text(test)
    case .done: "{}"
    }
  }
}
