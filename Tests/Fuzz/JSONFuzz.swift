import JSON

/// JSON of peers and of our own files.
enum JSONFuzz: FuzzBody {
  static let name = "JSON"

  static let seeds: [[UInt8]] = [
    #"{"a":[1,-2.5e3,true,false,null,{"b":"c"}],"\u00e4\ud83d\ude00":"\"\\\/\b\f\n\r\t"}"#, "[[[[[[]]]]]]", #""ä""#,
    "-0", "9007199254740993", "1.7976931348623157e308", "5e-324", "0.1", " [ 1 , 2 ] ", #"{"a":1,"a":2}"#, "\"\u{7f}\"",
  ].map { Array($0.utf8) }

  static func run(_ input: [UInt8]) {
    do throws(JSONError) {
      let value = try JSON(input, maximumBytes: 1 << 16)
      for text in [value.text, value.text(pretty: true)] {
        // Written, a control character takes six bytes instead of one.
        precondition((try? JSON(Array(text.utf8), maximumBytes: 1 << 24)) == value, "what was read can be written")
      }
    } catch {
      if case .malformed(let offset) = error { precondition((0...input.count).contains(offset), "an offset is inside") }
    }
  }
}
