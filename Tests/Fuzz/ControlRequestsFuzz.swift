import Control
import Messages

/// What a parent says on the `control` channel, and what it is answered.
enum ControlRequestsFuzz: FuzzBody {
  static let name = "control requests"

  static let seeds: [[UInt8]] = [
    #"{"id":"7","text":"light.set","parameters":{"state":"on","id":"ir","brightness":50,"seconds":600}}"#,
    #"{"id":"8","text":"light.flash","parameters":{"times":3,"milliseconds":500}}"#,
    #"{"text":"lullaby.play","parameters":{"track":"a","volume":1e1,"seconds":0,"loop":true,"fadeSeconds":30}}"#,
    #"{"text":"lullaby.volume","parameters":{"volume":30}}"#, #"{"id":"","text":"camera.switch"}"#,
    #"{"text":"screenshot.take","parameters":{"camera":"cot","quality":85}}"#,
    #"{"text":"talk.acquire","parameters":{"force":false}}"#, #" { "id" : "\u00e4\ud83d\ude00\n" , "text" : "ping" } "#,
    #"{"text":"events.get","parameters":{"since":9007199254740992,"limit":200}}"#,
    #"{"text":"pair.remove","parameters":{"id":"00"}}"#,
    #"{"text":"invite.create","parameters":{"name":"Sitter","seconds":3600,"allow":["view","listen"]}}"#,
    #"{"text":"push.subscribe","parameters":{"endpoint":"https://a.b/c","p256dh":"BA","auth":"AA","kinds":["stuck"]}}"#,
    #"{"id":"9","text":"push.test"}"#, #"{"text":"dance","parameters":{"a":[1,-2.5e3,true,null,{"b":"c"}]}}"#, "[]",
    "\"ping\"",
  ].map { Array($0.utf8) }

  static func run(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    do throws(RefusedRequest) {
      let request = try ControlRequest(json: text)
      precondition(text.utf8.count <= ControlLimits.messageBytes, "what is too large is refused")
      precondition((try? ControlRequest(json: request.json)) == request, "a command that was read can be written")
    } catch {
      let answer = ControlMessage(id: "c1", content: .refusal(to: error.id, error.error)).json
      precondition(answer.utf8.count <= ControlLimits.messageBytes, "an answer is a message, whatever it cites")
      let read = try? ControlMessage(json: answer) { _ in nil }
      guard case .refusal(_, let told)? = read?.content else { preconditionFailure("an answer can be read") }
      precondition(told.code == error.error.code, "an answer says why")
    }
  }
}
