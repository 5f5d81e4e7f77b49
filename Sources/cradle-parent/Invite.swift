import ArgumentParser
import Commands
import Control
import Glibc
import Pairing

/// `cradle-parent invite`
struct Invite: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Makes a one-time link for a guest: a babysitter's phone, or another computer.",
    discussion: """
      The link works once, for whoever opens it first, so give it to one person only. On another computer: cradle-parent \
      pair --link LINK. On a phone: scan the code.
      """)

  @Option(help: "The guest's name.")
  var name: String?
  @Option(
    name: .customLong("for"), help: "How long the guest has access, such as 8h. (default: 8h)",
    transform: TimeSpan.argument)
  var duration: TimeSpan?
  @Option(help: "Permissions of the guest, separated by commas: view, listen, talk, control. (default: view,listen)")
  var allow: String?
  @OptionGroup var child: ChildOptions
  @Flag(help: "Print one JSON object {invite: {name, link, allow, expiresAt}}.")
  var json = false

  private var permissions: Permissions? {
    allow.flatMap { Permissions(names: $0.split(separator: ",").map(String.init)) }
  }

  func validate() throws {
    try Bounds.check(duration?.seconds, ControlLimits.inviteSeconds, "--for", "seconds")
    if allow != nil {
      guard let permissions, !permissions.isEmpty, !permissions.contains(.admin) else {
        throw ValidationError("--allow takes view, listen, talk and control, separated by commas.")
      }
    }
  }

  func run() async throws {
    try await child.show(InviteCreate(name: name, seconds: duration?.seconds, allow: permissions), json)
  }
}
