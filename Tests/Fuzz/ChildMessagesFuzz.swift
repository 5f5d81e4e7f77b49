import Parent

/// What a child says on the `control` channel, on its way to a parent's terminal.
enum ChildMessagesFuzz: FuzzBody {
  static let name = "child messages"

  static let seeds: [[UInt8]] = [
    #"{"id":"1","text":"hello","parameters":{"name":"Nursery \u001b[1m\u0085","version":[1]}}"#,
    #"{"id":"2","text":"goodbye","parameters":{"reason":"\ud83d\ude34 shutting down\n"}}"#,
    #"{"text":"hello","parameters":null}"#, #"{"text":"status"}"#, "{}",
  ].map { Array($0.utf8) }

  static func run(_ input: [UInt8]) {
    switch ChildMessage(String(decoding: input, as: UTF8.self)) {
    case .hello(let text)?, .goodbye(let text)?:
      precondition(text.unicodeScalars.count <= 64, "a name is a part of a line")
      precondition(!text.unicodeScalars.contains { $0.properties.generalCategory == .control }, "a name is printable")
    case nil: break
    }
  }
}
