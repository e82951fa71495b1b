import { assert, describe, it } from "@effect/vitest"
import { readInput } from "../../../libs/speech/read-input.ts"
import { computed } from "../../support/processor-time.ts"
import { fragments } from "./ssml/fragments.ts"
import { assertCovered, assertLaws, read, seeded } from "./laws.ts"

describe("a long text", () => {
  it("has a mark for every word once, in order, as it was sent", () => {
    const random = seeded(7)
    for (let round = 0; round < 60; round += 1) {
      const input = Array.from({ length: 600 }, () => fragments[Math.floor(random() * fragments.length)]).join("")
      const reading = read(input, { locale: ["en", "zh-CN", "de-DE", "th"][round % 4] ?? "en" })
      assertLaws(input, reading)
      assertCovered(input, reading)
      assertLaws(input, read(input, { textNormalization: true }))
    }
  })
})

describe("the longest input", () => {
  const lengthMax = 20_000
  const fill = (part: string) => part.repeat(Math.ceil(lengthMax / part.length)).slice(0, lengthMax)

  // The best of a few, and of this thread alone, so that a busy machine does not fail it.
  const bestMilliseconds = (input: string, textNormalization: boolean) => {
    let best = Infinity
    for (let round = 0; round < 5 && best >= 100; round += 1) {
      const { processorMs } = computed(() => readInput(input, { textNormalization, locale: "en-US" }))
      best = Math.min(best, processorMs)
    }
    return best
  }

  it.each([
    "The quick brown fox jumps over the lazy dog, again and again. ",
    "Dr. J. R. Smith paid $5.50 on 3/5/2024 at 5:30 pm (see www.example.com). ",
    "a. ",
    ". ",
    "? ",
    "(",
    "\"' ",
    "1.",
    "1,",
    "$",
    "x",
    "\n",
    "-",
    "J. ",
    "a@",
    "http://",
    "&",
    "1/",
    ".5",
    "😀",
    "e\u0301",
    "我们在北京大学学习人工智能。",
    "สวัสดีครับ",
    "東京",
    "\ud83d",
    "A.",
    "www.",
    "[[",
    ",."
  ])("takes less than 100 ms, even when it is made of %o", (part) => {
    assert.isBelow(bestMilliseconds(fill(part), false), 100)
    assert.isBelow(bestMilliseconds(fill(part), true), 100)
  })

  it.each([
    "<s>a b.</s>",
    "<mark name='a'/>",
    "<break time='1ms'/>a ",
    "&amp;",
    "&#65; ",
    "<!-- x -->",
    "<p><s>x</s></p>",
    "<sub alias='b'>a</sub>",
    "<prosody rate='slow'>a",
    "<a>",
    "</a>",
    "<![CDATA[x]]>",
    "&",
    "<",
    "&x;",
    "<a b='",
    "]]>"
  ])("takes less than 100 ms as SSML made of %o", (part) => {
    const input = `<speak>${fill(part).slice(0, lengthMax - 15)}</speak>`
    assert.isBelow(bestMilliseconds(input, false), 100)
    assert.isBelow(bestMilliseconds(input, true), 100)
  })
})
