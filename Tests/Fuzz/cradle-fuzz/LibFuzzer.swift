import CLibFuzzer
import FuzzBodies

/// LLVM's coverage-guided fuzzer.
enum LibFuzzer {
  /// Set once, before the fuzzer calls back without a context of ours.
  nonisolated(unsafe) private static var body: (any FuzzBody.Type)?

  /// Runs with the program's own arguments, and with the exit status that says what was found.
  static func run(_ body: any FuzzBody.Type) -> Int32 {
    guard hasLibFuzzer() else {
      print("This program was built without libFuzzer; `make fuzz` builds it with.")
      return 64
    }
    self.body = body
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    return LLVMFuzzerRunDriver(&count, &arguments) { data, count in
      LibFuzzer.body?.run([UInt8](UnsafeBufferPointer(start: data, count: count)))
      return 0
    }
  }
}
