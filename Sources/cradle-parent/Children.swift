import ArgumentParser
import Commands
import Pairing
import Parent

/// `cradle-parent children`
struct Children: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the paired cameras, where each was last seen, and whether it is at its remote access servers.")

  @OptionGroup var state: StateOptions
  @Flag(help: "Print one JSON object {children: [...]}.")
  var json = false

  func run() async throws {
    let result = try await failing {
      let list = PresenceList(state: try state.parent())
      guard try list.needsLooking() else { return try await list.look() }
      return try await withProgress("Asking the remote access servers") { try await list.look() }
    }
    for problem in result.unreachable { printError("The remote access server does not answer: \(problem)") }
    let children = result.children
    if json { return print(JSONLine.text(["children": children])) }
    if children.isEmpty { return print("No camera is paired. Start with: cradle-parent discover") }
    print(Table.text([ChildListing.heading] + children.map(\.row)))
  }
}

/// `cradle-parent unpair`
struct Unpair: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Ends the pairing with a camera, at both ends when it can be reached.")

  @OptionGroup var state: StateOptions
  @Argument(help: "The camera's name, its id (the first four digits do) or host:port.")
  var child: String
  @Flag(help: "Print one JSON object {unpaired: {id, name}, told}; told: whether the camera has stored it.")
  var json = false

  private struct Report: Encodable {
    struct Unpaired: Encodable {
      var id: String
      var name: String
    }

    var unpaired: Unpaired
    var told: Bool
  }

  func run() async throws {
    try await failing {
      let paired = try await state.finder().paired(child)
      var isTold = true
      var isStored = true
      do {
        try await withProgress("Removing it at the camera") { try await UnpairingCall.send(to: paired) }
      } catch {
        isTold = false
        isStored = !(error is UnpairingCall.NotStored)
        printError("\(error)")
      }
      try paired.forget()
      if json {
        print(JSONLine.text(Report(unpaired: .init(id: paired.record.id, name: paired.record.name), told: isTold)))
      } else {
        print("Unpaired \(paired.record.name) (\(paired.record.id)).")
        if !isTold { print("The camera may still list this computer. To remove it there: cradle-child unpair") }
      }
      if !isStored { throw ExitCode(1) }
    }
  }
}
