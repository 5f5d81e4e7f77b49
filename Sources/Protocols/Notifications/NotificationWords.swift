internal import Control

extension Notification {
  /// One sentence for people, without the child's name: "The camera cot is missing: no such device".
  public var sentence: String {
    guard let kind = EventKind(rawValue: kind) else { return with(detail, after: capitalizedKind) }
    let who = name ?? "Somebody"
    return switch kind {
    case .cameraLost: with(detail, after: "The camera\(idWord) is missing")
    case .cameraBack: with(detail, after: "The camera\(idWord) is back")
    case .cameraPaused: "The camera is paused\(byWord)"
    case .cameraResumed: "The camera is on again\(byWord)"
    case .microphoneLost: with(detail, after: "The microphone is missing")
    case .microphoneBack: with(detail, after: "The microphone is back")
    case .speakerLost: with(detail, after: "The speaker is missing")
    case .speakerBack: with(detail, after: "The speaker is back")
    case .viewerJoined: "\(who) is watching"
    case .viewerLeft: "\(who) has stopped watching"
    case .restart: "The child has started"
    case .night: detail == "off" ? "It is day for the camera\(idWord)" : "It is night for the camera\(idWord)"
    case .paired: with(detail, after: "A parent was paired")
    case .unpaired: with(detail, after: "A parent was unpaired")
    case .scheduleFailed: with(detail, after: "Something of the schedule was not done")
    default:
      // What a later version adds needs no words here to be understood.
      with(detail, after: name.map { "\(capitalizedKind)\(idWord) (\($0))" } ?? "\(capitalizedKind)\(idWord)")
    }
  }

  private var idWord: String { id.map { " \($0)" } ?? "" }

  private var byWord: String { name.map { ", by \($0)" } ?? "" }

  private var capitalizedKind: String {
    let words = String(kind.map { $0 == "-" ? " " : $0 })
    return words.prefix(1).uppercased() + words.dropFirst()
  }

  private func with(_ detail: String?, after text: String) -> String {
    guard let detail, !detail.isEmpty else { return text }
    return "\(text): \(detail)"
  }
}
