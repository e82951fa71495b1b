import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type BookFormat, readBook, sourceSpan } from "#speech/book"
import { assertLaws, read, shown, turnsOf } from "./reading.ts"

type Row = readonly [name: string, input: string, turns: ReadonlyArray<string>]

const holds = (format: BookFormat, rows: ReadonlyArray<Row>) =>
  it.each(rows)("%s", (_, input, turns) => {
    const chapters = read(format, input, ["Alice", "The Hatter", "The"])
    assert.deepStrictEqual(shown(chapters), turns)
    assertLaws(input, chapters)
  })

describe("plain text", () =>
  holds("text", [
    [
      "has paragraphs between empty lines",
      "One.\n \nTwo.\r\n\r\n\r\nThree.",
      ["One. /300", "Two. /300", "Three. /1200"]
    ],
    [
      "joins lines that were wrapped",
      "It was late and\nthe lamp was out\nby now.",
      ["It was late and the lamp was out by now. /1200"]
    ],
    [
      "ends a paragraph at a line that ends a sentence with room left",
      "“Hello.”\nHe did not answer her at all, or not yet, or not there.",
      ["“Hello.” /300", "He did not answer her at all, or not yet, or not there. /1200"]
    ],
    ["reads a verse as a line", "The sea is wide\nAnd so is sleep", ["The sea is wide /150", "And so is sleep /1200"]],
    [
      "takes signs alone for a pause",
      "One.\n\n* * *\n\nTwo.\n\n—\n\nThree.",
      ["One. /900", "Two. /900", "Three. /1200"]
    ],
    ["has one space for white space", "  a \t b\u00a0c\u2003\u2003d  ", ["a b c d /1200"]],
    ["leaves out signs without width", "\ufeffhy\u00adphen\u200b \u200b zero\u2060", ["hyphen zero /1200"]],
    ["keeps joiners within pictures", "👩\u200d🚀", ["👩\u200d🚀 /1200"]],
    ["is never SSML", "<speak>no</speak>", ["\u2060<speak>no</speak> /1200"]],
    ["is nothing without a visible character", " \n\n\u200b\n", []],
    [
      "gives a paragraph to who is named before its colon",
      "ALICE: Hi.\n\nThe hatter : Tea?\n\nAlice said: no.\n\nThe: word\n\nAlice:\n\nBob: me",
      ["0 Hi. /300", "1 Tea? /300", "Alice said: no. /300", "2 word /300", "Alice: /300", "Bob: me /1200"]
    ]
  ]))

describe("the chapters of plain text", () => {
  it.each([
    "Chapter 1",
    "CHAPTER IV. The Mill",
    "CHAPTER IV.\nThe Mill",
    "Chapter Twenty-One — Home",
    "Part One",
    "Book the Third: The Track",
    "Chapter 7 The Boats",
    "Kapitel 3",
    "Teil zwei",
    "Chapitre premier",
    "Capítulo dos",
    "Capitolo XII: Il ritorno",
    "Prologue"
  ])("begin with %s", (heading) => {
    const chapters = read("text", `Before.\n\n${heading}\n\nThe text.`)
    assert.deepStrictEqual(
      chapters.map(({ title }) => title),
      [undefined, heading.replace("\n", " ")]
    )
    assert.deepStrictEqual(shown(chapters).at(-2), `${heading.replace("\n", " ")} /600`)
  })

  it.each([
    "Chapter 3 was the longest of all.",
    "Part of the plan",
    "Book clubs met here",
    "Part Time",
    "Chapter 1 The mill, and what came of it afterwards\nwas told by many. Nobody believed it.",
    "In Chapter 2"
  ])("do not begin with %s", (line) => {
    assert.deepStrictEqual(
      read("text", `Before.\n\n${line}\n\nThe text.`).map(({ title }) => title),
      [undefined]
    )
  })

  it("begin at a form feed", () => {
    const chapters = read("text", "One.\n\fTwo,\nstill.\n\f\n\nChapter 3\n\nThree.")
    assert.deepStrictEqual(
      chapters.map(({ title }) => title),
      [undefined, undefined, "Chapter 3"]
    )
    assert.deepStrictEqual(shown(chapters), ["One. /1200", "Two, still. /1200", "Chapter 3 /600", "Three. /1200"])
  })
})

