/// Which names of options, keys, headers, variables and elements speak of a credential.
enum CredentialName {
  private static let parts = [
    "password", "passwd", "passwort", "kennwort", "passphrase", "passcode", "passkey", "pswd", "pwd", "psw", "token",
    "secret", "credential", "authorization", "cookie", "signature", "sessionid", "srtp_in_params", "srtp_out_params",
  ]
  private static let words: Set<Substring> = [
    "pass", "pas", "pw", "pin", "auth", "sig", "jwt", "psk", "bearer", "otp", "session", "ticket",
  ]
  /// `loginpas`, `userpw`, `api_key`.
  private static let ends = ["pass", "pas", "pw", "psk", "auth", "key"]
  /// Filters, and encoders' options.
  private static let others = [
    "lowpass", "highpass", "bandpass", "allpass", "bypass", "compass", "multipass", "firstpass",
  ]

  /// Whether the value of `api_key`, `user-pw`, `loginpas` or `X-Auth-Token` is to be hidden.
  static func isSecret(_ name: some StringProtocol) -> Bool {
    let name = name.lowercased()
    if parts.contains(where: { name.contains($0) }) { return true }
    if others.contains(where: { name.hasSuffix($0) }) { return false }
    return ends.contains { name.hasSuffix($0) }
      || name.split { $0 == "-" || $0 == "_" || $0 == "." }.contains { words.contains($0) }
  }

  /// In a URL's query there are shorter ones: `?u=admin&p=…`.
  static func isSecretInQuery(_ name: some StringProtocol) -> Bool {
    isSecret(name)
      || ["p", "ps", "psd", "k", "pk", "sk", "tk", "tok", "sid", "hash", "hmac", "code"].contains(name.lowercased())
  }

  /// Half of a credential, in a URL's query: `usr=`, `loginuse=`, `-usr=`. Hidden there, as userinfo is.
  static func isUserInQuery(_ name: some StringProtocol) -> Bool {
    let name = name.lowercased().drop { $0 == "-" }
    return ["u", "uid", "login", "loginuse", "account"].contains(name)
      || ["user", "usr", "username", "userid", "user_id"].contains { name.hasSuffix($0) }
  }

  /// curl's `-u`, `--user`, httpie's `-a` and the like, followed by `USER:PASSWORD`.
  static func isUserOption(_ option: some StringProtocol) -> Bool {
    ["u", "U", "a"].contains(option) || ["user", "userpwd", "login"].contains { option.lowercased().hasSuffix($0) }
  }

  /// Of HTTP's authorization: RFC 9110 section 11.1.
  static func isScheme(_ word: some StringProtocol) -> Bool {
    ["basic", "bearer", "digest", "token", "negotiate", "apikey"].contains(word.lowercased())
  }

  /// Whether credentials follow without `=` or `:`: `Bearer abcdef` (RFC 6750 section 2.1).
  static func isBearer(_ word: some StringProtocol) -> Bool { word.lowercased() == "bearer" }

  /// What a sentence about a bearer goes on with.
  static let ordinaryAfterBearer: Set<String> = [
    "token", "tokens", "authentication", "authorization", "scheme", "required", "missing", "expired", "invalid",
    "rejected", "refused", "failed", "realm", "header", "credentials",
  ]

  /// Long options that begin with one dash and `p`, as ffmpeg's do: `-p` with a password after it looks the same.
  static func isLongOptionOfP(_ option: some StringProtocol) -> Bool { longOptions.contains(String(option)) }

  private static let longOptions: Set<String> = [
    "p_mask", "p_strategy", "packet_loss", "packet_size", "packetsize", "pad", "page", "page_duration", "pagesize",
    "palette", "param0", "param1", "paranoia_mode", "part", "partitions", "pass",
    "pass_types", "passlogfile", "passphrase", "passwd", "password", "pw", "pwd", "psk", "psw", "pin", "private_key",
    "pat_period",
    "pattern_type", "payload_size", "payload_type", "pbkeylen", "pcr_period", "per_frame_metadata", "pes_payload_size",
    "phase_shift", "pic_timing_sei", "pixel_format", "pix_fmt", "pix_fmts", "pkt_size", "plane_id", "playlist", "plays",
    "port", "post_data", "postfilter", "pre", "pre_dia_size", "prebuf", "precision", "precmp", "pred",
    "prediction_order_method", "prefer_tcp", "preload", "preset", "print_deinit_summary", "probesize", "profile",
    "prog", "prog_order", "program", "progress", "protocol", "protocol_blacklist", "protocol_opts",
    "protocol_whitelist", "protocols", "ps", "psnr", "psy", "psymodel", "pts",
  ]
}
