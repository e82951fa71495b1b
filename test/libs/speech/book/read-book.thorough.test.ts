import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { type BookFormat, readBookInSteps } from "#speech/book"
import { stepLength } from "../../../../libs/speech/book/steps.ts"
import { computed } from "../../../support/processor-time.ts"
import { seeded } from "../laws.ts"
import { fragments } from "../ssml/fragments.ts"
import { assertCovered, assertLaws, read, turnsOf } from "./reading.ts"

const markup = [
  "# ",
  "## ",
  "- ",
  "1. ",
  "> ",
  "\n",
  "\n\n",
  "    ",
  "**",
  "_",
  "`",
  "```\n",
  "[a](b)",
  "[",
  "](",
  "![",
  "---\n",
  "| a |\n|---|\n",

  "<p>",
  "</p>",
  "<h1>",
  "</h1>",
  "<h2>",
  "<li>",
  "</li>",
  "<td>",
  "<br>",
  "<b>",
  "</b>",
  "<div hidden>",
  "</div>",
  "<ul>",

  "&amp;",
  "&nbsp;",
  "&eacute;",
  "&nGt;",
  "&shy;",
  "&#0;",
  "&",
  "<!--",
  "-->",
  "<![CDATA[",
  "]]>",
  "<speak>",
  "<img alt='a&lt;b'>",
  "\u00ad",
  "\ufeff",
  "Chapter 2",
  "Ann: ",
  "\f",
  "word word word. ".repeat(400)
]
const Text = Schema.Array(Schema.Literals([...fragments, ...markup]))

