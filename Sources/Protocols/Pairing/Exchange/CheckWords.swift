internal import Wire

/// Four short words that both ends show after pairing. They are derived from both identity keys and the whole
/// transcript, so comparing them reveals a man in the middle.
public struct CheckWords: Hashable, Sendable, CustomStringConvertible {
  public static let count = 4

  public let words: [String]

  init(transcript: [UInt8], parentKey: [UInt8], childKey: [UInt8], hashes: any Hashes) {
    var writer = PairingBytes.writer(label: "check words")
    for part in [transcript, parentKey, childKey] { writer.write(part: part) }
    words = hashes.sha256(writer.bytes).prefix(Self.count).map { Self.list[Int($0)] }
  }

  /// `maple otter candle river`.
  public var description: String { words.joined(separator: " ") }

  /// 256 words that a child knows and that sound distinct, one for each byte value.
  static let list: [String] = """
    acorn album amber anchor angel ankle apple apron arrow aspen attic autumn badge badger bagel baker bamboo banjo
    barn barrel basil bear beaver bench berry bicycle birch biscuit blanket blossom bonnet boot bottle bread breeze
    brick bridge brook broom brush bubble bucket button cabin cactus camel candle canoe carpet carrot castle cedar
    chair cherry chest chimney clay cliff clock cloud clover cobalt cocoa comet compass cookie copper coral corner
    cotton cradle crayon cricket crown crystal cup curtain daisy dance desert dolphin donkey door dragon drum duck
    eagle easel echo elbow elephant ember engine evening fabric falcon feather fence fern fiddle field finch flag
    flamingo flute forest fountain fox frog galaxy garden garlic giraffe glacier glove goat granite grape guitar
    hammer harbor hazel hedge helmet heron hippo honey horse igloo indigo island ivory jacket jaguar jelly jigsaw
    jungle kangaroo kayak kettle kitten ladder lagoon lantern lavender lemon leopard lilac linen lion lizard lobster
    locket lotus magnet mango maple marble market meadow melon mirror mitten monkey moon moss mountain muffin
    mushroom napkin needle nickel noodle nutmeg oasis ocean octopus olive onion orange orchid otter owl oyster
    paddle palm panda paper parrot peach peanut pebble pelican pencil penguin pepper piano pillow pirate planet plum
    pocket pony poppy potato pumpkin puzzle quilt rabbit radio raft rainbow raven ribbon river robin rocket saddle
    sailor salad sandal saturn scooter seal shadow shell silver sleigh snail soap sparrow spoon squirrel sunset
    table teapot tiger tractor trumpet tulip turtle umbrella valley velvet violin wagon walnut walrus water whale
    willow window wizard yogurt zebra zipper
    """.split(whereSeparator: \.isWhitespace).map(String.init)
}
