/** `find`: what is kept under an id of any kind, as an indented trace. */
import { Effect } from "effect"
import type { TraceLine } from "#console/api"
import { note, print } from "../console.ts"
import { json, word } from "../flags.ts"
import { printableLine } from "#base/printable"
import { consoleCommand } from "./operation.ts"

/** A line of the trace, below what it belongs to. Pure. */
export const traceLine = ({ depth, kind, id, at, text }: TraceLine): string =>
  printableLine(`${"  ".repeat(depth)}${kind} ${id}${at === null ? "" : ` ${at}`} ${text}`)

export const find = consoleCommand(
  "find",
  {
    about:
      "What is kept under an id, whatever it names: an event with its deliveries and attempts, a payer with claims, receipts and transactions, an endpoint, a work item, a request. Ends with 1 when nothing is kept under it.",
    examples: ["starling find 17", "starling find 6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01", "starling find demo"],
    flags: {
      id: word(
        "id",
        "a number in a list, a delivery, a work item, an endpoint, a payer, a claim, a transaction, a finding, a request"
      ),
      json
    }
  },
  (client, { id, json }) =>
    Effect.gen(function* () {
      const trace = yield* client.find({ query: { id } })
      if (json) return yield* print(JSON.stringify(trace))
      yield* Effect.forEach(trace.lines, (line) => print(traceLine(line)), { discard: true })
      yield* Effect.forEach(trace.notes, note, { discard: true })
    })
)
