import DeviceNames
import Testing

/// What is shown of commands and of what their programs say.
@Suite struct CredentialMaskTests {
  /// What people write, and what is shown of it.
  @Test(arguments: [
    (
      "ffmpeg -i rtsp://admin:SECRETPW@192.0.2.1/h264 -f yuv4mpegpipe -",
      "ffmpeg -i rtsp://***@192.0.2.1/h264 -f yuv4mpegpipe -"
    ),
    // Without a scheme.
    ("play admin:SECRETPW@192.0.2.1:554/x", "play ***@192.0.2.1:554/x"),
    ("play --at=admin:SECRETPW@cam", "play --at=***@cam"),
    ("play 'admin:SECRETPW@[::1]/x' -t 12:30", "play ***@[::1]/x -t 12:30"),
    ("ffmpeg -vf scale=640:360 -map 0:v:0 -i x@y.mp4 -", "ffmpeg -vf scale=640:360 -map 0:v:0 -i x@y.mp4 -"),
    // Signs that ought to be escaped in a URL.
    ("ffmpeg -i rtsp://admin:OTHERPW@x/y@cam:554/1", "ffmpeg -i rtsp://***@cam:554/1"),
    ("ffmpeg -i rtsp://admin:12/OTHERPW@cam", "ffmpeg -i rtsp://***@cam"),
    ("ffmpeg -i rtsp://admin:OTHERPW#?@cam/1", "ffmpeg -i rtsp://***@cam/1"),
    ("ffmpeg -i http://cam:8080/x.mjpg", "ffmpeg -i http://cam:8080/x.mjpg"),
    ("ffmpeg -i http://cam/img@2x.jpg", "ffmpeg -i http://cam/img@2x.jpg"),
    ("curl http://cam/v?user=a&password=SECRETPW&x=1", "curl http://cam/v?user=***&password=***&x=1"),
    ("curl http://cam/v?api_key=SECRETPW#t", "curl http://cam/v?api_key=***#t"),
    ("curl http://cam/v?access_token=SECRETPW", "curl http://cam/v?access_token=***"),
    (
      "ffmpeg -headers 'Authorization: Basic SECRETPW' -i http://cam/",
      "ffmpeg -headers 'Authorization: ***' -i http://cam/"
    ),
    ("curl -H X-Api-Key:SECRETPW http://cam/", "curl -H X-Api-Key:*** http://cam/"),
    ("curl -u admin:SECRETPW http://cam/", "curl -u admin:*** http://cam/"),
    ("wget --http-password=OTHERPW&,x http://cam/", "wget --http-password=*** http://cam/"),
    ("wget --http-password SECRETPW http://cam/", "wget --http-password *** http://cam/"),
    (
      "gst-launch-1.0 -q rtspsrc location=rtsp://cam user-pw=SECRETPW ! fdsink",
      "gst-launch-1.0 -q rtspsrc location=rtsp://cam user-pw=*** ! fdsink"
    ),
    ("env TOKEN=SECRETPW /usr/local/bin/camera", "env TOKEN=*** /usr/local/bin/camera"),
    ("camera '{\"password\":\"SECRETPW\",\"size\":1}'", "camera {\"password\":\"***\",\"size\":1}"),
    ("sh -c 'login SECRETPW' rtsp://admin:SECRETPW@cam", "sh -c 'login ***' rtsp://***@cam"),
    // Names that cameras and programs have for it.
    (
      "curl http://cam/v.cgi?loginuse=admin&loginpas=SECRETPW&x=1",
      "curl http://cam/v.cgi?loginuse=***&loginpas=***&x=1"
    ),
    ("curl http://cam/v.cgi?-usr=admin&-pwd=SECRETPW", "curl http://cam/v.cgi?-usr=***&-pwd=***"),
    ("curl http://cam/v?usr=OTHERPW&pwd=SECRETPW", "curl http://cam/v?usr=***&pwd=***"),
    ("curl http://cam/v?u=admin&p=SECRETPW#t", "curl http://cam/v?u=***&p=***#t"),
    ("camera userpas=SECRETPW lowpass=f=3000 highpass=200", "camera userpas=*** lowpass=f=3000 highpass=200"),
    ("camera --token=SECRETPW --loginpw SECRETPW", "camera --token=*** --loginpw ***"),
    // Options of one letter, with their value or before it.
    ("curl -uadmin:SECRETPW http://cam/", "curl -uadmin:*** http://cam/"),
    ("curl --user=admin:SECRETPW http://cam/", "curl --user=admin:*** http://cam/"),
    ("smbclient //nas/x -U admin%SECRETPW", "smbclient //nas/x -U admin%***"),
    ("http -a admin:SECRETPW cam/", "http -a admin:*** cam/"),
    ("mosquitto_sub -h cam -P SECRETPW -u admin -t v", "mosquitto_sub -h cam -P *** -u admin -t v"),
    ("sshpass -p SECRETPW ssh cam", "sshpass -p *** ssh cam"),
    ("mysql -pSECRETPW -h cam", "mysql -p*** -h cam"), ("camera -PSECRETPW", "camera -P***"),
    ("camera --password SECRETPW -pw SECRETPW", "camera --password *** -pw ***"),
    (
      "ffmpeg -preset fast -pix_fmt yuv420p -profile:v main -use_wallclock_as_timestamps 1 -map 0:v -c:v copy -",
      "ffmpeg -preset fast -pix_fmt yuv420p -profile:v main -use_wallclock_as_timestamps 1 -map 0:v -c:v copy -"
    ),
    // Headers, in one word or several.
    ("curl -H 'Authorization: Bearer SECRETPW' http://cam/", "curl -H 'Authorization: ***' http://cam/"),
    ("curl '--header=Authorization: Bearer SECRETPW' cam", "curl '--header=Authorization: ***' cam"),
    ("curl -H Authorization:Bearer SECRETPW cam", "curl -H Authorization:*** *** cam"),
    ("curl -H Authorization:Bearer\\ SECRETPW cam", "curl -H Authorization:*** *** cam"),
    ("curl -H Authorization:\\ Basic\\ SECRETPW cam", nil), ("curl -HAuthorization:Digest SECRETPW cam", nil),
    ("curl -HAuthorization: Bearer SECRETPW cam", "curl -HAuthorization: Bearer *** cam"),
    ("curl -d <Password>SECRETPW</Password> cam", "curl -d <Password>***</Password> cam"),
    // A command within a word.
    ("sh -c 'mosquitto_sub -P SECRETPW -t v | decode'", "sh -c 'mosquitto_sub -P *** -t v | decode'"),
    ("sh -c \"mysql -pSECRETPW\"", "sh -c 'mysql -p***'"),
    ("sh -c \"curl -H 'Authorization: Bearer SECRETPW' cam\"", nil),
    ("sh -c 'TOKEN=SECRETPW camera -v'", "sh -c TOKEN=***"),
    ("sh -c \"sh -c 'camera -p SECRETPW'\"", nil),
    ("ffmpeg -keyint_min 30 -i '/dev/a b'", "ffmpeg -keyint_min 30 -i '/dev/a b'"),
    // Options of ffmpeg's, and short keys of queries.
    ("ffmpeg -srtp_out_params SECRETPW -i -", "ffmpeg -srtp_out_params *** -i -"),
    ("ffmpeg -i http://cam/v?k=SECRETPW&t=1", "ffmpeg -i http://cam/v?k=***&t=1"),
    ("ffmpeg -i http://cam/v?key=SECRETPW&token=OTHERPW", "ffmpeg -i http://cam/v?key=***&token=***"),
    // Percent-encoded, also within another URL.
    ("ffmpeg -i rtsp://admin%3ASECRETPW@cam/1", "ffmpeg -i rtsp://***@cam/1"),
    ("ffmpeg -i http://proxy/?url=rtsp%3A%2F%2Fadmin%3ASECRETPW%40cam%2F1", nil),
    ("ffmpeg -i http://proxy/?url=rtsp%253A%252F%252Fadmin%253ASECRETPW%2540cam%252F1", nil),
    ("ffmpeg -i http://proxy/%3ftoken%3DSECRETPW%26x=1", nil),
  ]) func aCommandIsShownWithoutItsCredentials(written: String, shown: String?) throws {
    let device = try #require(VideoDevice("exec:" + written))
    if let shown { #expect(device.description == "exec:" + shown) }
    #expect(!device.description.contains("SECRETPW") && !device.description.contains("OTHERPW"))
    let command = try #require(ProgramCommand(written))
    // The program has it as it is.
    let isSecret = written.contains("SECRETPW")
    #expect(command.words.contains { $0.contains("SECRETPW") } == isSecret)
    // And may say it in words of its own.
    for said in [
      "cannot log in as admin with SECRETPW", "[tcp] rtsp://x:OTHER@cam/ failed\nSECRETPW", "SECRETPW: error",
    ] where isSecret {
      let masked = command.mask.masked(said)
      #expect(!masked.contains("SECRETPW") && !masked.contains("OTHER"), "\(masked)")
    }
    #expect(command.mask.masked("error: 401 Unauthorized, pictures 30") == "error: 401 Unauthorized, pictures 30")
  }

  /// Without the header's name before it.
  @Test(arguments: [
    ("Bearer abcdef", "Bearer ***"), ("401 for bearer eyJh.bGci_-~+/=: refused", "401 for bearer ***: refused"),
    ("sent 'Bearer abcdef'", "sent 'Bearer ***'"), ("bearer=abcdef x", "bearer=*** x"),
    ("a Bearer token is missing", "a Bearer token is missing"), ("the bearer of it", "the bearer of it"),
  ])
  func aBareBearerTokenIsHidden(said: String, shown: String) {
    #expect(CredentialMask().masked(said) == shown)
  }

  @Test func aProgramSaysADecodedPassword() throws {
    let command = try #require(ProgramCommand("ffmpeg -i rtsp://admin:p%40ss%2Fword@cam/"))
    #expect(command.mask.masked("login with p@ss/word failed; p%40ss%2Fword") == "login with *** failed; ***")
  }

  /// A password with every sign that somebody escapes, in the forms in which programs repeat it.
  @Test(arguments: [
    "p@ss w+rd/&\"1", "p%40ss%20w%2Brd%2F%26%221", "p%40ss%20w%2brd%2f%26%221", "p%40ss+w%2Brd%2F%26%221",
    "p@ss%20w+rd/&%221",
    "p%2540ss%2520w%252Brd%252F%2526%25221", #"p@ss w+rd/&\"1"#, #"p@ss\ w+rd/\&\"1"#, #"p@ss w+rd\/&\"1"#,
    #"p\x40ss w+rd/&\x221"#, #"p\u0040ss w+rd/\u0026\u00221"#, "p@ss w+rd/&amp;&quot;1", "p&#64;ss w+rd/&amp;&#34;1",
  ])
  func aProgramRepeatsAPasswordInItsOwnForm(said: String) throws {
    for written in [
      "ffmpeg -i rtsp://admin:p%40ss%20w%2Brd%2F%26%221@cam/", "camera --password 'p@ss w+rd/&\"1'",
      "curl http://cam/v?pwd=p%40ss+w%2Brd%2F%26%221",
    ] {
      let command = try #require(ProgramCommand(written))
      #expect(command.mask.masked("tried x\(said)x: error") == "tried x***x: error", "\(written)")
    }
  }

  /// What a service gives out is known by its form, whatever stands before it.
  @Test(arguments: [
    "ghp_abcdefghijklmnop", "github_pat_11ABCDEFG0abcdefghij", "glpat-abcdefghijklmnopqrst", "xoxb-1234567890-abcdef",
    "sk_live_abcdefghijklmnop", "sk-proj-abcdefghijklmnop", "AKIAIOSFODNN7EXAMPLE", "hf_abcdefghijklmnopqrst",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def_g", "AIzaSyA1b2C3d4E5f6G7h8I9j0", "q7R4tY8uI2oP6aS1dF3gH5jK",
    "0123456789abcdef0123456789abcdef",
  ]) func aServicesTokenIsHidden(token: String) throws {
    let command = try #require(ProgramCommand("camera \(token) http://cam/\(token)/x"))
    #expect(command.description == "camera *** http://cam/***/x")
    #expect(CredentialMask().masked("sent \(token): refused") == "sent ***: refused")
    #expect(command.mask.masked("sent \(token.uppercased())") == "sent ***")
  }

  @Test(arguments: [
    "ffmpeg -i /dev/v4l/by-id/usb-046d_HD_Pro_Webcam_C920_1A2B3C4D-video-index0 -f yuv4mpegpipe -",
    "libcamera-vid --tuning-file /usr/share/libcamera/ipa/rpi/vc4/imx219_noir.json --autofocus-mode continuous",
    "gst-launch-1.0 v4l2src ! video/x-raw,width=640 ! videoconvert ! y4menc ! fdsink",
    "task-orders sk-x pk_x hf_x the-quick-brown-fox-jumps-over-the-lazy-dog ThisIsAnOrdinaryLongProgramName",
  ]) func ordinaryWordsAreShown(command: String) {
    #expect(ProgramCommand(command)?.description == command)
    #expect(CredentialMask().masked(command) == command)
  }

  /// A terminal shows these as the password, and people read them so.
  @Test(arguments: [
    "SECRETpw1", "secretPW1", "\u{1b}[31mSecretpw1\u{1b}[0m", "S\u{1b}[1me\u{1b}[0mc\u{1b}[38;5;1mretpw1",
    "Sec\u{1b}]8;;http://x\u{7}retpw1", "Sec\u{1b}]0;t\u{1b}\\retpw1", "Sec\u{9b}31mretpw1", "Sec\u{1b}(Bretpw1",
    "S\u{8}Se\u{8}ec\u{8}cretpw1", "Sec\u{0}re\u{200b}tp\u{ad}w1", "Secr\netpw1", "Secr\r\n    etpw1",
    "Secr\\\n  etpw1", "S%65cR%45tpw1", #"\123ecretpw1"#,
    "536563726574707731", "53:65:63:72:65:74:70:77:31", "53 65 63 72 65 74 70 77 31", "5365 6372 6574 7077 31",
    "0x53, 0x65, 0x63, 0x72, 0x65, 0x74, 0x70, 0x77, 0x31", "53-65-63-72-65-74-70-77-31", "7365637265747077\n31",
    "5345435245545057 31",
    "U2VjcmV0cHcx", "c2VjcmV0cHcx", "U2Vjcm\nV0cHcx", "U2Vjcm%56%30cHcx", "U2VjcmV0cHcxCg==",
  ]) func aPasswordIsHiddenInEveryUsualForm(said: String) throws {
    let command = try #require(ProgramCommand("ffmpeg -i rtsp://admin:Secretpw1@cam/"))
    let masked = command.mask.masked("tried «\(said)»: error")
    #expect(masked.contains("«***»") || masked.contains("0x***»"), "\(masked.debugDescription)")
  }

  /// Wherever in a text that is in base64 it stands: RFC 4648 section 4 has three places in a group for its first byte.
  @Test(arguments: [
    "YTpTZWNyZXRwdzE=", "YWI6U2VjcmV0cHcx", "YWJjOlNlY3JldHB3MQ==", "eyJwYXNzIjoiU2VjcmV0cHcxIiwidSI6MX0",
  ]) func aPasswordIsHiddenWithinBase64(said: String) throws {
    let command = try #require(ProgramCommand("ffmpeg -i rtsp://admin:Secretpw1@cam/"))
    let masked = command.mask.masked("sent \(said) again")
    #expect(masked.contains("***") && masked.hasSuffix(" again"))
    #expect(!masked.contains("cmV0c") && !masked.contains("Y3Jl") && !masked.contains("ZWNy"), "\(masked)")
  }

  @Test func lettersOfOtherScriptsHaveCases() throws {
    let command = try #require(ProgramCommand("camera --password 'Größe Ärger'"))
    for said in ["GRÖSSE ÄRGER", "größe ärger", "4772c3b6c39f6520c384726765720a"] {
      #expect(command.mask.masked("x \(said)").hasPrefix("x ***"), "\(said)")
    }
  }

  @Test func basicAuthorizationIsTheSamePassword() throws {
    for written in ["ffmpeg -i rtsp://admin:hunter2@cam/", "curl -u admin:hunter2 cam", "curl -uadmin:hunter2 cam"] {
      let command = try #require(ProgramCommand(written))
      #expect(command.mask.masked("sent YWRtaW46aHVudGVyMg==") == "sent ***")
    }
  }

  /// One of two or three signs is part of many words.
  @Test func aShortPasswordIsAWordOfItsOwn() throws {
    let command = try #require(ProgramCommand("sshpass -p pw ssh cam"))
    #expect(
      command.mask.masked("pw is wrong, 'pw' (pw), pwned, spw, 3pw, pw")
        == "*** is wrong, '***' (***), pwned, spw, 3pw, ***")
  }

