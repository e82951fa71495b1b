import { assert, describe, it } from "@effect/vitest"
import { type Clause, clauseSplitter, readInput, ssmlClauseSplitter, ssmlOf } from "#speech"

/** The clauses of a text that comes in these pieces, and then ends. */
const clausesOf = (pieces: ReadonlyArray<string>): ReadonlyArray<Clause> => {
  const splitter = clauseSplitter()
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.flush()]
}
const textsOf = (clauses: ReadonlyArray<Clause>) => clauses.map(({ text }) => text)

const long = "word ".repeat(30)

const table: ReadonlyArray<readonly [name: string, text: string, clauses: ReadonlyArray<string>]> = [
  ["ends at sentences", "Hello there. How are you? Fine!", ["Hello there. ", "How are you? ", "Fine!"]],
  [
    "begins with a short clause",
    "Well of course, I can help, and more.",
    ["Well of course, ", "I can help, and more."]
  ],
  ["takes no clause of a word or two", "Yes, I can.", ["Yes, I can."]],
  ["goes on after a title", "I saw Dr. Smith. He left.", ["I saw Dr. Smith. ", "He left."]],
  ["goes on after an initial", "J. R. Smith came. He left.", ["J. R. Smith came. ", "He left."]],
  ["goes on after a number's sign", "See no. 5 there. Now.", ["See no. 5 there. ", "Now."]],
  ["ends after such a word that is one", "I said no. Then I left.", ["I said no. ", "Then I left."]],
  ["does not split a decimal", "It is 3.14 about. Yes.", ["It is 3.14 about. ", "Yes."]],
  ["keeps a list's number with its item", "3. Oil the gate.\n4. Paint it.", ["3. Oil the gate.\n", "4. Paint it."]],
  ["does not split an address", "Ask a.b@example.com now. Bye.", ["Ask a.b@example.com now. ", "Bye."]],
  ["goes on before a small letter", "Well... it is late. Go.", ["Well... it is late. ", "Go."]],
  ["ends at an empty line", "A heading\n\nThe text.", ["A heading\n\n", "The text."]],
  ["takes closing quotes along", 'He said "Stop." Then left.', ['He said "Stop." ', "Then left."]],
  ["ends Chinese sentences without a space", "你好。今天很好！再见", ["你好。", "今天很好！", "再见"]],
  [
    "cuts a long sentence at a space",
    `${long.repeat(3)}end.`,
    [long.repeat(3).slice(0, 400), `${long.slice(0, 50)}end.`]
  ],
  ["leaves text without words to what follows", "... ! Now then.", ["... ! Now then."]],
  ["has nothing of nothing", "", []]
]

describe("text that is still being written", () => {
  for (const [name, text, clauses] of table) {
    it(`is cut into clauses: ${name}`, () => {
      assert.deepStrictEqual(textsOf(clausesOf([text])), clauses)
      assert.deepStrictEqual(textsOf(clausesOf([...text])), clauses)
    })
  }

  it("is cut in the same places when it comes in halves of characters", () => {
    const text = `I saw 😀 there. 😀 It was late... 𝔞nd 𝔄 came. 🚂 ${"wörd😀 ".repeat(90)}end.`
    for (const length of [1, 2, 3, 5, 7]) {
      const pieces = Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
        text.slice(index * length, (index + 1) * length)
      )
      assert.deepStrictEqual(clausesOf(pieces), clausesOf([text]), `pieces of ${length}`)
    }
  })

  it("gives a clause as soon as the next word begins, and not before", () => {
    const splitter = clauseSplitter()
    assert.deepStrictEqual(splitter.push("Hello there."), [])
    assert.deepStrictEqual(splitter.push(" "), [])
    assert.deepStrictEqual(splitter.push("H"), [{ text: "Hello there. ", start: 0 }])
    assert.strictEqual(splitter.pending(), 1)
  })

  it("gives whole words when it has waited long enough, and a lone word at last", () => {
    const splitter = clauseSplitter()
    splitter.push("It costs forty")
    assert.deepStrictEqual(splitter.overdue(), [{ text: "It costs ", start: 0 }])
    assert.deepStrictEqual(splitter.overdue(), [{ text: "forty", start: 9 }])
    assert.deepStrictEqual(splitter.overdue(), [])
  })

  it("begins with a short clause again after a flush", () => {
    const splitter = clauseSplitter()
    splitter.push("Good morning.")
    assert.deepStrictEqual(textsOf(splitter.flush()), ["Good morning."])
    assert.deepStrictEqual(textsOf(splitter.push("In the evening, we rest")), ["In the evening, "])
  })

  it("takes a megabyte without a space in time that grows with it", () => {
    const clauses = clausesOf(["a".repeat(100_000)])
    assert.strictEqual(textsOf(clauses).join("").length, 100_000)
    assert.isAtMost(Math.max(...clauses.map(({ text }) => text.length)), 432)
  })
})

