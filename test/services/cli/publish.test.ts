import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Environment } from "#runtime"
import { publishReport, type ReportOrder } from "../../../services/cli/publish.ts"

const folder = mkdtempSync(join(tmpdir(), "starling-publish-"))
afterAll(() => rmSync(folder, { recursive: true }))

const file = (content: string) => {
  const path = join(folder, "report.json")
  writeFileSync(path, content)
  return path
}

// Nothing listens there: a command refused in time never gets so far.
const options = (changes: Partial<ReportOrder>): ReportOrder => ({
  kind: undefined,
  file: undefined,
  example: false,
  unchecked: false,
  nats: "nats://127.0.0.1:1",
  count: 1,
  ...changes
})
const refusal = (kind: string | undefined, changes: Partial<ReportOrder>) =>
  publishReport(options({ kind, ...changes })).pipe(
    Effect.flip,
    Effect.map((error) => error.message),
    Effect.provideService(Environment, {})
  )

describe("publish report", () => {
  it.effect("lists the kinds without a kind, or for an unknown one", () =>
    Effect.gen(function* () {
      for (const kind of [undefined, "levitated", "constructor"]) {
        const told = yield* refusal(kind, { example: true })
        assert.include(told, "  progress\n")
        assert.include(told, "  sandbox-leak-detected\n")
      }
    })
  )

  it.effect("requires the name of what to publish", () =>
    Effect.gen(function* () {
      assert.include(yield* refusal("progress", {}), "--example")
    })
  )

  it.effect("shows every fault with its path, and sends nothing", () =>
    Effect.gen(function* () {
      const path = file(JSON.stringify({ workItemId: 7, outcome: "lost", dispatchId: "" }))
      const told = yield* refusal("push-ended", { file: path })
      for (const field of ["workItemId", "outcome", "dispatchId", "reason"]) assert.include(told, `\n  /${field}: `)
      // The head is filled in.
      for (const field of ["kind", "reportId", "atMs"]) assert.notInclude(told, `/${field}:`)
    })
  )

  it.effect("does not send a report as one of another kind", () =>
    Effect.gen(function* () {
      const told = yield* refusal("progress", { file: file(JSON.stringify({ kind: "preempted" })) })
      assert.include(told, "that report is of preempted")
    })
  )

  it.effect("reads a file without a byte order mark, and refuses one that gives a key twice", () =>
    Effect.gen(function* () {
      const marked = yield* refusal("push-ended", { file: file(`\ufeff${JSON.stringify({ outcome: "lost" })}`) })
      assert.include(marked, "\n  /outcome: ")
      const twice = yield* refusal("push-ended", { file: file('{"outcome":"lost","outcome":"pushed"}') })
      assert.include(twice, "/outcome: is given more than once")
    })
  )

  it.effect.each(["[]", "null", "{", "7"])("does not accept the file %s as a report", (content) =>
    Effect.gen(function* () {
      assert.match(yield* refusal("progress", { file: file(content) }), /not JSON|JSON object/u)
    })
  )
})
