import JSON
import Testing

@testable import Health

@Suite struct FindingTests {
  private static let finding = Finding(
    "Wi-Fi wlan0", .warning, "power saving is on: picture and sound come in bursts", remedy: "sudo iw \"x\"")

  @Test func jsonHasEveryMemberAndIsEscaped() {
    #expect(
      JSON.text(Self.finding)
        == #"{"detail":"power saving is on: picture and sound come in bursts","remedy":"sudo iw \"x\"","state":"warning","what":"Wi-Fi wlan0"}"#
    )
    #expect(JSON.text(Finding("a", .ok, "b")) == #"{"detail":"b","state":"ok","what":"a"}"#)
  }

  @Test func linesFitTheTerminalAndARemedyIsNotBroken() {
    let text = FindingText(width: 50, isColoured: false, labels: ["Wi-Fi wlan0"])
    #expect(
      text.lines(Self.finding) == """
        warning    Wi-Fi wlan0  power saving is on:
                                picture and sound come in
                                bursts
                   fix: sudo iw "x"
        """)
    #expect(text.lines(Self.finding).split(separator: "\n").allSatisfy { $0.count <= 50 })
  }

  @Test func aLongNameHasItsOwnLineAndWithoutAWidthNothingIsBroken() {
    let text = FindingText(width: nil, isColoured: false, labels: ["disk"])
    #expect(
      text.lines(Finding("state directory", .unknown, "hidden from this user and from all others here"))
        == "unknown    state directory\n                 hidden from this user and from all others here")
  }

  @Test func coloursAreForTerminalsAlone() {
    #expect(FindingText(width: 80, isColoured: true, labels: []).lines(Self.finding).contains("\u{1b}[33m"))
    #expect(!FindingText(width: 80, isColoured: false, labels: []).lines(Self.finding).contains("\u{1b}"))
  }

  @Test func theSummaryCounts() {
    let ok = Finding("a", .ok, "")
    #expect([ok].summary == "Everything is well.")
    #expect([ok, Self.finding].summary == "1 warning.")
    #expect(![ok, Self.finding].hasProblem)
    let all = [Finding("b", .problem, ""), Finding("c", .problem, ""), Self.finding, Finding("d", .unknown, "")]
    #expect(all.summary == "2 problems, 1 warning, 1 thing unknown.")
    #expect(all.hasProblem)
  }
}
