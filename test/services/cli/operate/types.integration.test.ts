import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commandsHere, objectsIn, type Ran } from "../../../support/command.ts"
import { withConsole } from "../../../support/console.ts"

const good = ({ code, error }: Ran) => assert.strictEqual(code, 0, error)

const schema = {
  type: "object",
  properties: { orderId: { type: "string" }, total: { type: "integer", minimum: 0 } },
  required: ["orderId"]
}

const withType = <A, E, R>(
  test: (
    run: Effect.Success<typeof commandsHere>["run"],
    fileOf: (name: string, value: object) => string
  ) => Effect.Effect<A, E, R>
) =>
  withConsole(
    () =>
      Effect.gen(function* () {
        const { run, folder } = yield* commandsHere
        const fileOf = (name: string, value: object) => {
          writeFileSync(join(folder, name), JSON.stringify(value))
          return join(folder, name)
        }
        const files = [
          "--schema",
          fileOf("schema.json", schema),
          "--example",
          fileOf("example.json", { orderId: "A-1" })
        ]
        good(
          yield* run(["types", "add", "order.paid", "--owner", "internal-services", "--owner", "token:shop", ...files])
        )
        return yield* test(run, fileOf)
      }),
    { Events: { Types: [{ Name: "order.shipped", Owners: ["internal-services"] }] } }
  )

describe("event types by commands", () => {
  it.live("are declared from flags and files, listed, shown, changed and retired", () =>
    withType((run, fileOf) =>
      Effect.gen(function* () {
        const listed = yield* run(["types", "list", "--source", "run-time"])
        assert.match(listed.out, /^order\.paid +run-time +1\.0\.0 +active +internal-services, token:shop/mu)
        const [shown] = objectsIn(yield* run(["types", "show", "order.paid", "--json"]))
        assert.deepInclude(shown?.["settings"], { Schema: schema })
        assert.include((yield* run(["types", "show", "order.paid"])).out, "orderId: A-1")
        good(yield* run(["types", "show", "queue.paused"]))

        const changed = yield* run(["types", "change", "order.paid", "--opt-in", "--description", "an order is paid"])
        assert.strictEqual(changed.out, "order.paid is changed; this is its revision 2\n")
        good(
          yield* run([
            "types",
            "change",
            "order.paid",
            "--unset",
            "OptIn",
            "--file",
            fileOf("type.json", { Owners: ["runners"] })
          ])
        )
        good(yield* run(["types", "retire", "order.paid"]))
        const [entry] = objectsIn(yield* run(["types", "list", "--source", "run-time", "--json"]))
        assert.deepInclude(entry, { owners: ["runners"], isProgress: false, isRetired: true, revision: 4 })
      })
    )
  )

  it.live("are refused with the place of each fault, and where they are changed", () =>
    withType((run, fileOf) =>
      Effect.gen(function* () {
        const wrong = yield* run([
          "types",
          "add",
          "order.lost",
          "--file",
          fileOf("wrong.json", { Owners: ["a"], Schema: { type: 7 } })
        ])
        assert.strictEqual(wrong.code, 1)
        assert.match(wrong.error, /^ {2}Schema\.type: /mu)
        const again = yield* run(["types", "add", "order.paid", "--owner", "runners"])
        assert.deepStrictEqual([again.code, again.error.includes("declared already")], [1, true])
        const configured = yield* run(["types", "retire", "order.shipped"])
        assert.include(configured.error, "order.shipped is in the configuration file and is changed there")
        assert.include((yield* run(["types", "retire", "queue.paused"])).error, "one of the fleet's own")
        assert.include((yield* run(["types", "show", "order.pait"])).error, "did you mean order.paid?")
        assert.strictEqual((yield* run(["types", "change", "order.paid"])).code, 2)
        const breaking = fileOf("breaking.json", { ...schema, required: ["orderId", "currency"] })
        const refused = yield* run(["types", "change", "order.paid", "--schema", breaking, "--unset", "Example"])
        assert.match(refused.error, /^ {2}Schema: .*SchemaVersion/mu)
      })
    )
  )

  it.live("are exported with the schema and the types of each, those of the configuration too", () =>
    withType((run, fileOf) =>
      Effect.gen(function* () {
        const folder = join(fileOf("beside.json", {}), "..", "exported")
        const exported = yield* run(["types", "export", folder])
        assert.strictEqual(exported.out, `7 files are in ${folder}\n`, exported.error)
        assert.include(
          readFileSync(join(folder, "events.ts"), "utf8"),
          'export type OrderPaid = Envelope<"order.paid", OrderPaidDetails>'
        )
        assert.deepNestedInclude(JSON.parse(readFileSync(join(folder, "schemas/order.paid.schema.json"), "utf8")), {
          "properties.details.required": ["orderId"]
        })
        assert.strictEqual((yield* run(["types", "export", fileOf("file.json", {})])).code, 1)
      })
    )
  )

  it.live("are published by trigger with fields of their schema", () =>
    withType((run) =>
      Effect.gen(function* () {
        const slip = yield* run(["trigger", "order.paid", "--set", "details.total=-1"])
        assert.strictEqual(slip.code, 1)
        assert.match(slip.error, /^ {2}set\.details\.total: /mu)
        const sent = yield* run(["trigger", "order.paid", "--set", "details.total=7"])
        assert.strictEqual(sent.out, "published order.paid as 1 in EVENTS\n")
        const [stored] = objectsIn(yield* run(["events", "show", "1", "--json"]))
        assert.deepInclude(JSON.parse(String(stored?.["envelope"])), { details: { orderId: "A-1", total: 7 } })
      })
    )
  )
})
