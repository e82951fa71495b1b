import { assert, describe, it } from "@effect/vitest"
import { Run } from "../../../../libs/speech/text/runs.ts"
import { clauseSplitter } from "../../../../libs/speech/text/clauses.ts"
import { plainStyle } from "../../../../libs/speech/text/style.ts"
import { expansionMax, verbalise } from "../../../../libs/speech/said/verbalise.ts"
import { assertLaws, read, seeded, textOf, wordsOf } from "../laws.ts"
import { asHeard, casesOf } from "./cases.ts"

const verbalised = (written: string, locale: string) =>
  textOf(read(written, { locale, textNormalization: true })).replaceAll("\n", " ")

/** The least share of a language's cases that is said as a careful reader would. */
const languages = [
  ["en", 0.99],
  ["en-world", 1],
  ["de", 0.97],
  ["es", 0.97],
  ["fr", 0.97],
  ["it", 0.97],
  ["pt", 0.97],
  ["world", 1]
] as const

describe("what is written is said as a careful reader would", () => {
  it.each(languages)("in at least its share of the cases of %s", (language, least) => {
    const cases = casesOf(language)
    const wrong = cases.flatMap(({ kind, line, locale, said, written }) => {
      const spoken = verbalised(written, locale)
      return said.some((reading) => asHeard(reading) === asHeard(spoken)) ? [] : [{ line, kind, written, spoken }]
    })
    assert.isAtMost(wrong.length, Math.floor(cases.length * (1 - least)), JSON.stringify(wrong, null, 1))
  })
})

describe("a text that comes in pieces", () => {
  /** Without the dashes that a clause may begin with: they are pauses. */
  const asPaused = (text: string) => asHeard(text.replaceAll("—", ""))

  it.each(["en", "en-world"])(
    "is said clause by clause as it is said whole, but for one of a hundred cases of %s",
    (language) => {
      const cases = casesOf(language)
      const unlike = cases.flatMap(({ locale, written }) => {
        const splitter = clauseSplitter()
        const clauses = [...Array.from(written).flatMap((letter) => splitter.push(letter)), ...splitter.flush()]
        const live = clauses.map(({ text }) => (/[\p{L}\p{N}]/u.test(text) ? verbalised(text, locale) : "")).join(" ")
        return asPaused(live) === asPaused(verbalised(written, locale)) ? [] : [{ written, live }]
      })
      assert.isAtMost(unlike.length, cases.length / 100, JSON.stringify(unlike, null, 1))
    }
  )
})

describe("the words of the input", () => {
  it("keep a mark each where they are written, with the punctuation around them", () => {
    const reading = read("She paid ($5 million), on Jan. 5 at 5 km.", { textNormalization: true })
    assert.deepStrictEqual(wordsOf(reading), ["She", "paid", "($5", "million),", "on", "Jan.", "5", "at", "5", "km."])
  })

  it("share a mark where one word is said for several", () => {
    assert.deepStrictEqual(wordsOf(read("Send USD 20 now.", { textNormalization: true })), ["Send", "USD 20", "now."])
  })

  it("stay as they are when nobody asks, and in languages without a table", () => {
    assert.strictEqual(textOf(read("Dr. 5 km")), "Dr. 5 km")
    assert.strictEqual(verbalised("5 km", "fi-FI"), "5 km")
  })

  it("are said inside SSML, where say-as and sub are left alone", () => {
    const input = `<speak><p>Pay $5 to <sub alias="W3C 5">x</sub> &#x24;6</p></speak>`
    const reading = read(input, { textNormalization: true })
    assert.strictEqual(textOf(reading), "Pay five dollars to W3C 5 six dollars")
    assert.deepStrictEqual(wordsOf(reading), ["Pay", "$5", "to", "x", "&#x24;6"])
  })

  it("keep the place of a letter that stood for several", () => {
    const reading = read("an eﬃcient Ｈｅｌｌｏ", { textNormalization: true })
    assert.strictEqual(textOf(reading), "an efficient Hello")
    assert.deepStrictEqual(wordsOf(reading), ["an", "eﬃcient", "Ｈｅｌｌｏ"])
  })
})

const locales = ["en-US", "en-GB", "de-DE", "es-ES", "es-MX", "fr-FR", "fr-BE", "it-IT", "pt-BR", "pt-PT"]

const pieces = (
  "0 1 7 12 99 100 1,234 1.5 2024 1980s 31st $ € £ ¢ % ° °C km /h m² : . , ; - – — − + = ~ ± × ÷ ^ ² ½ ⅓ √ # @ & § ( ) [ ] ]( " +
  "http:// x.org a@b.org .ts () _ __ * ** ` ``` | \" ' ’ ′ ″ “ ” May Jan. Mon. Dr. St. No. e.g. a.m. pm VIII IV I II Henry " +
  "Chapter l'8% n.º p. m. siglo XXIe Louis h 30 ene. R$ M€ mil 21 200 personas 3. 3.5. Uhr Mio. z. B. der Ludwig Mo–Fr 80er CEO NASA API's foo bar é ß 日本 🎉 👍🏽 🇩🇪 1️⃣ ⑳ Ⅳ ﬃ Ａ 𝐇 \u00ad \u200b \ud800 \udc00 \n \r\n \t \u00a0 \u202f"
).split(" ")

describe("any text", () => {
  const random = seeded(47)
  const any = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  const text = () =>
    Array.from(
      { length: any(1, 12) },
      () => (pieces[any(0, pieces.length - 1)] ?? "") + (random() < 0.4 ? " " : "")
    ).join("")
  const texts = Array.from({ length: 800 }, text)

  it.each(locales)("is read by the laws of every reading in %s", (locale) => {
    for (const input of texts) {
      const runs = verbalise([plainRun(input)], locale)
      assert.isTrue(
        runs.every((run) => run._tag !== "Text" || run.starts.length === run.text.length),
        input
      )
      if (/[\p{L}\p{N}]/u.test(input)) assertLawsIfRead(input, locale)
    }
  })

  it.each(locales)("grows by its bound at most in %s", (locale) => {
    for (const input of texts) {
      const length = verbalise([plainRun(input)], locale).reduce(
        (sum, run) => sum + (run._tag === "Text" ? run.text.length : 0),
        0
      )
      assert.isAtMost(length, Math.max(64, input.length) * expansionMax, input)
    }
  })
})

const plainRun = (input: string) => {
  const starts = Int32Array.from({ length: input.length }, (_, index) => index)
  return Run.Text(
    input,
    starts,
    starts.map((start) => start + 1),
    plainStyle
  )
}

const assertLawsIfRead = (input: string, locale: string) => {
  try {
    assertLaws(input, read(input, { locale, textNormalization: true }))
  } catch (error) {
    if (!String(error).includes("there is nothing to say") && !String(error).includes("no voice")) throw error
  }
}
