import { assert, describe, it } from "@effect/vitest"
import { read, textOf } from "../laws.ts"

const sayAs = (attributes: string, content: string, locale = "en-US") =>
  textOf(read(`<speak><say-as ${attributes}>${content}</say-as></speak>`, { locale }))

describe("the content of say-as", () => {
  it.each([
    ["characters", "a-b1", "A dash B 1"],
    ["spell-out", "héß", "H É ß"],
    ["digits", "12 34", "1 2 3 4"],
    ["telephone", "+1 (555) 010-99", "plus 1, 5 5 5, 0 1 0, 9 9"],
    ["cardinal", "1,234", "one thousand two hundred thirty-four"],
    ["number", "-3.05", "minus three point zero five"],
    [
      "cardinal",
      "999,999,999,999,999",
      ["trillion", "billion", "million", "thousand"].map((scale) => `nine hundred ninety-nine ${scale} `).join("") +
        "nine hundred ninety-nine"
    ],
    ["cardinal", "1000000000000000", "one zero zero zero zero zero zero zero zero zero zero zero zero zero zero zero"],
    ["cardinal", "XIV", "XIV"],
    ["ordinal", "23", "twenty-third"],
    ["ordinal", "101st", "one hundred first"],
    ["date", "2024-03-05", "March fifth, twenty twenty-four"],
    ["date", "3/5/2009", "March fifth, two thousand nine"],
    ["time", "3:05pm", "three oh five P M"],
    ["time", "12:00", "twelve o'clock"],
    ["unit", "5 km", "five kilometers"],
    ["unit", "1 kg", "one kilogram"],
    ["date", "someday", "someday"]
  ])("as %s: %s is spoken as %s", (kind, content, spoken) =>
    assert.strictEqual(sayAs(`interpret-as="${kind}"`, content), spoken)
  )

  it.each([
    ["dmy", "3/5/2009", "May third, two thousand nine"],
    ["mdy", "3/5/09", "March fifth, two thousand nine"],
    ["ymd", "2009.5.3", "May third, two thousand nine"],
    ["my", "5/1999", "May nineteen ninety-nine"],
    ["md", "12-31", "December thirty-first"],
    ["y", "1905", "nineteen oh five"],
    ["mdy", "13/45/2000", "13/45/2000"]
  ])("as a date of the format %s: %s is spoken as %s", (format, content, spoken) =>
    assert.strictEqual(sayAs(`interpret-as="date" format="${format}"`, content), spoken)
  )

  it("becomes words in the languages of the verbaliser, with the day first outside America", () => {
    assert.strictEqual(sayAs(`interpret-as="date"`, "3/5/2009", "en-GB"), "the third of May, two thousand and nine")
    assert.strictEqual(sayAs(`interpret-as="cardinal"`, "12", "de-DE"), "zwölf")
    assert.strictEqual(sayAs(`interpret-as="ordinal"`, "3", "de-DE"), "dritte")
    assert.strictEqual(sayAs(`interpret-as="date"`, "3/5/2009", "de-DE"), "dritter Mai zweitausendneun")
    assert.strictEqual(sayAs(`interpret-as="cardinal"`, "12", "fi-FI"), "12")
  })

  it.each([
    ["es-ES", "ordinal", "3", "tercero"],
    ["es-ES", "date", "1/5/2009", "uno de mayo de dos mil nueve"],
    ["es-MX", "cardinal", "1,234.5", "mil doscientos treinta y cuatro punto cinco"],
    ["fr-FR", "ordinal", "3", "troisième"],
    ["fr-FR", "characters", "a.b", "A point B"],
    ["fr-BE", "cardinal", "91", "nonante et un"],
    ["fr-FR", "time", "9h30", "neuf heures trente"],
    ["it-IT", "ordinal", "3", "terzo"],
    ["it-IT", "unit", "5 kg", "cinque chilogrammi"],
    ["pt-BR", "ordinal", "3", "terceiro"],
    ["pt-BR", "cardinal", "2.000.000.016", "dois bilhões e dezesseis"],
    ["pt-PT", "cardinal", "2.000.000.016", "dois mil milhões e dezasseis"],
    ["pt-PT", "telephone", "912 345", "9 1 2, 3 4 5"]
  ])("in %s as %s: %s is spoken as %s", (locale, kind, content, spoken) =>
    assert.strictEqual(sayAs(`interpret-as="${kind}"`, content, locale), spoken)
  )
})
