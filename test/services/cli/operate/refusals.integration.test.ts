import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commandsHere } from "../../../support/command.ts"
import { configured, tokenOf, withConsole } from "../../../support/console.ts"

const id = "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01"

/** Commands on something that there is not. */
const onNothing: ReadonlyArray<string> = [
  "events show 99",
  "endpoints add demo https://demo.example/",
  "events example no.event",
  "trigger no.event",
  "endpoints show nobody",
  "endpoints edit nobody --to https://x.example/",
  "endpoints rotate nobody",
  "endpoints test nobody",
  "endpoints pause nobody",
  "endpoints resume nobody",
  "endpoints enable nobody",
  "endpoints disable nobody",
  "endpoints remove nobody",
  `deliveries show ${id}`,
  `deliveries resend ${id}`,
  "deliveries resend --endpoint nobody --since 2026-11-20T12:00:00Z",
  "abandoned show 99",
  "abandoned resend 99",
  "abandoned resend --endpoint nobody",
  "abandoned discard 99",
  "rejected show 99",
  "rejected resend 99",
  "rejected discard 99"
]

/** Commands that a viewer may not run. */
const acts: ReadonlyArray<string> = [
  "trigger queue.paused",
  "endpoints add ci https://ci.example/",
  "endpoints pause demo",
  "endpoints resume demo",
  "endpoints test demo",
  "abandoned resend --all",
  "deliveries resend --endpoint demo --since 2026-11-20T12:00:00Z"
]

/** Commands that find or do nothing, and are well. */
const good: ReadonlyArray<string> = [
  "events list --json",
  "endpoints list --json",
  "endpoints show demo --json",
  "endpoints pause demo --json",
  "endpoints resume demo --json",
  "deliveries list --json",
  "deliveries resend --endpoint demo --since 2026-11-20T12:00:00Z --dry-run --json",
  "abandoned list --json",
  "abandoned resend --all --json",
  "rejected list --json",
  "trigger queue.paused --json",
  "doctor --json"
]

/** Command lines that the console would refuse. */
const misused: ReadonlyArray<readonly [line: string, says: string]> = [
  ["events list --since yesterday", "--since yesterday? it is a time such as 2026-11-20T12:00:00Z"],
  ["abandoned resend --all --until 2026-11-20", "--until 2026-11-20? it is a time"],
  ["abandoned resend", "name a number, an --endpoint"],
  ["deliveries resend --endpoint demo", "name a delivery by its id, or an --endpoint and --since when"],
  ["deliveries list --limit 900", "--limit 900? it is a whole number from 1 to 200"],
  ["endpoints add demo https://demo.example/ --header nonsense", "--header is written as 'Name: value'"],
  ["endpoints rotate demo --overlap soon", "--overlap soon? it is a time such as 30m"],
  ["endpoints edit demo", "say what to change"],
  [`deliveries show ${id} --near here`, "near: "],
  ["endpoints pause demo --reason ", "reason: "]
]

describe("a command on the console", () => {
  it.live("ends with 2 for a command line that the console would refuse, and asks it nothing", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const { run } = yield* commandsHere
          for (const [line, says] of misused) {
            const ran = yield* run(line.split(" "))
            assert.deepStrictEqual([ran.code, ran.out], [2, ""], `${line}: ${ran.error}`)
            assert.include(ran.error, says, line)
          }
          assert.deepStrictEqual((yield* call("GET /audit")).body["items"], [])
        }),
      configured("demo")
    )
  )

  it.live("ends with 1 where there is nothing of that name, and says so on standard error", () =>
    withConsole(
      () =>
        Effect.gen(function* () {
          const { run } = yield* commandsHere
          for (const line of onNothing) {
            const ran = yield* run(line.split(" "))
            assert.deepStrictEqual([ran.code, ran.out], [1, ""], line)
            assert.match(ran.error, /^starling: /u, line)
          }
        }),
      configured("demo")
    )
  )

  it.live("ends with 1 for a viewer who acts, and changes nothing", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const { run } = yield* commandsHere
          const viewer = yield* tokenOf("viewer")
          for (const line of acts) {
            const ran = yield* run(line.split(" "), viewer)
            assert.deepStrictEqual([ran.code, ran.out], [1, ""], line)
            assert.include(ran.error, "token make --role admin", line)
          }
          assert.deepStrictEqual((yield* call("GET /audit")).body["items"], [])
        }),
      configured("demo")
    )
  )

  it.live("ends with 0 otherwise, and prints an object a line for programs", () =>
    withConsole(
      () =>
        Effect.gen(function* () {
          const { run } = yield* commandsHere
          for (const line of good) {
            const ran = yield* run(line.split(" "))
            assert.deepStrictEqual([ran.code, ran.error], [0, ""], line)
            for (const each of ran.out.split("\n").filter((text) => text !== "")) {
              assert.isObject(JSON.parse(each), line)
            }
          }
        }),
      configured("demo")
    )
  )
})
