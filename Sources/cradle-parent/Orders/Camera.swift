import ArgumentParser
import Control
import Frames
import Glibc
import Linux
import Pairing
import Parent
import Storage

/// `cradle-parent camera`
struct Camera: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the baby unit's cameras, switches between them, names and pauses them.",
    subcommands: [List.self, Switch.self, Name.self, Pause.self, Resume.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists the cameras.")

    @OptionGroup var child: ChildOptions
    @Flag(help: "Print one JSON object {cameras: [...]}.")
    var json = false

    func run() async throws { try await child.show(CameraList(), json) }
  }

  struct Switch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Chooses the camera that everybody sees.")

    @Argument(help: "Which, as `camera list` names it. (default: the next one)")
    var id: String?
    @OptionGroup var child: ChildOptions
    @Flag(help: "Print one JSON object {cameras: [...]}.")
    var json = false

    func run() async throws { try await child.show(CameraSwitch(id: id), json) }
  }

  struct Name: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Gives a camera the name that viewers see.", discussion: "Needs the permission admin.")

    @Argument(help: "Which, as `camera list` names it.")
    var id: String
    @Argument(help: "The name, such as \"Cot\". (default: its id again)")
    var title: String?
    @OptionGroup var child: ChildOptions
    @Flag(help: "Print one JSON object {cameras: [...]}.")
    var json = false

    func validate() throws {
      if let title, !ControlLimits.titleBytes.contains(title.utf8.count) {
        throw ValidationError("A name has 1 to 64 bytes.")
      }
    }

    func run() async throws { try await child.show(CameraName(id: id, title: title), json) }
  }

  struct Pause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Switches the picture off for everybody; the sound goes on.",
      discussion: "All cameras of the baby unit are closed until `camera resume`, also after it was restarted.")

    @OptionGroup var child: ChildOptions
    @Flag(help: "Print one JSON object {cameras: [...]}.")
    var json = false

    func run() async throws { try await child.show(CameraPause(), json) }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Switches the picture on again.")

    @OptionGroup var child: ChildOptions
    @Flag(help: "Print one JSON object {cameras: [...]}.")
    var json = false

    func run() async throws { try await child.show(CameraResume(), json) }
  }
}

/// `cradle-parent screenshot`
struct Screenshot: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Saves a photo at the camera's own resolution.")

  @Option(
    name: .shortAndLong, help: "The JPEG file, a FIFO, or - for standard output. (default: CHILD-DATE-TIME.jpg)",
    completion: .file(extensions: ["jpg"]))
  var output: String?
  @Option(help: "Which camera. (default: the one that is streamed)")
  var camera: String?
  @Option(help: "1 to 100. (default: 85)")
  var quality: Int?
  @OptionGroup var child: ChildOptions
  @Flag(help: "Print one JSON object {file, size, width, height}.")
  var json = false

  private struct Report: Encodable {
    var file: String
    var size: Int
    var width: Int
    var height: Int
  }

  func validate() throws {
    try Bounds.check(quality, ControlLimits.quality, "--quality")
    if json { try OutputOption.refuse(output, "--output", beside: "--json") }
  }

  func run() async throws {
    try await child.command { session in
      let picture = try await withProgress("Taking the picture") {
        try await session.fetch(ScreenshotTake(camera: camera, quality: quality))
      }
      let output = OutputPath(output ?? Self.fileName(session.child.record.name))
      try output.write(picture.bytes)
      let (width, height) = (picture.document.width, picture.document.height)
      output.report(
        json
          ? JSONLine.text(Report(file: output.path, size: picture.bytes.count, width: width, height: height))
          : "Saved \(output.path) (\(width)x\(height), \(picture.bytes.count >> 10) KiB).")
    }
  }

  /// `Nursery-20261121-205207.jpg`; other characters are replaced, so that a name cannot lead out of this directory.
  static func fileName(_ name: String) -> String {
    let time = LocalTime.compact(unixSeconds: MonotonicClock.unixTime)
    return "\(plain(name))-\(time).jpg"
  }

  static func plain(_ name: String) -> String { String(name.map { $0.isLetter || $0.isNumber ? $0 : "-" }) }
}
