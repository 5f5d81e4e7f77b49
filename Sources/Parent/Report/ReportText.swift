public import Control
internal import Linux
internal import Wire

// A report as text for a person.

extension ReportDocument {
  /// Rows of two cells: a label and what there is to say.
  public var rows: [[String]] {
    var rows = [["night", "\(LocalTime.text(unixSeconds: from)) to \(LocalTime.text(unixSeconds: to))"]]
    guard minutes > 0 else { return rows + [["", "has not begun"]] }
    rows.append(["heard", "\(Self.share(monitoredMinutes, of: minutes)) of the night, by anybody"])
    for parent in parents { rows.append(["", "\(parent.name): \(Self.length(parent.minutes))"]) }
    let unrecorded = minutes.subtractingReportingOverflow(recordedMinutes)
    if unrecorded.partialValue > 0, !unrecorded.overflow {
      rows.append(["child off", "\(Self.length(unrecorded.partialValue)) without a record"])
    }
    if let longestGap {
      rows.append(["longest gap", longestGap.text])
      for gap in gaps where gap != longestGap { rows.append(["gap", gap.text]) }
    } else {
      rows.append(["gaps", "none: somebody received sound in every minute"])
    }
    rows.append(["noise", noise.text])
    for loss in losses { rows.append(["lost", loss.text]) }
    for alarm in alarms { rows.append(["alarm", alarm.text]) }
    if proofs.isEmpty { rows.append(["proof", "no test of hearing and no drill"]) }
    for proof in proofs { rows.append([proof.kind, proof.text]) }
    if reconnects > 0 { rows.append(["reconnects", "\(reconnects)"]) }
    if restarts > 0 { rows.append(["restarts", "\(restarts)"]) }
    return rows
  }

  fileprivate static func length(_ minutes: Int) -> String {
    minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
  }

  private static func share(_ part: Int, of whole: Int) -> String {
    let percent = Double(part) * 100 / Double(max(1, whole))
    // 99.96 % is not the whole night.
    let tenths = part == whole ? 100 : min(99.9, percent.tenths)
    return "\(length(part)), \(tenths) %"
  }
}

extension ReportDocument.Gap {
  fileprivate var text: String {
    let minutes = Int(saturating: (to - from) / 60)
    let causes = causes.map { ReportDocument.Cause(rawValue: $0)?.text ?? $0 }.joined(separator: ", ")
    return "\(ReportDocument.length(minutes)) from \(LocalTime.text(unixSeconds: from)): \(causes)"
  }
}

extension ReportDocument.Cause {
  fileprivate var text: String {
    switch self {
    case .childOff: "the baby unit was off"
    case .clock: "the baby unit's clock was set"
    case .microphone: "the microphone delivered nothing"
    case .link: "a link was lost"
    case .left: "somebody stopped watching"
    case .ended: "somebody's access was ended"
    case .nobody: "nobody listened"
    }
  }
}

extension ReportDocument.Noise {
  fileprivate var text: String {
    let loudest = loudestDb.map { ", the loudest \($0) dB" } ?? ""
    return "\(ReportDocument.length(minutes)) above \(thresholdDb) dB\(loudest)"
  }
}

extension ReportDocument.Loss {
  fileprivate var text: String {
    let end = to.map { "back at \(LocalTime.text(unixSeconds: $0))" } ?? "not back"
    return "\(device)\(id.map { " \($0)" } ?? "") at \(LocalTime.text(unixSeconds: from)), \(end)"
  }
}

extension ReportDocument.Alarm {
  fileprivate var text: String {
    let known =
      acknowledgedAt.map { "acknowledged after \(ElapsedTime.text($0 - began))" } ?? "over before it was acknowledged"
    return "\(kind) at \(name), \(LocalTime.text(unixSeconds: began)), \(known)"
  }
}

extension ReportDocument.Proof {
  fileprivate var text: String {
    [LocalTime.text(unixSeconds: time), name, detail].compactMap(\.self).joined(separator: "  ")
  }
}
