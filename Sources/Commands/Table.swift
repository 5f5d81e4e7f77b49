/// Text in columns.
public enum Table {
  /// - Parameter width: of the terminal; nil: as wide as it takes. Where a table with a heading, its first row, is wider,
  ///   each cell has a line of its own, with its heading before it.
  public static func text(_ rows: [[String]], headed: Bool = true, width: Int? = standardOutputWidth()) -> String {
    let text = columns(rows)
    guard headed, let width, rows.count > 1,
      text.split(separator: "\n").contains(where: { String($0).displayWidth > width })
    else { return text }
    return rows.dropFirst().map { row in columns(zip(rows[0], row).map { [$0, $1] }) }.joined(separator: "\n\n")
  }

  private static func columns(_ rows: [[String]]) -> String {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].displayWidth : 0 }.max() ?? 0 }
    return rows.map { row in
      zip(row, widths).enumerated().map { index, cell in
        index == row.count - 1 ? cell.0 : cell.0 + String(repeating: " ", count: cell.1 + 2 - cell.0.displayWidth)
      }.joined()
    }.joined(separator: "\n")
  }
}