describe("Markdown", () =>
  holds("markdown", [
    [
      "reads emphasis, links and code as text",
      'A *b* __c__ [d](e "f") `g` <http://h.org> ~~i~~.',
      ["A b c d g http://h.org i. /1200"]
    ],
    ["keeps brackets that are no link", "He said it [sic] \\*twice\\*.", ["He said it [sic] *twice*. /1200"]],
    ["reads brackets within a link", "See [[1]](#n1) and [a [b] c](d).", ["See [1] and a [b] c. /1200"]],
    ["follows references", "See [the map][m].\n\n[m]: http://x.org", ["See the map. /1200"]],
    ["decodes entities", "R&amp;D &lt;b&gt; &eacute;&nbsp;&#33; &nope; & c", ["R&D <b> é ! &nope; & c /1200"]],
    ["reads what a picture shows", "![A ship](a.png) ![](b.png) [![a sail](c.png)](d)", ["A ship a sail /1200"]],
    [
      "does not read code, comments and front matter",
      "---\ntitle: T\n---\nA\n\n```\nx\n```\n\n    y\n\n<!-- z -->\n\nB <!-- c -->d",
      ["A /300", "B d /1200"]
    ],
    ["pauses longer at a thematic break", "A\n\n***\n\nB", ["A /900", "B /1200"]],
    [
      "reads items, with their numbers",
      "- a\n- b\n  - c\n\n3. d\n4. e\n\nf",
      ["a /150", "b /150", "c /150", "3. d /150", "4. e /150", "f /1200"]
    ],
    ["reads quotes as paragraphs", "> a\n> b\n\nc", ["a b /300", "c /1200"]],
    [
      "reads cells row by row",
      "| a | b |\n|---|---|\n| *c* | d |\n\ne",
      ["a /0", "b /150", "c /0", "d /150", "e /1200"]
    ],
    ["does not read footnotes", "A[^1] b.\n\n[^1]: Note it.", ["A b. /1200"]],
    [
      "reads HTML as HTML",
      "a<br>b <b>c</b>\n\n<div>d &amp; <i>e</i></div>\n\n<p hidden>f</p>",
      ["a b c /300", "d & e /1200"]
    ],
    ["gives a paragraph to who is named in bold", "**Alice:** Hi\n\n**The Hatter**: Tea", ["0 Hi /300", "1 Tea /1200"]],
    ["is never SSML", "\\<speak> up", ["\u2060<speak> up /1200"]]
  ]))

describe("HTML", () =>
  holds("html", [
    ["takes any name for an element", "<constructor>a</constructor><a __proto__=x>b", ["ab /1200"]],
    [
      "ends a line with a block, and not within one",
      "<p>a <i>b</i>c<p>d<div>e<br>f</div>g",
      ["a bc /300", "d /300", "e f /300", "g /1200"]
    ],
    [
      "decodes entities and CDATA",
      "<?xml version='1.0'?><p>R&amp;D &#x2014; <![CDATA[<x>]]> &nope; & é</p>",
      ["R&D — <x> &nope; & é /1200"]
    ],
    [
      "does not read what is no text",
      "a<script>b<p></script><style>c</style><template>d</template><select><option>e</select>f",
      ["af /1200"]
    ],
    [
      "does not read what is hidden",
      "<p hidden>a<p>b<i aria-hidden=true>c</i><ul><li hidden>d<li>e</ul>",
      ["b /300", "e /1200"]
    ],
    [
      "does not read notes, page breaks and contents",
      "<nav epub:type='toc'>a</nav><p>b<a epub:type=noteref>1</a><span role=doc-pagebreak>9</span></p><aside epub:type='footnote x'>c</aside>",
      ["b /1200"]
    ],
    ["reads what a picture shows", "<p><img alt='O'>nce <img src=x> <img alt='a &amp; b'></p>", ["Once a & b /1200"]],
    ["pauses longer at a rule", "<p>a</p><hr><p>b</p><p>* * *</p><p>c</p>", ["a /900", "b /900", "c /1200"]],
    [
      "reads items and cells",
      "<ol><li>a<li>b<p>c</ol><table><tr><th>d<td>e<tr><td>f</table>g",
      ["a /150", "b /150", "c /150", "d /0", "e /150", "f /150", "g /1200"]
    ],
    ["gives a paragraph to who is named", "<p><b>Alice</b>: Hi</p><p>No</p>", ["0 Hi /300", "No /1200"]]
  ]))

