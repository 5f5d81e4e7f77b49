import ArgumentParser
import Commands
import Control
import Frames
import Glibc
import NightReport
import Parent
import Storage

/// `cradle-parent report`
struct Report: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Night report: who listened and when nobody did, noise, alarms, sound checks.",
    discussion: """
      A minute counts as heard when a viewer's receiver has reported fresh sound in it. Without --night it is the night \
      that is under way, else the last one.
      """)

  @Option(help: "The day on whose evening the night begins, such as 2026-11-21.")
  var night: String?
  @Option(help: "When the night begins, by the clock here.")
  var from = ClockTime(minutes: NightHours.usual.from)
  @Option(help: "When it ends.")
  var to = ClockTime(minutes: NightHours.usual.to)
  @Option(
    help: ArgumentHelp(
      "Minutes that are louder count as noise, dB relative to full scale. (default: -45)", valueName: "dB"))
  var noise: Double?
  @Option(
    help: "Draw it into a PNG picture, too: a file, a FIFO, or - for standard output.",
    completion: .file(extensions: ["png"]))
  var png: String?
  @OptionGroup var child: ChildOptions
  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    if let night, CalendarDay(night) == nil {
      throw ValidationError("--night is a day, such as 2026-11-21.")
    }
    if let night, choice.time.lowerBound > MonotonicClock.unixSeconds {
      throw ValidationError("--night \(night): that night has not begun yet.")
    }
    if let noise, !ControlLimits.noiseDb.contains(noise) { throw ValidationError("--noise is -100 to 0 dB.") }
    if json { try OutputOption.refuse(png, "--png", beside: "--json") }
    if from == to { throw ValidationError("--from and --to are different times.") }
  }

  private var choice: NightChoice {
    NightChoice(day: night.flatMap { CalendarDay($0) }, hours: NightHours(from: from.minutes, to: to.minutes))
  }

  func run() async throws {
    let choice = choice
    let wanted = ReportGet(
      from: Double(choice.time.lowerBound), to: Double(choice.time.upperBound), noiseDb: noise)
    let report = try await child.command { try await $0.perform(wanted) }
    let text = json ? report.json : Table.text(report.rows, headed: false)
    guard let output = png.map({ OutputPath($0) }) else { return print(text) }
    try await failing { try output.write(ReportPicture.png(report), mode: 0o644) }
    output.report(text)
  }
}

/// A time of day: `18:00`.
struct ClockTime: Hashable, LosslessStringConvertible, ExpressibleByArgument {
  /// After midnight.
  let minutes: Int

  init(minutes: Int) {
    self.minutes = minutes
  }

  init?(_ text: String) {
    guard let minutes = TimeOfDay.minutes(text) else { return nil }
    self.minutes = minutes
  }

  var description: String {
    let minute = minutes % 60
    return "\(minutes / 60):\(minute < 10 ? "0" : "")\(minute)"
  }
}
