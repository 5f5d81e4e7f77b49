import Commands
import Testing

@Suite struct TableTests {
  private static let rows = [["ID", "NAME", "LAST SEEN"], ["1a2b", "Phone", "2026-11-28"], ["3c4d", "Tablet", "-"]]

  @Test func columnsStandBelowEachOther() {
    let text = "ID    NAME    LAST SEEN\n1a2b  Phone   2026-11-28\n3c4d  Tablet  -"
    #expect(Table.text(Self.rows, width: nil) == text && Table.text(Self.rows, width: 24) == text)
  }

  /// On a phone's terminal.
  @Test func aNarrowTerminalGetsALineForEachCell() {
    #expect(
      Table.text(Self.rows, width: 23) == """
        ID         1a2b
        NAME       Phone
        LAST SEEN  2026-11-28

        ID         3c4d
        NAME       Tablet
        LAST SEEN  -
        """)
    // Without a heading there is nothing to put before them.
    #expect(
      Table.text([["light", "on, until the morning"]], headed: false, width: 10) == "light  on, until the morning")
  }
}
