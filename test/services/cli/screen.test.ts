import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { lineLogger } from "#runtime"
import { Logger } from "effect"
import { note, print, table } from "../../../services/cli/console.ts"
import { linesOf, printList, printObject } from "../../../services/cli/answers.ts"
import { refusalLines } from "../../../services/cli/operate/client.ts"
import { writeError, writeOut } from "../../../services/cli/screen.ts"
import { hostileTexts, isSafe } from "../../support/hostile-texts.ts"

const root = join(import.meta.dirname, "../../..")

/** Files that write by themselves: what is their own, and no text of others. */
const writers = ["screen.ts", "run.ts", "main.ts", "top/top.ts", "say/say.ts"]

/** What a work writes to both outputs. */
const written = (work: Effect.Effect<void>) =>
  Effect.gen(function* () {
    let said = ""
    const streams = [process.stdout, process.stderr]
    const before = streams.map((stream) => stream.write)
    for (const stream of streams) stream.write = (part: string | Uint8Array) => ((said += String(part)), true)
    yield* work
    for (const [index, stream] of streams.entries()) stream.write = before[index] as typeof stream.write
    return said
  })

const logged = (format: "json" | "pretty", text: string) => {
  const logger = Logger.layer([lineLogger(format, (line) => process.stderr.write(`${line}\n`))])
  const work = Effect.logError(text, new Error(text)).pipe(Effect.annotateLogs({ [text]: text, inner: { text } }))
  return Effect.provide(work, logger)
}

const refusal = (text: string) => ({
  error: { code: "conflict", message: text, fields: { [text]: text } },
  request_id: "r"
})

const places: Readonly<Record<string, (text: string) => Effect.Effect<void>>> = {
  "a line": print,
  "a note": note,
  "an error": (text) => Effect.sync(() => writeError(`starling: ${text}\n`)),
  "a refusal": (text) => Effect.sync(() => writeError(refusalLines(refusal(text)))),
  "words of a model": (text) => Effect.sync(() => writeOut(text)),
  "a table": (text) => Effect.forEach(table([text, "b"], [[text, "1"]]), print, { discard: true }),
  "a list": (text) =>
    printList({ items: [{ a: text, b: { text } }], nextCursor: text }, { json: false, columns: { a: "a", b: "b" } }),
  "a list as JSON": (text) => printList({ items: [{ [text]: text }], nextCursor: null }, { json: true, columns: {} }),
  "one thing whole": (text) => printObject({ [text]: text, inner: { text: [text, text] }, list: [{ text }] }, false),
  "one thing whole as JSON": (text) => printObject({ [text]: text, inner: [{ text }] }, true),
  "a line of a log": (text) => logged("pretty", text),
  "a line of a log as JSON": (text) => logged("json", text)
}

describe("what others wrote, shown by a command as", () => {
  for (const [place, show] of Object.entries(places)) {
    it.effect(`${place}, moves no cursor, sets no title and turns no text around`, () =>
      Effect.gen(function* () {
        for (const [what, text] of Object.entries(hostileTexts)) {
          const said = yield* written(show(`x${text}y`))
          assert.include(said, "x", what)
          assert.isTrue(isSafe(said), `${what}: ${JSON.stringify(said)}`)
        }
      })
    )
  }

  it("a field, keeps its lines behind a bar, where they look like no field of ours", () => {
    assert.deepStrictEqual(linesOf({ answer: "no\r\nstatus: 200\noutcome: delivered" }, "  "), [
      "  answer: no\n    | status: 200\n    | outcome: delivered"
    ])
  })

  it.effect("JSON, is the very value", () =>
    Effect.gen(function* () {
      for (const text of Object.values(hostileTexts)) {
        const said = yield* written(printObject({ text }, true))
        assert.deepStrictEqual(JSON.parse(said), { text })
      }
    })
  )
})

describe("a command", () => {
  it("writes to the terminal by `screen.ts` alone", () => {
    const files = globSync("**/*.ts", { cwd: join(root, "services/cli") }).toSorted()
    assert.isAbove(files.length, 30)
    const others = files.filter((file) => {
      const text = readFileSync(join(root, "services/cli", file), "utf8")
      return /process\.(?:stdout|stderr)\.write|\bconsole\.(?:log|error|info)/u.test(text) && !writers.includes(file)
    })
    assert.deepStrictEqual(others, [])
  })
})
