/**
 * The broker's users: one a party, with no more than the topology gives it; and how a nats-server reads them. Pure.
 * Kubernetes and a broker of one machine are both made from this.
 */
import type { Party, Topology } from "./declarations.ts"
import { parties } from "./declarations.ts"
import { type Permissions, permissionsOf, userOf } from "./permissions.ts"
import { coreSubjects } from "./topology-core.ts"

/** As a nats-server's configuration has it; its password is another's concern. */
export interface BrokerUser {
  readonly user: string
  readonly permissions: {
    readonly publish: { readonly allow: ReadonlyArray<string>; readonly deny?: ReadonlyArray<string> }
    readonly subscribe: { readonly allow: ReadonlyArray<string> }
    readonly allow_responses?: { readonly max: number; readonly expires: string }
  }
}

export const partyUsers = (topology: Topology): ReadonlyArray<BrokerUser> =>
  parties.map((party: Party) => brokerUser(userOf(party), permissionsOf(topology, coreSubjects, party)))

export const brokerUser = (user: string, { publish, publishNever, subscribe, answers }: Permissions): BrokerUser => ({
  user,
  permissions: {
    publish: { allow: publish, ...(publishNever.length === 0 ? {} : { deny: publishNever }) },
    subscribe: { allow: subscribe },
    // As long as the slowest answer may take.
    ...(answers ? { allow_responses: { max: 1, expires: "1m" } } : {})
  }
})

/** A value in the syntax of a server's file. A text that begins with `$PASSWORD_` is a variable of its environment. */
export const serverSyntax = (value: unknown, depth = 0): string => {
  const inner = "  ".repeat(depth + 1)
  const outer = "  ".repeat(depth)
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => inner + serverSyntax(item, depth + 1)).join("\n")}\n${outer}]`
  }
  if (typeof value === "object" && value !== null) {
    const lines = Object.entries(value).map(([key, item]) => `${inner}${key}: ${serverSyntax(item, depth + 1)}`)
    return `{\n${lines.join("\n")}\n${outer}}`
  }
  // A reference to a variable is one only without quotes.
  return typeof value === "string" && !value.startsWith("$PASSWORD_") ? JSON.stringify(value) : String(value)
}
