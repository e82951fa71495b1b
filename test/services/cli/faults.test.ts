import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { faultLines } from "../../../services/cli/faults.ts"
import { interpret } from "../../../services/cli/run.ts"

/** The messages about a wrong command line; empty for a correct one. */
const told = (...parameters: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    let lines: ReadonlyArray<string> = []
    yield* Effect.ignore(
      interpret(parameters, {
        version: "0",
        presenter: {
          present: (event) =>
            Effect.sync(() => {
              if (event._tag === "InvalidInvocation") lines = faultLines(event)
            })
        }
      })
    )
    return lines
  })

describe("a wrong command line", () => {
  it.effect.each<readonly [ReadonlyArray<string>, string, string]>([
    [["tial"], "there is no command tial; did you mean tail?", "./starling"],
    [["nothing-like-it"], "there is no command nothing-like-it", "./starling"],
    [["tial", "--json"], "there is no command tial; did you mean tail?", "./starling"],
    [["token", "mkae"], "there is no command token mkae; did you mean make?", "./starling token"],
    [["token", "mkae", "--json"], "there is no command token mkae; did you mean make?", "./starling token"],
    [["pay", "hello", "--modle", "x"], "Unknown option '--modle'; did you mean --model?", "./starling pay"],
    [["say", "hello", "--loud"], "Unknown option '--loud'", "./starling say"],
    [["pay", "hello", "--chain", "tron"], "--chain tron? it is evm or solana", "./starling pay"],
    [["pay", "hello", "--model"], "--model needs a value: ID", "./starling pay"],
    [["pay", "x", "--model", "a", "--model", "b"], "--model is given 2 times, it is taken once", "./starling pay"],
    [["tail", "--last", "many"], "--last many? it is a whole number from 1 to 10000", "./starling tail"],
    [["tail", "--last", "0"], "--last 0? it is a whole number from 1 to 10000", "./starling tail"],
    [["top", "--interval", "0"], "--interval 0? it is seconds, from 0.1 to 3600", "./starling top"],
    [["top", "everything"], "top takes nothing more, but was given everything", "./starling top"],
    [["up", "--readyjson"], "Unknown option '--readyjson'; did you mean --ready-json?", "./starling up"],
    [["publish"], "publish needs <event>: its name, such as work_item.merged", "./starling publish"],
    [["token", "revoke"], "token revoke needs <id>: its id in the list", "./starling token revoke"],
    [["consents", "get", "voice"], "consents get needs --out", "./starling consents get"],
    [["role", "swepper"], "name swepper? it is pipeline-api, webhook-dispatcher, sweeper,", "./starling role"]
  ])("%j names the mistake, and where to read on", ([parameters, fault, command]) =>
    Effect.gen(function* () {
      const [first, last, ...more] = yield* told(...parameters)
      assert.strictEqual(first?.slice(0, "starling: ".length + fault.length), `starling: ${fault}`)
      assert.strictEqual(last, `${command} --help lists what there is`)
      assert.deepStrictEqual(more, [])
    })
  )

  it.effect("names every fault, each once", () =>
    Effect.gen(function* () {
      const lines = yield* told("pay", "hello", "--modle", "x", "--chian", "evm", "--modle", "y")
      assert.deepStrictEqual(lines, [
        "starling: Unknown option '--modle'; did you mean --model?",
        "starling: Unknown option '--chian'; did you mean --chain?",
        "./starling pay --help lists what there is"
      ])
    })
  )
})
