import { assert, describe, it } from "@effect/vitest"
import { readInput } from "../../../../libs/speech/read-input.ts"
import { computed } from "../../../support/processor-time.ts"
import { assertLaws, seeded } from "../laws.ts"

describe("any SSML", () => {
  it("is read or refused within 250 ms, without a throw, in ten thousand random documents", () => {
    const random = seeded(42)
    const pick = <A>(from: ReadonlyArray<A>): A => from[Math.floor(random() * from.length)] as A
    const names = [
      "p",
      "s",
      "prosody",
      "emphasis",
      "sub",
      "say-as",
      "mark",
      "break",
      "style",
      "voice",
      "phoneme",
      "audio",
      "speak",
      "x"
    ]
    const attributes = [
      "",
      ` rate="slow"`,
      ` pitch="+3st"`,
      ` rate="bad"`,
      ` alias="b c"`,
      ` interpret-as="characters"`,
      ` time="1s"`,
      ` interpret-as="date" format="mdy"`,
      ` emotion="sad"`,
      ` level="strong"`,
      ` name="m"`,
      ` __proto__="x"`,
      ` a='`,
      ` constructor="1"`
    ]
    const scraps = [
      "word ",
      "Dr. ",
      "&amp;",
      "&#x1F600;",
      "&bad;",
      "&#xD800;",
      "&#99999999999;",
      "&",
      "<",
      ">",
      "]]>",
      "<![CDATA[ c ]]>",
      "<!-- c -->",
      "<!--",
      "-->",
      "<?pi x?>",
      "<!DOCTYPE x>",
      "\ud83d",
      "\u0000",
      "\ufffe",
      "你好。",
      "😀",
      "\r\n",
      " ",
      "1,234.5 ",
      "<![",
      "</",
      "/>",
      "\u0085"
    ]
    const make = (depth: number): string => {
      let made = ""
      for (let count = Math.floor(random() * 5); count >= 0; count -= 1) {
        const name = pick(names)
        const isNested = depth < 6 && random() < 0.5
        const tag = `${name}${pick(attributes)}`
        if (isNested)
          made += random() < 0.9 ? `<${tag}>${make(depth + 1)}</${random() < 0.97 ? name : "y"}>` : `<${tag}/>`
        else made += random() < 0.75 ? "plain words. " : pick(scraps)
      }
      return made
    }
    const good = ["p", "s", "lang"]
    const makeGood = (depth: number): string =>
      `${pick(["One two. ", "Dr. Who &lt; you ", "你好。", `<sub alias="a b">c</sub>`, `<break/>`])}${
        depth < 5 ? ((name) => `<${name}>${makeGood(depth + 1)}</${name}>${makeGood(depth + 2)}`)(pick(good)) : "end"
      }`
    let [understood, slowest] = [0, 0]
    for (let round = 0; round < 10_000; round += 1) {
      const input =
        round % 4 === 0 ? `<speak>${makeGood(0)}</speak>` : `<speak>${make(0)}${random() < 0.95 ? "</speak>" : ""}`
      const { value: result, processorMs } = computed(() =>
        readInput(input, { textNormalization: round % 2 === 0, locale: "en-US" })
      )
      slowest = Math.max(slowest, processorMs)
      if (result._tag === "Success") {
        understood += 1
        assertLaws(input, result.success)
      } else {
        for (const { offset } of result.failure) assert.isTrue(offset >= 0 && offset <= input.length)
      }
    }
    assert.isAbove(understood, 2_500)
    assert.isBelow(slowest, 250)
  })
})
