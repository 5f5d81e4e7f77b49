/// What a behaviour took, for `swift test` to show: run with CRADLE_MEASURED=1 in the environment.
import Glibc

enum Measured {
  static func note(_ text: @autoclosure () -> String) {
    guard getenv("CRADLE_MEASURED") != nil else { return }
    print("measured:", text())
  }
}