describe("a document of any text", () => {
  it.prop(
    "keeps the laws of books, however it is written",
    [Text, Schema.Literals(["text", "markdown", "html"])],
    ([parts, format]) => {
      const input = parts.join("")
      assertLaws(input, read(format, input, ["Ann"]))
    },
    { arbitrary: { runs: 600 } }
  )

  it("keeps them when it is long, too", () => {
    const random = seeded(11)
    const parts = [...fragments, ...markup]
    for (let round = 0; round < 300; round += 1) {
      const input = Array.from({ length: 60 }, () => parts[Math.floor(random() * parts.length)]).join("")
      for (const format of ["text", "markdown", "html"] as const) assertLaws(input, read(format, input, ["Ann"]))
    }
  })

  it.prop(
    "is read whole where it is plain text",
    [Text],
    ([parts]) => {
      // Signs alone are a pause.
      const input = parts
        .map((part) => (/[\p{L}\p{N}]/u.test(part) ? part : part.replaceAll(/[*·•⁂#~_=–—-]/gu, "x")))
        .join("")
      assertCovered(input, read("text", input))
    },
    { arbitrary: { runs: 300 } }
  )

  it.prop(
    "is one paragraph when it was wrapped at any width",
    [Schema.Array(Schema.Literals(["a", "word.", "Longer", "sentence!", "of", "any"])), Schema.Int],
    ([words, seed]) => {
      const width = 50 + (Math.abs(seed) % 60)
      const lines = words.reduce<ReadonlyArray<string>>((lines, word) => {
        const last = lines.at(-1)
        if (last === undefined || last.length + 1 + word.length > width) return [...lines, word]
        return [...lines.slice(0, -1), `${last} ${word}`]
      }, [])
      // Narrow lines that all begin with capitals are verses.
      if (lines.every((line) => /^\p{Lu}/u.test(line))) return
      assert.isAtMost(turnsOf(read("text", lines.join("\n"))).length, 1)
    },
    { arbitrary: { runs: 300 } }
  )
})

describe("a document of several pieces", () => {
  const sample = (name: string) => readFileSync(join(import.meta.dirname, "samples", name), "utf8")
  const repeated = (format: BookFormat, part: string, times: number) => {
    const own = turnsOf(read(format, part))
    const all = turnsOf(read(format, part.repeat(times)))
    assert.strictEqual(all.length, times * own.length)
    for (const [at, { text }] of all.entries()) assert.strictEqual(text, own[at % own.length]?.text)
  }

  it("is read as one of one piece", () => {
    const { input } = /(?<input>^# [^]*)/mu.exec(sample("lighthouse.md"))?.groups ?? {}
    repeated("markdown", `${input}\n`, 200)
    repeated("markdown", "- one\n  - two\n\n    three\n\n      > four\n", 5_000)
    repeated("markdown", "1. one\n\n   | a | b |\n   |---|---|\n   | c | d |\n\n", 5_000)
    repeated("html", sample("chapter.xhtml").replace(/^.*\n/u, ""), 100)
    repeated("text", "Chapter 1\n\nIt was late, and\nnobody said so.\n\n", 4_000)
  })

  it("is read whole wherever the pieces end", () => {
    const input = "<p class='a' title=\"b\">&eacute;&nGt;&#x2014; <b>c</b> d<img alt='e &amp; f'></p><!-- g --><p>h</p>"
    for (let at = 0; at <= input.length; at += 1) {
      const filled = `${"x".repeat(stepLength - at)}${input}`
      assertLaws(filled, read("html", filled))
      assert.deepStrictEqual(
        turnsOf(read("html", filled))
          .slice(-2)
          .map(({ text }) => text),
        ["é≫⃒— c de & f", "h"]
      )
    }
  })

  it.effect("leaves room for other work between its pieces", () =>
    Effect.gen(function* () {
      const input = sample("lighthouse.md").repeat(300)
      let turns = 0
      const other = yield* Effect.forkChild(
        Effect.forever(
          Effect.suspend(() => {
            turns += 1
            return Effect.yieldNow
          })
        )
      )
      const chapters = yield* readBookInSteps({
        format: "markdown",
        documents: [{ input }],
        areChapters: false,
        speakers: []
      })
      yield* Fiber.interrupt(other)
      assert.isAbove(turns, (2 * input.length) / stepLength - 2)
      assert.deepStrictEqual(chapters, read("markdown", input))
    })
  )
})

describe("the longest document", () => {
  const lengthMax = 1_000_000
  const fill = (part: string) => part.repeat(Math.ceil(lengthMax / part.length)).slice(0, lengthMax)
  const growing = (line: (nth: number) => string) => {
    const lines: Array<string> = []
    for (let [nth, length] = [1, 0]; length < lengthMax; nth += 1)
      length += lines[lines.push(line(nth)) - 1]?.length ?? 0
    return lines.join("").slice(0, lengthMax)
  }
  const ordinary: Readonly<Record<BookFormat, string>> = {
    text: fill("It was *late*, and the lamp had gone out. Nobody said so, though\nall of them had seen it.\n\n"),
    markdown: fill(
      "It was *late*, and [the lamp](a.html) had gone **out**. Nobody said so, though\nall of them had seen it.\n\n"
    ),
    html: fill("<p class='a'>It was <i>late</i>, and the lamp had gone out&#8212;nobody said so.</p>\n")
  }
  // The best of a few, and of this thread alone, so that a busy machine does not fail it.
  const processorMs = (format: BookFormat, input: string, enoughMs = 0) => {
    let best = Infinity
    for (let round = 0; round < 3 && best > enoughMs; round += 1) {
      best = Math.min(best, computed(() => read(format, input, ["Ann", "Bob"])).processorMs)
    }
    return best
  }

  /** No text takes longer than this many times as long as an ordinary one of its length. */
  const ratioMax = 25
  const ordinaryMs = new Map<BookFormat, number>()

  it.each<readonly [BookFormat, string, string]>([
    ...["[", "*_*_", "<", "&", ">", "> ", "- ", "1. ", "![[]()", "a**b", "[](", "|", "\\", "a\n", "~~a ", "<http:"].map(
      (part) => ["markdown", part, fill(part)] as const
    ),
    ...[
      "# a\n",
      "a\n===\n",
      "* a **b* c\n\n",
      "* * * * a\n",
      "[a]: x\n",
      "[^a]: x\n\n",
      "<!--",
      "<a ",
      "<div>\n\n"
    ].map((part) => ["markdown", part, fill(part)] as const),
    ...[" ", "\n", "&amp;", "\u00ad", "a\u00ad", "---\n"].map((part) => ["markdown", part, fill(part)] as const),
    ["markdown", "emphasis in paragraphs", fill(`${"*_*_".repeat(99)}\n\n`)],
    ["markdown", "links in paragraphs", fill(`${"[](".repeat(133)}\n\n`)],
    ["markdown", "rows of a table", `|a|b|\n|-|-|\n${fill("|x\n")}`],
    ["markdown", "cells of a table", `|a|b|\n|-|-|\n${fill("|x")}`],
    ["markdown", "ticks, ever more", growing((nth) => `${"`".repeat(nth)} `)],
    ["markdown", "quotes, ever deeper", growing((nth) => `${">".repeat(nth)}a\n`)],
    ["markdown", "lists, ever deeper", growing((nth) => `${"  ".repeat(nth)}- a\n`)],
    ["markdown", "empty lines in deep lists", growing((nth) => (nth < 100 ? `${"  ".repeat(nth)}- a\n` : "\n"))],
    ["markdown", "brackets, ever deeper", `${"[".repeat(lengthMax / 2)}${"]".repeat(lengthMax / 2)}`],
    ...["<", "<i>", "<div>", "<p>", "<li>", "<ul><li>", "<table><tr><td>", "<br>", "<h1>", "<title>", "<script>"].map(
      (part) => ["html", part, fill(part)] as const
    ),
    ...[
      "&",
      "&amp;",
      "&a",
      "&#1",
      "a&shy;",
      "<!--",
      "<![CDATA[",
      "<?x ",
      "<img alt='x'>",
      "<p hidden>",
      "<svg><title>x</title>"
    ].map((part) => ["html", part, fill(part)] as const),
    ["html", "attributes", `<a ${fill("a=b ")}`],
    ["html", "a value", `<a b="${fill("x&amp;")}`],
    ["html", "ends of what is deep", `${"<i>".repeat(300)}${fill("</b>")}`],
    ["html", "paragraphs in what is deep", `${"<i>".repeat(250)}${fill("<p>a")}`],
    ["html", "blocks in what is deep", `${"<div>".repeat(250)}${fill("<p>a</p>")}`],
    ["html", "items in what is deep", `<ul>${"<i>".repeat(250)}${fill("<li>a")}`],
    ...[
      "a\n",
      "A\n",
      "\n",
      "\f",
      "a",
      "a ",
      "Chapter 1\n",
      "Chapter 1\n\n",
      " ",
      ":",
      "A.\n",
      "😀",
      "-\n\n",
      "Dr. ",
      "<!-- ",
      "\u2029"
    ].map((part) => ["text", part, fill(part)] as const)
  ])("is read in time that is linear in it: %s of %j", (format, _, input) => {
    const usual = ordinaryMs.get(format) ?? processorMs(format, ordinary[format])
    ordinaryMs.set(format, usual)
    assert.isBelow(processorMs(format, input, ratioMax * usual) / usual, ratioMax)
  })
})
