import { assert, describe, it } from "@effect/vitest"
import { read, textOf, wordsOf } from "../laws.ts"

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
    ["time", "12:00", "twelve hundred"],
    ["unit", "5 km", "five kilometers"],
    ["unit", "1 kg", "one kilogram"],
    ["date", "someday", "someday"]
  ])("as %s: %s is spoken as %s", (kind, content, spoken) =>
    assert.strictEqual(sayAs(`interpret-as="${kind}"`, content), spoken)
  )

  it.each([
    ["dmy", "3/5/2009", "May third, two thousand nine"],
    ["mdy", "3/5/09", "March fifth, oh nine"],
    ["ymd", "2009.5.3", "May third, two thousand nine"],
    ["my", "5/1999", "May nineteen ninety-nine"],
    ["md", "12-31", "December thirty-first"],
    ["y", "1905", "nineteen oh five"],
    ["mdy", "13/45/2000", "13/45/2000"]
  ])("as a date of the format %s: %s is spoken as %s", (format, content, spoken) =>
    assert.strictEqual(sayAs(`interpret-as="date" format="${format}"`, content), spoken)
  )

  it("becomes words in English alone, with the day first in Great Britain", () => {
    assert.strictEqual(sayAs(`interpret-as="date"`, "3/5/2009", "en-GB"), "May third, two thousand nine")
    assert.strictEqual(sayAs(`interpret-as="cardinal"`, "12", "de-DE"), "12")
    assert.strictEqual(sayAs(`interpret-as="ordinal"`, "3", "de-DE"), "3.")
    assert.strictEqual(sayAs(`interpret-as="ordinal"`, "3", "fr-FR"), "3e")
    assert.strictEqual(sayAs(`interpret-as="characters"`, "a.b", "fr-FR"), "A . B")
  })
})

describe("text normalisation", () => {
  it.each([
    ["I have 1,234 of 42.", "I have one thousand two hundred thirty-four of forty-two."],
    ["It is -5 or 3.14, 007.", "It is minus five or three point one four, zero zero seven."],
    ["Paid $5.50, or £3 million (€1).", "Paid five dollars and fifty cents, or three million pounds (one euro)."],
    ["$0.99 and $1.2bn", "ninety-nine cents and one point two billion dollars"],
    ["On 3/5/2024 at 5:30 pm.", "On March fifth, twenty twenty-four at five thirty P M."],
    ["Since 1999, on Jan. 5th,", "Since nineteen ninety-nine, on January fifth,"],
    ["about 1500 people, 1914-1918", "about one thousand five hundred people, nineteen fourteen to nineteen eighteen"],
    ["5 km at 20°C, 50% of 10GB.", "five kilometers at twenty degrees Celsius, fifty percent of ten gigabytes."],
    ["See www.example.com/a (or https://x.org).", "See w w w dot example dot com slash a (or x dot org)."],
    ["Mail joe.doe@x.org.", "Mail joe dot doe at x dot org."],
    ["Dr. Lee of St. Paul's vs. Mr. Ray", "Doctor Lee of Saint Paul's versus Mister Ray"],
    ["Main St. is long, e.g. No. 5 etc. Yes.", "Main Street is long, for example number five et cetera. Yes."],
    ["the 2nd half, 1/2 or 3/4 & #7", "the second half, one half or three quarters and number seven"],
    ["v1.2 x86 B2B 10.0.0.1 No.", "v1.2 x86 B2B 10.0.0.1 No."],
    [
      "12345678901234567890",
      "one two three four five six seven eight nine zero one two three four five six seven eight nine zero"
    ]
  ])("speaks %s as %s", (input, spoken) =>
    assert.strictEqual(textOf(read(input, { textNormalization: true })).replaceAll("\n", " "), spoken)
  )

  it("marks spoken words where they are written, with the punctuation around them", () => {
    const reading = read("She paid ($5 million), on Jan. 5 at 5 km.", { textNormalization: true })
    assert.deepStrictEqual(wordsOf(reading), ["She", "paid", "($5 million),", "on", "Jan. 5", "at", "5 km."])
  })

  it("is off by default, and in other languages", () => {
    assert.strictEqual(textOf(read("Dr. 5 km")), "Dr. 5 km")
    assert.strictEqual(textOf(read("5 km", { locale: "de-DE", textNormalization: true })), "5 km")
  })

  it("works inside SSML, and leaves say-as and sub alone", () => {
    const input = `<speak><p>Pay $5 to <sub alias="W3C 5">x</sub> &#x24;6</p></speak>`
    const reading = read(input, { textNormalization: true })
    assert.strictEqual(textOf(reading), "Pay five dollars to W3C 5 six dollars")
    assert.deepStrictEqual(wordsOf(reading), ["Pay", "$5", "to", "x", "&#x24;6"])
  })
})
