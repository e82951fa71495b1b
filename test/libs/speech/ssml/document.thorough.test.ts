/** Random documents: no text is lost between their elements. */
import { assert, describe, it } from "@effect/vitest"
import { assertLaws, read, seeded, textOf, wordsOf } from "../laws.ts"

describe("the tokens of SSML", () => {
  it("lose no text, for any elements around it", () => {
    const random = seeded(11)
    const pick = <A>(from: ReadonlyArray<A>): A => from[Math.floor(random() * from.length)] as A
    const texts = [
      "One two. ",
      "a&lt;b ",
      "&#x1F600;",
      "Dr. Who,",
      "(x) ",
      "你好。",
      "é",
      "&amp;&amp; ",
      "\r\n ",
      "- ",
      "long ".repeat(40)
    ]
    const tags = ["p", "s", "lang", "emphasis", "prosody rate='slow'", "style emotion='sad'", "phoneme ph='a'"]
    const make = (depth: number): string => {
      const [text, tag] = [pick(texts), pick(tags)]
      if (depth > 7) return text
      const inner = tag.startsWith("phoneme") ? pick(texts.filter((one) => one.trim() !== "")) : make(depth + 1)
      return `${text}<${tag}>${inner}</${tag.split(" ")[0]}>${pick([make(depth + 2), pick(texts), "<break/>", "<mark name='m'/>"])}`
    }
    const entities: Readonly<Record<string, string>> = { "&lt;": "<", "&amp;": "&", "&#x1F600;": "😀" }
    for (let round = 0; round < 200; round += 1) {
      const input = `<speak>end ${make(0)}</speak>`
      const reading = read(input)
      assertLaws(input, reading)

      const expected = input.replaceAll(/<[^>]*>/gu, "").replaceAll(/&[^;]*;/gu, (entity) => entities[entity] ?? "")
      assert.strictEqual(textOf(reading).replaceAll(/\s/gu, ""), expected.replaceAll(/\s/gu, ""))
      const marked = wordsOf(reading)
        .join("")
        .replaceAll(/<[^>]*>/gu, "")
      const letters = (text: string) => (text.match(/[\p{L}\p{N}]/gu) ?? []).join("")
      assert.strictEqual(letters(marked), letters(input.replaceAll(/<[^>]*>/gu, "")))
    }
  })
})
