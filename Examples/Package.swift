// swift-tools-version: 6.2

import PackageDescription

// What somebody else builds on Cradle's library: a package of its own that uses nothing but the public product.
// docs/LIBRARY.md explains it.
//
//     swift run --package-path Examples Loopback

let webRTC: Target.Dependency = .product(name: "WebRTC", package: "cradle")

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "cradle", path: "..")],
  targets: [
    .target(name: "UDP", dependencies: [webRTC], path: "UDP"),
    .executableTarget(name: "Echo", dependencies: ["UDP", webRTC], path: "Echo"),
    .executableTarget(name: "Loopback", dependencies: [webRTC], path: "Loopback"),
    .executableTarget(name: "WHEPPlayer", dependencies: ["UDP", webRTC], path: "WHEPPlayer"),
  ]
)
