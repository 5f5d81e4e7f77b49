import CLibFuzzer
import Foundation
import FuzzBodies

/// Runs one body for long.
///
///     cradle-fuzz list                            the bodies' names
///     cradle-fuzz seeds BODY FOLDER               writes the body's own valid inputs there
///     cradle-fuzz run BODY COUNT SEED LAST [FOLDER …]
///                                                 COUNT mutated inputs; the file LAST holds the one that is being run
///                                                 and those before it
///     cradle-fuzz try BODY FILE …                 runs these inputs, one after the other
///     FUZZ_BODY=BODY cradle-fuzz [OPTION …]       libFuzzer with its options, where it was linked
@main
enum CradleFuzz {
  static func main() {
    do {
      try run()
    } catch {
      print("\(error)")
      exit(64)
    }
  }

  private static func run() throws {
    if let name = ProcessInfo.processInfo.environment["FUZZ_BODY"] {
      exit(LibFuzzer.run(try body(name)))
    }
    var arguments = CommandLine.arguments.dropFirst()
    InputRow.length = LastInputs.places
    switch arguments.popFirst() {
    case "list":
      for body in FuzzBodies.all { print(body.slug) }
    case "seeds" where arguments.count == 2:
      let body = try body(arguments.removeFirst())
      let folder = URL(filePath: arguments.removeFirst())
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for (index, seed) in body.seeds.enumerated() { try Data(seed).write(to: folder.appending(path: "seed-\(index)")) }
    case "run" where arguments.count >= 4:
      let body = try body(arguments.removeFirst())
      guard let count = Int(arguments.removeFirst()), let seed = UInt64(arguments.removeFirst()) else {
        throw Misuse(text: "COUNT and SEED are numbers")
      }
      let last = try LastInputs(path: arguments.removeFirst())
      let more = arguments.flatMap { SavedInputs.files(in: URL(filePath: $0)) }.compactMap { try? Data(contentsOf: $0) }
      run(body, more.map { [UInt8]($0) }, count, seed, last)
    case "try" where arguments.count >= 2:
      let body = try body(arguments.removeFirst())
      for path in arguments { body.run([UInt8](try Data(contentsOf: URL(filePath: path)))) }
    default:
      throw Misuse(
        text: "usage: cradle-fuzz list | seeds BODY FOLDER | run BODY COUNT SEED LAST [FOLDER …] | try BODY FILE …")
    }
  }

  private static func body(_ name: String) throws -> any FuzzBody.Type {
    guard let body = FuzzBodies.all.first(where: { $0.slug == name }) else {
      throw Misuse(text: "no body \(name); there are \(FuzzBodies.all.map { $0.slug }.joined(separator: " "))")
    }
    return body
  }

  private static func run<Body: FuzzBody>(
    _ body: Body.Type, _ more: [[UInt8]], _ count: Int, _ seed: UInt64, _ last: LastInputs
  ) {
    var last = last
    let start = ContinuousClock.now
    let seen = Fuzzer.run(body, more: more, iterations: count, seed: seed) { last.keep($0) }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    print("DONE \(seen) \(Int(Double(seen) / seconds))")
  }
}

struct Misuse: Error, CustomStringConvertible {
  var text: String
  var description: String { text }
}
