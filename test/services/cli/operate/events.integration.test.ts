import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commandsHere, objectsIn } from "../../../support/command.ts"
import { tokenOf, withConsole } from "../../../support/console.ts"

describe("an example of an event", () => {
  it.live("is shown with fields that get their types from the schema, and published by trigger", () =>
    withConsole(() =>
      Effect.gen(function* () {
        const { run } = yield* commandsHere
        const set = ["--set", "workItem.upstreamPushAttempts=2", "--set", "workItem.title=7"]
        const shown = yield* run(["events", "example", "work_item.merged", ...set])
        assert.strictEqual(shown.code, 0, shown.error)
        const envelope = JSON.parse(shown.out) as { readonly workItem: Readonly<Record<string, unknown>> }
        assert.deepInclude(envelope.workItem, { upstreamPushAttempts: 2, title: "7" })
        const viewer = yield* tokenOf("viewer")
        assert.strictEqual((yield* run(["events", "example", "queue.paused"], viewer)).code, 0)

        const sent = yield* run(["trigger", "work_item.merged", ...set])
        assert.strictEqual(sent.out, "published work_item.merged as 1 in EVENTS\n")
        const [stored] = objectsIn(yield* run(["events", "show", "1", "--json"]))
        const published = JSON.parse(String(stored?.["envelope"])) as typeof envelope
        assert.deepInclude(published.workItem, { upstreamPushAttempts: 2, title: "7" })
        assert.strictEqual((yield* run(["trigger", "queue.paused"], viewer)).code, 1)
      })
    )
  )

  it.live("is refused with all faults and their paths, by the schema and by the console", () =>
    withConsole(() =>
      Effect.gen(function* () {
        const { run } = yield* commandsHere
        const slips = yield* run(
          "trigger work_item.merged --set workItem.titel=x --set workItem.upstreamPushAttempts=x".split(" ")
        )
        assert.strictEqual(slips.code, 2)
        assert.include(slips.error, "workItem.titel: there is no field titel in workItem; did you mean title?")
        assert.include(slips.error, "workItem.upstreamPushAttempts: is integer, not x")
        const wrong = yield* run(
          "trigger work_item.merged --set workItem.createdAt=yesterday --set workItem.upstreamPushAttempts=-1".split(
            " "
          )
        )
        assert.strictEqual(wrong.code, 1)
        for (const path of ["set.workItem.createdAt", "set.workItem.upstreamPushAttempts"]) {
          assert.match(wrong.error, new RegExp(`^  ${path}: `, "mu"))
        }
        const unknown = yield* run(["trigger", "work_item.mergd"])
        assert.strictEqual(unknown.code, 1)
        assert.include(unknown.error, "did you mean work_item.merged?")
        assert.strictEqual((yield* run(["events", "list"])).out.trim().split("\n").length, 1)
      })
    )
  )
})
