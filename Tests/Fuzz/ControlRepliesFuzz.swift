import Control
import Messages

/// What a child says on the `control` channel, on its way to a parent's terminal.
enum ControlRepliesFuzz: FuzzBody {
  static let name = "control replies"

  /// Each reply names its command as what it replies to.
  static let seeds: [[UInt8]] = [
    #"{"id":"c1","text":"ok","inReplyTo":"ping","parameters":{"time":1.5}}"#,
    #"{"text":"ok","inReplyTo":"light.set","#
      + #""parameters":{"light":{"id":"a","state":"on","brightness":5,"dimmable":true}}}"#,
    #"{"text":"ok","inReplyTo":"lullaby.list","parameters":{"tracks":[{"id":"a","title":"A","seconds":90.5}]}}"#,
    #"{"text":"ok","inReplyTo":"lullaby.stop","parameters":{"lullaby":{"state":"stopped","volume":40,"loop":false}}}"#,
    #"{"text":"ok","inReplyTo":"screenshot.take","#
      + #""parameters":{"transfer":1,"size":9,"type":"image/jpeg","width":2,"height":2}}"#,
    #"{"text":"ok","inReplyTo":"camera.list","#
      + #""parameters":{"cameras":[{"id":"a","name":"B","active":true,"state":"off"}]}}"#,
    #"{"text":"ok","inReplyTo":"events.get","#
      + #""parameters":{"events":[{"sequence":7,"kind":"light","time":1.5,"id":"a"}]}}"#,
    #"{"text":"ok","inReplyTo":"pair.remove","parameters":{}}"#,
    #"{"text":"ok","inReplyTo":"status.get","parameters":{"name":"N","id":"0","version":"1","time":1,"#
      + #""uptimeSeconds":2,"alarms":["x"],"talk":{"holder":"P"}}}"#,
    #"{"text":"error","inReplyTo":"7","parameters":{"code":"busy","message":"\u001b[1m\u0085"}}"#,
    #"{"text":"hello","parameters":{"name":"N","id":"0","version":"1","capabilities":[],"permissions":[],"viewer":"1","#
      + #""state":{"viewers":[{"id":"1","name":"P","permissions":["view"],"since":1}]}}}"#,
    #"{"text":"heartbeat","parameters":{"time":1,"uptimeSeconds":2,"audio":{"state":"running","captured":1,"#
      + #""encoded":1,"sent":1,"levelDb":-20.5}}}"#,
    #"{"text":"level","parameters":{"levelDb":-20,"time":1}}"#,
    #"{"text":"goodbye","parameters":{"reason":"\ud83d\ude34"}}"#,
    #"{"text":"event","parameters":{"sequence":1,"kind":"light","time":1}}"#, #"{"text":"cry"}"#, "{}",
  ].map { Array($0.utf8) }

  static func run(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    guard let message = try? ControlMessage(json: text, expecting: ControlCommands.named) else { return }
    precondition(text.utf8.count <= ControlLimits.messageBytes, "what is too large is refused")
    let written = message.json
    precondition(written.utf8.count <= ControlLimits.messageBytes, "a message has a largest size")
    precondition(
      !written.unicodeScalars.contains { $0.properties.generalCategory == .control }, "a message is printable")
    let again = try? ControlMessage(json: written, expecting: ControlCommands.named)
    precondition(again != nil, "a message that was read can be written")
    // Near the largest size escapes and whole members may make it longer, and a list is cut.
    precondition(again == message || text.utf8.count > 4096, "and says the same")
  }
}