  /// A program that is still writing, or a text that somebody has cut.
  @Test func theBeginningOfAPasswordAtTheEndIsHidden() throws {
    let command = try #require(ProgramCommand("ffmpeg -i rtsp://admin:p%40ssword@cam/"))
    for said in ["open p@sswo", "open p%40s", "open p@s"] {
      #expect(command.mask.masked(said) == "open ***", "\(said)")
    }
    #expect(command.mask.masked("up") == "up")
  }

  /// What cannot be read as a command is shown in an error, and hides the same.
  @Test func anUnfinishedCommandIsMaskedToo() {
    #expect(CredentialMask.masked(command: "exec:mosquitto_sub -P hunter2  'x") == "exec:mosquitto_sub -P ***  'x")
    #expect(CredentialMask.masked(command: "exec:mysql -phunter2 \"") == "exec:mysql -p*** \"")
    #expect(CredentialMask.masked(command: "half an hour") == "half an hour")
  }

  /// Signs that stand for others in every form, as many as fit.
  @Test func manyEscapesCostLittle() throws {
    let signs = String(repeating: #"\%25+&amp;"#, count: 200)
    let command = try #require(ProgramCommand("camera --password '" + signs + "'"))
    let masked = command.mask.masked(String(repeating: signs, count: 3) + "x")
    #expect(masked.hasSuffix("x") && masked.contains("***"))
  }
}
