import Foundation
import Linux
import Testing

@testable import Commands

/// What the programs share: how arguments are read and times are written.
@Suite(.serialized) struct CommandLineTests {
  @Test func aNegativeNumberIsTheValueOfTheOptionBeforeItOrAnArgument() {
    let cases: [([String], [String])] = [
      (["watch", "--audio-only", "--vox", "-45"], ["watch", "--audio-only", "--vox=-45"]),
      (["--noise", "-40.5", "--json"], ["--noise=-40.5", "--json"]),
      (["--noise", "-.5"], ["--noise=-.5"]),
      (["--noise=-40"], ["--noise=-40"]),
      // What is no number, or no option's.
      (["-o", "-"], ["-o", "-"]),
      (["--output", "-"], ["--output", "-"]),
      (["--record", "-x"], ["--record", "-x"]),
      (["--", "--vox", "-45"], ["--", "--vox", "-45"]),
      ([], []),
      // An argument of its own.
      (["volume", "-5"], ["volume", "--", "-5"]),
      (["volume", "-5", "--child", "cot"], ["volume", "--child", "cot", "--", "-5"]),
      (["--json", "-5"], ["--json", "--", "-5"]),
      (["--name=a", "-5"], ["--name=a", "--", "-5"]),
      (["-5", "--", "-6"], ["--", "-5", "-6"]),
    ]
    for (given, wanted) in cases { #expect(NegativeValues.joined(given) { $0 == "--json" } == wanted) }
  }

  @Test func columnsStandUnderEachOtherInEveryScript() {
    let names = ["Mama", "育児室", "👶 Cot", "❤️", "e\u{301}té", "نی\u{200c}نی"]
    #expect(names.map(\.displayWidth) == [4, 6, 6, 2, 3, 4])
    let lines = Table.text(names.map { [$0, "|"] }).split(separator: "\n")
    #expect(lines.allSatisfy { $0.dropLast().displayWidth == 8 && $0.last == "|" })
  }

  /// A name such as the first would otherwise be read as three fields.
  @Test func aLoggedValueIsOneFieldOfOneLine() {
    let cases = [
      (#"x" id=0000 by="forged"#, #""x\" id=0000 by=\"forged""#), (#"a\"#, #""a\\""#), (#"""#, #""\"""#),
      ("", #""""#), ("cot", "cot"), ("Grandma's phone", #""Grandma's phone""#),
      ("https://a.b/?c=d", "https://a.b/?c=d"),
      ("a\nb\r\u{2028}c\u{85}d", #""a b  c d""#), ("\u{1b}[2J\u{9b}31m\u{7f}x", "[2J31mx"),
      ("\u{202e}gpj.\u{2066}exe\u{2069}", "gpj.exe"), ("\"\u{301} by=x", "\"\\\"\u{301} by=x\""),
      ("نی\u{200c}نی", "نی\u{200c}نی"),
    ]
    for (value, written) in cases { #expect(ConsoleLog.quoted(value) == written) }
    let marks = String(repeating: "\u{35f}", count: 300)
    #expect(ConsoleLog.quoted("Z\(marks)a\(marks)").unicodeScalars.count == 10)
    #expect(ConsoleLog.quoted(String(repeating: "x", count: 5000)) == String(repeating: "x", count: 1000) + "…")
  }

  @Test func wordsOfOthersControlNoTerminal() {
    #expect(printableLines("one\n  two\u{1b}]0;x\u{07}\n\n\u{9b}2J\r\u{202e}three") == "one\n  two]0;x\n\n2Jthree")
  }

  /// Runs with another time zone, in this process.
  private func inZone<Result>(_ zone: String, _ body: () throws -> Result) rethrows -> Result {
    let before = ProcessInfo.processInfo.environment["TZ"]
    setenv("TZ", zone, 1)
    tzset()
    defer {
      if let before { setenv("TZ", before, 1) } else { unsetenv("TZ") }
      tzset()
    }
    return try body()
  }

  @Test func anHourThatComesTwiceIsToldApart() {
    inZone("Europe/Berlin") {
      // 2026-10-25, 01:00 UTC: 03:00 becomes 02:00.
      let change = 1_792_890_000.0
      #expect(LocalTime.text(unixSeconds: change - 3601) == "2026-10-25 01:59:59")
      #expect(LocalTime.text(unixSeconds: change - 1800) == "2026-10-25 02:30:00 +02:00")
      #expect(LocalTime.text(unixSeconds: change + 1800) == "2026-10-25 02:30:00 +01:00")
      #expect(LocalTime.text(unixSeconds: change + 3600) == "2026-10-25 03:00:00")
      // In spring an hour is left out, and none comes twice.
      #expect(LocalTime.text(unixSeconds: 1_774_746_000 - 1) == "2026-03-29 01:59:59")
      #expect(LocalTime.text(unixSeconds: 1_774_746_000) == "2026-03-29 03:00:00")
    }
    inZone("America/New_York") {
      #expect(LocalTime.text(unixSeconds: 1_793_512_800 - 1) == "2026-11-01 01:59:59 -04:00")
    }
    // Half an hour, on Lord Howe.
    inZone("Australia/Lord_Howe") {
      #expect(LocalTime.text(unixSeconds: 1_775_314_800 - 60) == "2026-04-05 01:59:00 +11:00")
      #expect(LocalTime.text(unixSeconds: 1_775_314_800 + 60) == "2026-04-05 01:31:00 +10:30")
    }
    inZone("UTC") { #expect(LocalTime.text(unixSeconds: 1_792_890_000) == "2026-10-25 01:00:00") }
  }

  @Test func namesOfFilesHaveNoZone() {
    inZone("Europe/Berlin") {
      #expect(LocalTime.compact(unixSeconds: 1_792_891_800) == "20261025-023000")
      #expect(LocalTime.minutes(unixSeconds: 1_792_891_800) == "02:30")
    }
  }
}