describe("the chapters of a document", () => {
  const titles = (input: string, format: BookFormat = "markdown") => read(format, input).map(({ title }) => title)

  it.each<readonly [string, string, ReadonlyArray<string | undefined>]>([
    [
      "begin at the shallowest level that occurs twice",
      "# Book\n\nBy me.\n\n## One\n\n### Sub\n\n## Two\n\nx",
      ["Book", "One", "Two"]
    ],
    ["begin at the shallowest that occurs, else", "x\n\n## One\n\n### Sub\n\ny", [undefined, "One"]],
    [
      "begin at a shallower heading too, after the first",
      "## One\n\n## Two\n\n# Appendix\n\nx",
      ["One", "Two", "Appendix"]
    ],
    [
      "have no title for a front of several headings",
      "# Book\n\n### By me\n\n## One\n\n## Two",
      [undefined, "One", "Two"]
    ],
    ["are one without headings", "x\n\ny", [undefined]]
  ])("%s", (_, input, expected) => {
    assert.deepStrictEqual(titles(input), expected)
  })

  it("are named by the head where no heading does", () => {
    assert.deepStrictEqual(titles("<head><title>T &amp; U</title></head><p>x", "html"), ["T & U"])
    assert.deepStrictEqual(titles("<title>T</title><h3>H</h3><p>x", "html"), ["H"])
  })

  it("are one for each of several documents", () => {
    const documents = [{ input: "# A\n\n# B" }, { input: " " }, { input: "x", title: "Given" }]
    const chapters = readBook({ format: "markdown", documents, areChapters: true, speakers: [] })
    assert.deepStrictEqual(
      chapters.map(({ document, sections, title }) => ({ document, sections, title })),
      [
        { document: 0, sections: [{ title: "B", passage: 0, turn: 1 }], title: "A" },
        { document: 2, sections: [], title: "Given" }
      ]
    )
  })

  it("pause before their sections", () => {
    assert.deepStrictEqual(shown(read("markdown", "# A\n\nx\n\n---\n\n## B\n\ny")), [
      "A /600",
      "x /1400",
      "B /600",
      "y /1200"
    ])
  })
})

describe("passages", () => {
  const lengths = (input: string) =>
    read("text", input).flatMap(({ passages }) =>
      passages.map(({ turns }) => turns.map(({ pauseAfterMs, text }) => [text.length, pauseAfterMs]))
    )

  it("end between turns", () => {
    assert.deepStrictEqual(lengths(Array.from({ length: 5 }, () => "x".repeat(1_500)).join("\n\n")), [
      [
        [1_500, 300],
        [1_500, 300]
      ],
      [
        [1_500, 300],
        [1_500, 300]
      ],
      [[1_500, 1_200]]
    ])
  })

  it("cut a long paragraph behind a sentence, else at a space, else anywhere but within a character", () => {
    const [sentences] = read("text", "Ask Dr. Lee. ".repeat(500))
    for (const { text } of turnsOf(sentences === undefined ? [] : [sentences])) assert.match(text, /^Ask .* Lee\.$/u)
    assert.deepStrictEqual(lengths("word ".repeat(1_000)), [[[3_994, 0]], [[1_004, 1_200]]])
    assert.deepStrictEqual(lengths("😀".repeat(2_100)), [[[3_998, 0]], [[202, 1_200]]])
  })
})

