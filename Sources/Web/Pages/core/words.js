import { concat, part } from "./bytes.js";
import { sha256 } from "./digest.js";

/** 256 words that sound distinct, one for each byte value. The same list as CheckWords.swift. */
export const wordList = `
  acorn album amber anchor angel ankle apple apron arrow aspen attic autumn badge badger bagel baker bamboo banjo
  barn barrel basil bear beaver bench berry bicycle birch biscuit blanket blossom bonnet boot bottle bread breeze
  brick bridge brook broom brush bubble bucket button cabin cactus camel candle canoe carpet carrot castle cedar
  chair cherry chest chimney clay cliff clock cloud clover cobalt cocoa comet compass cookie copper coral corner
  cotton cradle crayon cricket crown crystal cup curtain daisy dance desert dolphin donkey door dragon drum duck
  eagle easel echo elbow elephant ember engine evening fabric falcon feather fence fern fiddle field finch flag
  flamingo flute forest fountain fox frog galaxy garden garlic giraffe glacier glove goat granite grape guitar
  hammer harbor hazel hedge helmet heron hippo honey horse igloo indigo island ivory jacket jaguar jelly jigsaw
  jungle kangaroo kayak kettle kitten ladder lagoon lantern lavender lemon leopard lilac linen lion lizard lobster
  locket lotus magnet mango maple marble market meadow melon mirror mitten monkey moon moss mountain muffin mushroom
  napkin needle nickel noodle nutmeg oasis ocean octopus olive onion orange orchid otter owl oyster paddle palm
  panda paper parrot peach peanut pebble pelican pencil penguin pepper piano pillow pirate planet plum pocket pony
  poppy potato pumpkin puzzle quilt rabbit radio raft rainbow raven ribbon river robin rocket saddle sailor salad
  sandal saturn scooter seal shadow shell silver sleigh snail soap sparrow spoon squirrel sunset table teapot tiger
  tractor trumpet tulip turtle umbrella valley velvet violin wagon walnut walrus water whale willow window wizard
  yogurt zebra zipper
`.trim().split(/\s+/);

/**
 * Four words that both ends show after pairing, so that comparing them reveals somebody in the middle.
 * @param {Uint8Array} label what the hash begins with
 * @param {Uint8Array} transcript hash of everything that was exchanged
 * @param {Uint8Array} parentKey SPKI
 * @param {Uint8Array} childKey SPKI
 * @returns {Promise<string[]>}
 */
export async function checkWords(label, transcript, parentKey, childKey) {
  const digest = await sha256(concat(label, part(transcript), part(parentKey), part(childKey)));
  return Array.from(digest.subarray(0, 4), (byte) => wordList[byte]);
}
