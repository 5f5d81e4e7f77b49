import Glibc

/// What a behaviour took: `CRADLE_MEASURED=1 swift test --filter Behaviour` shows it.
enum Measured {
  static func note(_ text: @autoclosure () -> String) {
    guard getenv("CRADLE_MEASURED") != nil else { return }
    print("measured:", text())
  }
}