describe("a place of a turn in its document", () => {
  it("covers from the first to the last character there", () => {
    const input = "<p>R&amp;D <b>is</b>\n\n &eacute;t&eacute;</p>"
    const [turn = { source: [], text: "" }] = turnsOf(read("html", input))
    const place = (part: string) => {
      const start = turn.text.indexOf(part)
      return input.slice(...sourceSpan(turn, start, start + part.length))
    }
    assert.strictEqual(turn.text, "R&D is été")
    assert.deepStrictEqual(["R&D", "&", "D", "is", "s é", "été", "té"].map(place), [
      "R&amp;D",
      "&amp;",
      "D",
      "is",
      "s</b>\n\n &eacute;",
      "&eacute;t&eacute;",
      "t&eacute;"
    ])
  })

  it("is known for what a joiner stands before, and for a piece of a long paragraph", () => {
    const [joined = { source: [] }] = turnsOf(read("text", "  <speak>"))
    assert.deepStrictEqual(sourceSpan(joined, 0, 3), [2, 4])
    const input = `${"word &amp; ".repeat(1_000)}end`
    const places = turnsOf(read("html", input)).map((turn) => sourceSpan(turn, 0, turn.text.length))
    assert.isAbove(places.length, 1)
    assert.strictEqual(places.map((place) => input.slice(...place)).join(" "), input)
  })
})

describe("a sample", () => {
  const sample = (name: string) => readFileSync(join(import.meta.dirname, "samples", name), "utf8")

  it("of Markdown is read whole", () => {
    const input = sample("lighthouse.md")
    const chapters = read("markdown", input, ["Maren", "Jonas"])
    assertLaws(input, chapters)
    assert.deepStrictEqual(
      chapters.map(({ sections, title }) => [title, sections]),
      [
        ["The Lighthouse Keeper's Clock", []],
        ["The First Night", [{ title: "What the log said", passage: 0, turn: 9 }]],
        ["The Second Night", []]
      ]
    )
    assert.deepStrictEqual(shown(chapters), [
      "The Lighthouse Keeper's Clock /600",
      "A short tale in two nights /1200",
      "The First Night /600",
      "Maren wound the clock at seven, as she had done every evening since the harbour closed. The lamp was lit; the sea was not. /300",
      "0 It is losing a minute a day. /300",
      "1 Then the sea is late as well. /900",
      "She wrote three things in the log: /300",
      "1. wind from the north /150",
      "2. no ship /150",
      "3. a light that was not hers /150",
      "Whoever keeps the lamp keeps the hour, and whoever keeps the hour is never alone. /800",
      "What the log said /600",
      "hour /0",
      "sea /150",
      "seven /0",
      "calm /150",
      "eight /0",
      "rising /1200",
      "The Second Night /600",
      "The light came back – nearer now. /300",
      "A drawing of two lamps /300",
      "0 Who are you? /300",
      "Nobody answered. /1200"
    ])
  })

  it("of a book's XHTML is read whole", () => {
    const input = sample("chapter.xhtml")
    const chapters = read("html", input, ["Ilse"])
    assertLaws(input, chapters)
    assert.deepStrictEqual(
      chapters.map(({ sections, title }) => [title, sections]),
      [["Chapter One The Ferry", [{ title: "On Deck", passage: 0, turn: 3 }]]]
    )
    assert.deepStrictEqual(shown(chapters), [
      "Chapter One The Ferry /600",
      "The ferry left at six—or so the timetable said. /300",
      "0 Two tickets & a coffee. /1400",
      "On Deck /600",
      "a rope /150",
      "a bell /150",
      "cracked /150",
      "port /0",
      "fare /150",
      "north /0",
      "<5> /900",
      "The bell rang. /1200"
    ])
  })
})
