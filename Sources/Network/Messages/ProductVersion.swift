/// The version of the programs and Debian packages, for `--version`, DNS-SD and `hello`. Defined only here.
public let productVersion = "0.1.0"
