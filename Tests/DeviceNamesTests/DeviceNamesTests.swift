import DeviceNames
import Testing

@Suite struct DeviceNamesTests {
  private func check<Name: ConfigurationText>(_ names: [(String, Name?)]) {
    for (text, name) in names {
      #expect(Name(text) == name, "\(text)")
      if let name { #expect(name.description == text) }
    }
  }

  @Test func cameras() {
    let names: [(String, VideoDevice.Kind?, argument: String)] = [
      ("auto", .auto, ""), ("test", .test, ""), ("/dev/v4l/by-id/usb-x", .v4l2, "dev/v4l/by-id/usb-x"),
      ("file:/tmp/a b.y4m", .file, "/tmp/a b.y4m"), ("", nil, ""), ("video0", nil, ""), ("file:", nil, ""),
      ("none", nil, ""), ("tests", nil, ""), ("autos", nil, ""), ("/", nil, ""), ("/dev/\u{1b}[2J", nil, ""),
      ("rpicam:0", .raspberryPi, "0"), ("rpicam:7", .raspberryPi, "7"), ("rpicam:", nil, ""), ("rpicam:8", nil, ""),
      ("rpicam:00", nil, ""), ("rpicam:-1", nil, ""), ("exec:", nil, ""), ("exec: ", nil, ""), ("exec:\"", nil, ""),
      ("exec:\"\"", nil, ""),
    ]
    for (text, kind, argument) in names {
      let device = VideoDevice(text)
      #expect(device?.kind == kind, "\(text)")
      if let device { #expect(device.description == text && device.argument == argument) }
    }
    #expect(VideoDevice("auto") == .auto && VideoDevice("test") == .test)
    #expect(
      VideoDevice.allowed
        == "auto, test, a device such as /dev/video0, rpicam:0, file:/path/clip.y4m, or \"exec:COMMAND\" for a program that "
        + "writes Y4M")
    #expect(VideoDevice("/dev/video4")?.nodes == ["/dev/video4"] && VideoDevice.auto.nodes == ["/dev/video*"])
    #expect(VideoDevice("exec:ffmpeg -i x")?.description == "exec:ffmpeg -i x")
  }

  @Test func aCommandIsSplitAtSpacesOutsideQuotes() {
    #expect(ProgramCommand("/usr/bin/a  -b 'c d'e \"f 'g\" ''")?.words == ["/usr/bin/a", "-b", "c de", "f 'g", ""])
    #expect(ProgramCommand("a $HOME `b` ; c > d")?.words == ["a", "$HOME", "`b`", ";", "c", ">", "d"])
    #expect(ProgramCommand("a 'b") == nil && ProgramCommand("") == nil && ProgramCommand("a\nb") == nil)
  }

  /// What people write, and what is shown of it.
  @Test(arguments: [
    (
      "ffmpeg -i rtsp://admin:SECRETPW@192.0.2.1/h264 -f yuv4mpegpipe -",
      "ffmpeg -i rtsp://***@192.0.2.1/h264 -f yuv4mpegpipe -"
    ),
    // Signs that ought to be escaped in a URL.
    ("ffmpeg -i rtsp://admin:OTHERPW@x/y@cam:554/1", "ffmpeg -i rtsp://***@cam:554/1"),
    ("ffmpeg -i rtsp://admin:12/OTHERPW@cam", "ffmpeg -i rtsp://***@cam"),
    ("ffmpeg -i rtsp://admin:OTHERPW#?@cam/1", "ffmpeg -i rtsp://***@cam/1"),
    ("ffmpeg -i http://cam:8080/x.mjpg", "ffmpeg -i http://cam:8080/x.mjpg"),
    ("ffmpeg -i http://cam/img@2x.jpg", "ffmpeg -i http://cam/img@2x.jpg"),
    ("curl http://cam/v?user=a&password=SECRETPW&x=1", "curl http://cam/v?user=a&password=***&x=1"),
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
    ("ffmpeg -keyint_min 30 -i '/dev/a b'", "ffmpeg -keyint_min 30 -i '/dev/a b'"),
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

  @Test func rotations() {
    let names: [(String, Orientation.Rotation?)] = [
      ("0", Orientation.Rotation.none), ("90", .quarter), ("180", .half), ("270", .threeQuarters), ("360", nil),
      ("-90", nil), ("+90", nil), ("090", nil), ("90.0", nil), ("", nil), ("45", nil), ("left", nil),
    ]
    check(names)
    #expect("\(Orientation(rotation: .quarter, isMirrored: true))" == "rotated by 90°, mirrored")
    var request = VideoRequest(width: 1280, height: 720, framesPerSecond: 30)
    #expect(request.pictureSize == (1280, 720))
    request.orientation.rotation = .threeQuarters
    #expect(request.pictureSize == (720, 1280))
  }

  @Test func microphones() {
    let names: [(String, AudioDevice?)] = [
      ("auto", .auto), ("none", .off), ("test", .test), ("plughw:CARD=Webcam", .pcm(name: "plughw:CARD=Webcam")),
      ("file:a.wav", .file(path: "a.wav")), ("", nil), ("file:", nil), ("null", nil), ("~", nil),
      ("/dev/snd/pcmC0D0c", nil), ("hw:0 0", nil),
    ]
    check(names)
  }

  @Test func speakers() {
    let names: [(String, SpeakerDevice?)] = [
      ("auto", .auto), ("none", .off), ("null", .null), ("plughw:1", .pcm(name: "plughw:1")),
      ("file:/a b.wav", .file(path: "/a b.wav")), ("", nil), ("file:", nil), ("test", nil),
    ]
    check(names)
  }

  @Test func lights() {
    let chip = "/dev/gpiochip0"
    let names: [(String, LightDevice?)] = [
      ("none", .off), ("simulated", .simulated),
      ("gpio:/dev/gpiochip0/17", .gpio(chip: chip, line: .offset(17), isActiveLow: false)),
      ("gpio:/dev/gpiochip0/PIN_7", .gpio(chip: chip, line: .name("PIN_7"), isActiveLow: false)),
      ("gpio:/dev/gpiochip0/GPIO17:active-low", .gpio(chip: chip, line: .name("GPIO17"), isActiveLow: true)),
      ("led:/sys/class/leds/a", .led(path: "/sys/class/leds/a")),
      ("gpio:17", nil), ("gpio:/dev/gpiochip0", nil), ("gpio:/dev/gpiochip0/", nil), ("gpio:/dev/gpiochip0/+1", nil),
      ("gpio:/dev/gpiochip0/1x", nil), ("gpio:/dev/gpiochip0/:active-low", nil), ("gpio:/dev/gpiochip0/17:low", nil),
      ("led:led0", nil), ("on", nil),
    ]
    check(names)
  }
}
