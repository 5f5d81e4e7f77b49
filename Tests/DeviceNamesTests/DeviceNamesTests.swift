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
