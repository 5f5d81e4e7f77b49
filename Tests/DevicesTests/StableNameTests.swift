import TestSupport
import Testing

@testable import Devices

/// Devices that come back under another number.
@Suite struct StableNameTests {
  private func machine() throws -> FakeRoot {
    let root = try FakeRoot(["/dev/video0": "", "/dev/video2": ""])
    try root.link("/dev/v4l/by-id/usb-Maker_Cot_0001-video-index0", to: "../../video0")
    try root.link("/dev/v4l/by-path/pci-0000:00:14.0-usb-0:2:1.0-video-index0", to: "../../video0")
    try root.link("/dev/v4l/by-path/pci-0000:00:14.0-usb-0:3:1.0-video-index0", to: "../../video2")
    return root
  }

  @Test func aCameraIsFoundUnderAnotherNumber() throws {
    let root = try machine()
    let name = StableName(root.files)
    #expect(name.node(for: "/dev/video0") == "/dev/video0")
    name.remember(node: "/dev/video0")
    try root.remove("/dev/video0")
    try root.write("/dev/video4", "")
    try root.link("/dev/v4l/by-id/usb-Maker_Cot_0001-video-index0", to: "../../video4")
    #expect(name.node(for: "/dev/video0") == "/dev/video4")
  }

  @Test func anotherCameraUnderItsNumberIsNotMistakenForIt() throws {
    let root = try machine()
    let name = StableName(root.files)
    name.remember(node: "/dev/video0")
    // Both were unplugged, and came back the other way round.
    try root.link("/dev/v4l/by-id/usb-Maker_Cot_0001-video-index0", to: "../../video2")
    #expect(name.node(for: "/dev/video0") == "/dev/video2")
  }

  @Test func withoutASerialNumberItsSocketIsRemembered() throws {
    let root = try machine()
    let name = StableName(root.files)
    name.remember(node: "/dev/video2")
    try root.write("/dev/video5", "")
    try root.link("/dev/v4l/by-path/pci-0000:00:14.0-usb-0:3:1.0-video-index0", to: "../../video5")
    #expect(name.node(for: "/dev/video2") == "/dev/video5")
  }

  @Test func whileItIsGoneTheConfiguredNodeIsTried() throws {
    let root = try machine()
    let name = StableName(root.files)
    name.remember(node: "/dev/video0")
    try root.remove("/dev/v4l/by-id/usb-Maker_Cot_0001-video-index0")
    #expect(name.node(for: "/dev/video0") == "/dev/video0")
  }

  @Test func aCameraThatUdevDoesNotKnowKeepsItsNode() throws {
    let name = StableName(try FakeRoot(["/dev/video0": ""]).files)
    name.remember(node: "/dev/video0")
    #expect(name.node(for: "/dev/video0") == "/dev/video0")
  }

  /// Two cameras of one model that have the same serial number: udev's link leads to the one that was plugged in last.
  private func twins() throws -> FakeRoot {
    let root = try machine()
    for (node, socket) in [("video0", "1-2"), ("video2", "1-3")] {
      let device = "/sys/devices/usb1/\(socket)"
      try root.write("\(device)/idVendor", "046d\n")
      try root.write("\(device)/idProduct", "0825\n")
      try root.write("\(device)/serial", "00000001\n")
      try root.write("\(device)/\(socket):1.0/video4linux/\(node)/name", "Webcam\n")
      try root.link("\(device)/\(socket):1.0/video4linux/\(node)/device", to: "../..")
      try root.link(
        "/sys/class/video4linux/\(node)", to: "../../devices/usb1/\(socket)/\(socket):1.0/video4linux/\(node)")
    }
    return root
  }

  @Test(arguments: ["/dev/video0", "/dev/v4l/by-id/usb-Maker_Cot_0001-video-index0"])
  func camerasWithTheSameSerialNumberAreToldApartByTheirSockets(configured: String) throws {
    let root = try twins()
    let name = StableName(root.files)
    #expect(name.sharesSerialNumber("/dev/video0") && name.sharesSerialNumber("/dev/video2"))
    name.remember(node: configured)
    try root.link("/dev/v4l/by-id/usb-Maker_Cot_0001-video-index0", to: "../../video2")
    #expect(name.node(for: configured) == "/dev/video0")
  }

  @Test func theSecondNodeOfOneCameraIsNoTwin() throws {
    let root = try twins()
    try root.write("/sys/devices/usb1/1-3/serial", "00000002\n")
    try root.write("/sys/devices/usb1/1-2/1-2:1.0/video4linux/video1/name", "Webcam\n")
    try root.link("/sys/devices/usb1/1-2/1-2:1.0/video4linux/video1/device", to: "../..")
    try root.link("/sys/class/video4linux/video1", to: "../../devices/usb1/1-2/1-2:1.0/video4linux/video1")
    #expect(!StableName(root.files).sharesSerialNumber("/dev/video0"))
  }

  @Test(arguments: ["hw:1", "plughw:1", "plughw:1,0", "hw:1,0,2"])
  func aSoundCardIsFoundUnderAnotherNumber(pcm: String) throws {
    let root = try FakeRoot(["/sys/class/sound/card0/id": "PCH\n", "/sys/class/sound/card1/id": "Cot\n"])
    let name = StableName(root.files)
    #expect(name.pcm(for: pcm) == pcm)
    name.remember(pcm: pcm)
    try root.write("/sys/class/sound/card1/id", "Radio\n")
    try root.write("/sys/class/sound/card12/id", "Cot\n")
    #expect(name.pcm(for: pcm) == pcm.replacing("1", with: "12", maxReplacements: 1))
    try root.remove("/sys/class/sound/card12")
    #expect(name.pcm(for: pcm) == pcm)
  }

  @Test(arguments: ["default", "plughw:CARD=Cot", "hw:", "hw:x", "dsnoop:1", "null", "hw:99999999999999999999"])
  func otherNamesStayAsTheyAre(pcm: String) throws {
    let root = try FakeRoot(["/sys/class/sound/card1/id": "Cot\n"])
    let name = StableName(root.files)
    name.remember(pcm: pcm)
    #expect(name.pcm(for: pcm) == pcm)
  }
}
