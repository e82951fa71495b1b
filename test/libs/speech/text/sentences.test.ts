import { assert, describe, it } from "@effect/vitest"
import { read } from "../laws.ts"

const sentencesOf = (input: string, locale: string) =>
  read(input, { locale }).sentences.map(({ start, end }) => input.slice(start, end))

describe("the sentences of a text", () => {
  // A stroke stands where a sentence ends.
  it.each([
    ["en-US", "One. |Two! |Three? |Four"],
    ["en-US", "Dr. Smith met Mr. and Mrs. Jones. |Then they left."],
    ["en-US", "J. R. R. Tolkien wrote it. |He was in the U.S. Army."],
    ["en-US", "He came to the U.S. |He stayed. |This is plan B. |Then we go."],
    ["en-US", "So did I. |Peter left. |It was I. |J. Peter left."],
    ["en-US", "See e.g. Fig. 3 and No. 5. |No. |Really."],
    ["en-US", "Pi is 3.14 or so. |It cost $5.50. |It was 1999. |Then it went."],
    ["en-US", "1. First item. |2. Second item."],
    ["en-US", "“Really?” she asked. |“Yes!” |They left."],
    ["en-US", `"Really?" she asked. |Then "No." |He left.`],
    ["en-US", "Visit https://a.com/x?Y=1!Z now. |Or a.b.C.D soon."],
    ["en-US", "Wait... what? |Yes. . . |Yahoo! is a company. |OK."],
    ["en-US", "It is 5 p.m. already. |Go."],
    ["en-US", "It ended (or so they said). |(It did not.) |Truly."],
    ["en-US", "A heading\n|Then a sentence,\nwrapped here. |Next\n\n|and this"],
    ["en-US", "... so it began.\n|- one\n|- two"],
    ["de-DE", "Am 3. Oktober kam Hr. Müller, z.B. um Nr. 5 zu sehen. |Er ging. |Es war der 12. |Dann kam er."],
    ["de-DE", "Im 19. Jahrhundert und z. B. in der 2. Auflage. |Sie hat die 2. |Dann kostet es 3 Mio. € im Jahr."],
    ["es-ES", "Vive en EE. UU. desde mayo. |Y 3 p. ej. aquí."],
    ["fr-FR", "Mme. Dupont est là. |M. Durand aussi."],
    ["es-ES", "¿Qué tal? |¡Bien! |El Sr. García llegó."],
    ["zh-CN", "你好，世界。|我们走吧！|好吗？|好。"],
    ["ja-JP", "「行くよ。」|と言った。"],
    ["hi-IN", "नमस्ते। |आप कैसे हैं?"]
  ])("end at the strokes (%s): %s", (locale, marked) => {
    const expected = marked.split("|")
    assert.deepStrictEqual(
      sentencesOf(expected.join(""), locale),
      expected.map((sentence) => sentence.trim())
    )
  })
})
