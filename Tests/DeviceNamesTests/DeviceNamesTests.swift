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
    let names: [(String, VideoDevice?)] = [
      ("auto", .auto), ("test", .test), ("/dev/v4l/by-id/usb-x", .camera(path: "/dev/v4l/by-id/usb-x")),
      ("file:/tmp/a b.y4m", .file(path: "/tmp/a b.y4m")), ("", nil), ("video0", nil), ("file:", nil), ("none", nil),
      ("/dev/\u{1b}[2J", nil), ("rpicam:0", .raspberryPi(number: 0)), ("rpicam:7", .raspberryPi(number: 7)),
      ("rpicam:", nil), ("rpicam:8", nil), ("rpicam:00", nil), ("rpicam:-1", nil), ("exec:", nil), ("exec: ", nil),
      ("exec:\"", nil), ("exec:\"\"", nil),
    ]
    check(names)
    #expect(VideoDevice("exec:ffmpeg -i x")?.description == "exec:ffmpeg -i x")
  }

  @Test func aCommandIsSplitAtSpacesOutsideQuotes() {
    #expect(ProgramCommand("/usr/bin/a  -b 'c d'e \"f 'g\" ''")?.words == ["/usr/bin/a", "-b", "c de", "f 'g", ""])
    #expect(ProgramCommand("a $HOME `b` ; c > d")?.words == ["a", "$HOME", "`b`", ";", "c", ">", "d"])
    #expect(ProgramCommand("a 'b") == nil && ProgramCommand("") == nil && ProgramCommand("a\nb") == nil)
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
