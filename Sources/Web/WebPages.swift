/// The pages that the child serves, compiled into the program: nothing to install, nothing to lose.
public enum WebPages {
  /// `GET /`: asks for a token and plays the stream. UTF-8 HTML that needs no other host.
  public static var index: [UInt8] { PackageResources.index_html }
}
