internal import Codecs
public import Control
internal import Frames
internal import Linux
internal import Picture
internal import Wire

/// One night on a time line: who listened, when nobody did, how loud it was, and what was missing.
public struct ReportPicture {
  private let report: ReportDocument
  private let timeline: ReportDocument.Timeline
  private let canvas: Canvas
  private static let text = TextRenderer(scale: 2)
  private static let title = TextRenderer(scale: 3)

  // Pixels; even, as colours are stored for squares of two.
  private static let width = 1600
  private static let left = 240
  private static let right = 1570
  private static let top = 130
  private static let row = 44
  private static let bar = 28
  private static let graph = 200
  private static let maximumParents = 6

  private static let paper = YUVColour(y: 225)
  private static let pale = YUVColour(y: 205)
  private static let green = YUVColour(y: 130, u: 95, v: 80)
  private static let red = YUVColour(y: 95, u: 105, v: 215)
  private static let blue = YUVColour(y: 110, u: 165, v: 100)
  private static let orange = YUVColour(y: 155, u: 65, v: 175)
  private static let ink: UInt8 = 30

  /// The bytes of a PNG file.
  ///
  /// - Throws: `ParentError` when the report has no time line.
  public static func png(_ report: ReportDocument) throws(ParentError) -> [UInt8] {
    guard let timeline = report.timeline, report.to > report.from, report.isPossible else {
      throw ParentError("the baby unit sent no time line, so there is no picture; ask for less than two days")
    }
    let picture = ReportPicture(report, timeline)
    picture.draw()
    do throws(CodecError) {
      return try PNGEncoder.encode(picture.canvas.frame)
    } catch {
      throw ParentError("the picture could not be encoded")
    }
  }

  private init(_ report: ReportDocument, _ timeline: ReportDocument.Timeline) {
    self.report = report
    self.timeline = timeline
    let rows = min(Self.maximumParents, timeline.listeners.count) + 2
    let height = Self.top + rows * Self.row + Self.graph + 90
    canvas = Canvas(
      VideoFramePool(width: Self.width, height: height).makeFrame(captureTime: .zero, sequence: 0))
  }

  private func draw() {
    canvas.clear(Self.paper)
    let night =
      "\(LocalTime.text(unixSeconds: report.from).prefix(16)) to \(LocalTime.minutes(unixSeconds: report.to))"
    Self.title.draw(night, x: 30, y: 24, luma: Self.ink, on: canvas)
    let heard = "heard \(report.monitoredMinutes) of \(report.minutes) min, noise \(report.noise.minutes) min"
    Self.text.draw(heard, x: 30, y: 74, luma: Self.ink, on: canvas)
    var y = Self.top
    for listener in timeline.listeners.prefix(Self.maximumParents) {
      drawLabel(listener.name, y)
      drawRuns(listener.runs, y)
      y += Self.row
    }
    drawLabel("nobody", y)
    drawBar(Double(0), Double(timeline.levels.count), y, Self.pale)
    for gap in report.gaps { drawBar(minute(gap.from), minute(gap.to), y, Self.red) }
    y += Self.row
    drawLabel("missing", y)
    drawBar(Double(0), Double(timeline.levels.count), y, Self.pale)
    for loss in report.losses { drawBar(minute(loss.from), minute(loss.to ?? report.to), y, Self.orange) }
    y += Self.row
    drawLevels(y)
    drawHours(from: Self.top - 10, to: y + Self.graph)
  }

  private func drawLabel(_ name: String, _ y: Int) {
    let most = (Self.left - 40) / Self.text.advance
    Self.text.draw(String(name.prefix(most)), x: 30, y: y + 6, luma: Self.ink, on: canvas)
  }

  /// Runs that a child sent may be any numbers.
  private func drawRuns(_ runs: [Int], _ y: Int) {
    drawBar(0, Double(timeline.levels.count), y, Self.pale)
    var start = 0.0
    for (index, length) in runs.enumerated() {
      let end = min(start + Double(max(0, length)), Double(timeline.levels.count))
      if index % 2 == 1 { drawBar(start, end, y, Self.green) }
      start = end
    }
  }

  private func minute(_ unix: Double) -> Double { (unix - report.from) / 60 }

  /// The column of a minute, within the diagram.
  private func x(_ minute: Double) -> Int {
    let share = minute * 60 / (report.to - report.from)
    return Self.left + Int(saturating: (min(1, max(0, share)) * Double(Self.right - Self.left)).rounded())
  }

  /// At least two pixels wide: a single minute is to be seen.
  private func drawBar(_ from: Double, _ to: Double, _ y: Int, _ colour: YUVColour) {
    guard to > from else { return }
    let start = x(from)
    canvas.fill(x: start, y: y, width: max(2, x(to) - start), height: Self.bar, colour)
  }

  private func drawLevels(_ y: Int) {
    drawLabel("sound", y)
    let bottom = y + Self.graph
    for (index, level) in timeline.levels.enumerated() {
      let start = x(Double(index))
      let width = max(2, x(Double(index + 1)) - start)
      guard level >= 0 else {
        let colour = level == ReportDocument.Timeline.microphoneSilent ? Self.orange : Self.pale
        canvas.fill(x: start, y: y, width: width, height: Self.graph, colour)
        continue
      }
      // -90 dB at the bottom, full scale at the top.
      let height = max(2, (90 - min(90, level)) * Self.graph / 90)
      let isNoise = Double(-level) > report.noise.thresholdDb
      canvas.fill(x: start, y: bottom - height, width: width, height: height, isNoise ? Self.red : Self.blue)
    }
  }

  private func drawHours(from top: Int, to bottom: Int) {
    var time = (report.from / 3600).rounded(.up) * 3600
    // Labels every hour, or less often where a report is longer.
    let hours = (report.to - report.from) / 3600
    let step = hours <= 18 ? 3600.0 : 7200
    while time <= report.to {
      let column = x(minute(time))
      canvas.fillLuma(x: column, y: top, width: 1, height: bottom - top, 150)
      let label = LocalTime.minutes(unixSeconds: time)
      Self.text.draw(label, x: column - Self.text.width(of: label) / 2, y: bottom + 16, luma: Self.ink, on: canvas)
      time += step
    }
  }
}
