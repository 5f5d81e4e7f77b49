/// Text in columns.
public enum Table {
  public static func text(_ rows: [[String]]) -> String {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].displayWidth : 0 }.max() ?? 0 }
    return rows.map { row in
      zip(row, widths).enumerated().map { index, cell in
        index == row.count - 1 ? cell.0 : cell.0 + String(repeating: " ", count: cell.1 + 2 - cell.0.displayWidth)
      }.joined()
    }.joined(separator: "\n")
  }
}