const ssmlClausesOf = (pieces: ReadonlyArray<string>): ReadonlyArray<Clause> => {
  const splitter = ssmlClauseSplitter()
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.flush()]
}

const ssmlTable: ReadonlyArray<readonly [name: string, text: string, clauses: ReadonlyArray<string>]> = [
  ["is cut as plain text without any", "Hello there. How are you?", ["Hello there. ", "How are you?"]],
  [
    "is not cut within an element, but behind its last sign",
    '<prosody rate="slow">It is late. Go home.</prosody> Then sleep.',
    ['<prosody rate="slow">It is late. Go home.</prosody> ', "Then sleep."]
  ],
  [
    "is cut behind a pause that ends a sentence, and not at one within it",
    'Wait <break time="300ms"/> here. <break time="300ms"/> And listen.',
    ['Wait <break time="300ms"/> here. <break time="300ms"/> ', "And listen."]
  ],
  [
    "has the tags of documents, paragraphs and sentences blank",
    "<speak><s>One.</s><s>Two.</s></speak>",
    ["      \n  \nOne.   \n  \n", "Two.   \n       \n"]
  ],
  [
    "has an XML declaration blank",
    "<?xml version='1.0'?> <speak>One.</speak>",
    ["                    \n       \nOne.       \n"]
  ],
  ["keeps entities and comments", "Tom &amp; Jerry. <!-- a. b --> Bye.", ["Tom &amp; Jerry. <!-- a. b --> ", "Bye."]],
  [
    "keeps an element whole that is longer than a clause",
    `<emphasis>${"word ".repeat(120)}</emphasis> Bye now.`,
    [`<emphasis>${"word ".repeat(120)}</emphasis> Bye now.`]
  ]
]

describe("text with elements of SSML", () => {
  it.each(ssmlTable)("%s", (_name, text, clauses) => {
    assert.deepStrictEqual(textsOf(ssmlClausesOf([text])), clauses)
    for (const pieces of [[...text], text.match(/\S*\s*/gu) ?? []]) {
      assert.deepStrictEqual(textsOf(ssmlClausesOf(pieces)), clauses)
    }
    for (const clause of ssmlClausesOf([text])) {
      const reading = readInput(ssmlOf(clause).input, { locale: "en-US", textNormalization: false })
      assert.strictEqual(reading._tag, "Success", clause.text)
    }
  })
  it("has each clause at its place", () => {
    const text = 'Hi <sub alias="you">u</sub>. <p>Well, <emphasis>no</emphasis>!</p> Yes &lt; 3. Bye.'
    const clauses = ssmlClausesOf([...text])
    let at = 0
    for (const { start, text: own } of clauses) {
      assert.strictEqual(start, at)
      at += own.length
    }
    assert.strictEqual(at, text.length)
    assert.isAbove(clauses.length, 2)
  })
  it.each<readonly [string, string, number]>([
    ["a < b", "< begins no tag; write &lt;", 2],
    ["Tom & Jerry", "& begins no entity that is known; write &amp;", 4],
    ["Hi &nbsp; you", "& begins no entity that is known; write &amp;", 3],
    ["<!DOCTYPE speak>", "< begins no tag; write &lt;", 0],
    ["<?php echo ?>", "< begins no tag; write &lt;", 0],
    ["<p><?xml version='1.0'?>", "an XML declaration comes before the document", 3],
    ["Hi </p>", "</p> closes nothing", 3],
    ["<emphasis>no</prosody>", "</prosody> closes <emphasis>", 12],
    [`${"<emphasis>".repeat(21)}`, "elements are more than 20 deep", 200],
    [`<sub alias="${"x".repeat(1_000)}`, "a tag is longer than 1000 characters", 0],
    [`<emphasis>${"x".repeat(4_000)}`, "an element is longer than 4000 characters", 0]
  ])("is refused with its place: %#", (text, message, offset) => {
    const before = "Good day. "
    for (const pieces of [[text], [...text]]) {
      const splitter = ssmlClauseSplitter()
      splitter.push(before)
      const faulty = pieces.find((piece) => {
        const isFaulty = splitter.faultIn(piece) !== undefined
        if (!isFaulty) splitter.push(piece)
        return isFaulty
      })
      assert.deepStrictEqual(
        splitter.faultIn(faulty ?? ""),
        { message, offset: offset + before.length },
        text.slice(0, 30)
      )
    }
  })
  it("says what is not ended, until it is", () => {
    const splitter = ssmlClauseSplitter()
    for (const [piece, place] of [
      ["Hi ", undefined],
      ["<emph", 3],
      ["asis>no", 3],
      ["</emphasis", 3],
      [">", undefined],
      [" &am", 27],
      ["p;", undefined]
    ] as const) {
      splitter.push(piece)
      assert.strictEqual(splitter.unclosed()?.offset, place, piece)
    }
  })
})
