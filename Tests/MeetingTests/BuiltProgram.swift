import Foundation
import Meeting

enum BuiltProgram {
  /// `cradle-child`, beside the test bundle, where SwiftPM puts both.
  static let child = MeetingProgram(
    path: URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "cradle-child").path)
}
