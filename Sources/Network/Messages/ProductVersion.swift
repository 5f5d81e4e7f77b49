/// The version of the programs, as `--version`, DNS-SD and `hello` give it and the Debian packages have it. Defined here only.
public let productVersion = "0.1.0"
