import ArgumentParser
import Child
import FoundationEssentials
import JSON

/// `cradle-child certificate`
struct CertificateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "certificate",
    abstract: "Shows the certificate for browsers, and makes a new root.",
    discussion: """
      The baby unit signs its own certificate for browsers. A phone that installs its root certificate (the page says how) \
      shows no warning, at the names and addresses that the root is for: those of the first start.
      """,
    subcommands: [ShowCertificate.self, RenewCertificate.self], defaultSubcommand: ShowCertificate.self)
}

/// `cradle-child certificate show`
struct ShowCertificate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows what the certificate is for, and until when.")

  @OptionGroup var directories: DirectoryOptions
  @Flag(
    help:
      "Print one JSON object {file, root: {fingerprint, hosts, missing}, fingerprint, hosts, validFrom, validUntil}.")
  var json = false

  func run() throws {
    let report = try Daemon.ask(CertificateShow(), directories)
    if json { print(JSON.text(report)) } else { report.show() }
  }
}

/// `cradle-child certificate renew`
struct RenewCertificate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "renew",
    abstract: "Makes a new root certificate for the present name and addresses.",
    discussion: """
      For a baby unit with a new name or address. Everybody stays paired. Phones that have the old root certificate \
      installed have to install the new one; remove the old one there.
      """)

  @OptionGroup var directories: DirectoryOptions
  @Flag(help: "Print one JSON object, as `certificate show` does.")
  var json = false

  func run() throws {
    let report = try Daemon.ask(CertificateShow(renew: true), directories)
    if json { return print(JSON.text(report)) }
    print("The root certificate is new. Install it on each phone that had the old one.")
    report.show()
  }
}

extension CertificateReport {
  fileprivate func show() {
    if let file { print("Certificate  \(file) (tls in child.yaml)") }
    if let root {
      print("Root for     \(root.hosts.joined(separator: ", "))")
      print("SHA-256      \(root.fingerprint)")
    }
    if let fingerprint { print("Served       \(fingerprint)") }
    if let validFrom, let validUntil {
      print("Valid        \(validFrom.formatted(.iso8601)) to \(validUntil.formatted(.iso8601))")
    }
    print("Now          \(hosts.isEmpty ? "no name or address in the house" : hosts.joined(separator: ", "))")
    if let root, !root.missing.isEmpty {
      print(
        "The root is not for \(root.missing.joined(separator: ", ")): phones warn there. "
          + "Make a new one: cradle-child certificate renew")
    }
  }
}
