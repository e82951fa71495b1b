import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { printPage } from "../../../services/cli/answers.ts"
import { commandPaths } from "../../../services/cli/documents.ts"
import { runHere, saidBy } from "../../support/command.ts"

const lists = commandPaths()
  .map((path) => path.join(" "))
  // The books are two tables, shown whole.
  .filter((path) => /\blist$|^models$|^consents$/u.test(path) && path !== "books list")

describe("every list", () => {
  it.effect.each(lists.map((path) => ({ path })))("takes --limit, --cursor and --json: $path", ({ path }) =>
    Effect.gen(function* () {
      const { out } = yield* runHere([...path.split(" "), "--help"], {})
      for (const flag of ["--limit N", "--cursor CURSOR", "--json"]) assert.include(out, flag)
    })
  )
})

describe("a list that is read whole", () => {
  const all = ["a", "b", "c"].map((key) => ({ key }))
  const pageOf = (page: { readonly limit?: number; readonly cursor?: string; readonly json?: boolean }) =>
    saidBy(
      printPage(
        all,
        { limit: 2, cursor: undefined, json: true, ...page },
        {
          keyOf: ({ key }) => key,
          forPrograms: (item) => item,
          forPeople: ({ key }) => ({ key: key.toUpperCase() }),
          columns: { key: "key" }
        }
      )
    )

  it.effect("has pages, each with the way to the next", () =>
    Effect.gen(function* () {
      const first = yield* pageOf({})
      assert.deepStrictEqual(first, { out: '{"key":"a"}\n{"key":"b"}\n', error: "there is more: --cursor b\n" })
      assert.deepStrictEqual(yield* pageOf({ cursor: "b" }), { out: '{"key":"c"}\n', error: "" })
      assert.deepStrictEqual(yield* pageOf({ limit: 3, json: false }), { out: "key\nA\nB\nC\n", error: "" })
      assert.deepStrictEqual(yield* pageOf({ cursor: "c", json: false }), { out: "key\n", error: "there are none\n" })
    })
  )

  it.effect("refuses a cursor that it did not show", () =>
    Effect.gen(function* () {
      const { message, exitCode } = yield* Effect.flip(pageOf({ cursor: "z" }))
      assert.deepStrictEqual([message, exitCode], ["--cursor z? it is in the last line of a list", 2])
    })
  )
})
