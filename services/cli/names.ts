/** What `--names endpoint` prints for a completion script: the names that the fleet knows, or nothing, within a second. */
import { Effect } from "effect"
import { setting } from "./console.ts"
import { onConsole } from "./operate/client.ts"
import { writeOut } from "./screen.ts"

const answersWithin = "1 second"
// A shell would split or obey other characters.
const plain = /^[\w.,/@%+-]+$/u

const endpointNames = onConsole({ url: undefined }, (client) => client.listEndpoints({ query: { limit: "200" } })).pipe(
  Effect.timeout(answersWithin),
  Effect.map(({ items }) => items.map(({ name }) => name).filter((name) => plain.test(name))),
  Effect.catchCause(() => Effect.succeed<ReadonlyArray<string>>([])),
  Effect.provide(setting)
)

export const printNames = async (kind: string | undefined): Promise<void> => {
  const names = kind === "endpoint" ? await Effect.runPromise(endpointNames) : []
  writeOut(names.map((name) => `${name}\n`).join(""))
}
