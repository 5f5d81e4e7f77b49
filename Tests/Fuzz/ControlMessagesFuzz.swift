import Child

/// What a viewer says on the `control` channel, and what is answered.
enum ControlMessagesFuzz: FuzzBody {
  static let name = "control messages"

  static let seeds: [[UInt8]] = [
    #"{"id":"1","text":"status"}"#, #"{"text":"unmute","parameters":{"a":[1,-2.5e3,true,null,{"b":"c"}]}}"#,
    #" { "id" : "\u00e4\ud83d\ude00\n" , "text" : "say \"x\" \/" } "#, #"{"id":null,"text":""}"#, "[]", "\"status\"",
  ].map { Array($0.utf8) }

  static func run(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    guard let command = ControlMessages.parse(text) else { return }
    precondition(text.utf8.count <= ControlMessages.mostBytes, "what is too large is refused")
    let answer = ControlMessages.encodeError(id: "7", inReplyTo: command.id, .unknownCommand, command.text)
    let read = ControlMessages.parse(answer)
    // Escapes make text up to six times as long.
    precondition(
      read?.text == "error" || answer.utf8.count > ControlMessages.mostBytes,
      "an answer is a message, whatever it cites")
  }
}
