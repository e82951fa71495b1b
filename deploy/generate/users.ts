/**
 * The broker's users: one a role, with no more than the topology gives it, and what runs the broker itself. A password
 * is a variable of the server's environment. As data for the chart's values, and as text for a server's own file.
 */
import { coreSubjects, parties, type Party, permissionsOf, type Topology, userOf } from "#bus"

export interface BrokerUser {
  readonly user: string
  /** Names the variable. */
  readonly password: string
  readonly permissions?: {
    readonly publish: { readonly allow: ReadonlyArray<string>; readonly deny?: ReadonlyArray<string> }
    readonly subscribe: { readonly allow: ReadonlyArray<string> }
    readonly allow_responses?: { readonly max: number; readonly expires: string }
  }
}

export const passwordVariable = (user: string) => `PASSWORD_${user.replaceAll("-", "_").toUpperCase()}`

/** Who makes the streams, and copies them; and who looks after the servers themselves. */
export const streamKeeper = "nack"
export const systemUser = "system"

export const fleetUsers = (topology: Topology): ReadonlyArray<BrokerUser> => [
  ...parties.map((party) => partyUser(topology, party)),
  {
    user: streamKeeper,
    password: passwordVariable(streamKeeper),
    permissions: {
      // Snapshots and their return go in pieces, of which each is confirmed.
      publish: { allow: ["$JS.API.>", "$JS.SNAPSHOT.>"] },
      subscribe: { allow: ["_INBOX.>"] }
    }
  }
]

const partyUser = (topology: Topology, party: Party): BrokerUser => {
  const { publish, publishNever, subscribe, answers } = permissionsOf(topology, coreSubjects, party)
  const user = userOf(party)
  return {
    user,
    password: passwordVariable(user),
    permissions: {
      publish: { allow: publish, ...(publishNever.length === 0 ? {} : { deny: publishNever }) },
      subscribe: { allow: subscribe },
      // As long as the slowest answer may take.
      ...(answers ? { allow_responses: { max: 1, expires: "1m" } } : {})
    }
  }
}

/** The `accounts` block. `variable` writes a reference to the server's environment. */
export const accounts = (topology: Topology, variable: (name: string) => string) => ({
  FLEET: {
    jetstream: "enabled",
    users: fleetUsers(topology).map((user) => ({ ...user, password: variable(user.password) }))
  },
  SYS: { users: [{ user: systemUser, password: variable(passwordVariable(systemUser)) }] }
})

/** Accounts in the syntax of a server's file, to be included in it. */
export const accountsFile = (topology: Topology) =>
  [
    "# Made from libs/bus/topology.ts by `node deploy/generate/main.ts`. Change it there.",
    `accounts: ${block(
      accounts(topology, (name) => `$${name}`),
      0
    )}`,
    "system_account: SYS",
    ""
  ].join("\n")

const block = (value: unknown, depth: number): string => {
  const inner = "  ".repeat(depth + 1)
  const outer = "  ".repeat(depth)
  if (Array.isArray(value)) return `[\n${value.map((item) => inner + block(item, depth + 1)).join("\n")}\n${outer}]`
  if (typeof value === "object" && value !== null) {
    const lines = Object.entries(value).map(([key, item]) => `${inner}${key}: ${block(item, depth + 1)}`)
    return `{\n${lines.join("\n")}\n${outer}}`
  }
  // A reference to a variable is one only without quotes.
  return typeof value === "string" && !value.startsWith("$PASSWORD_") ? JSON.stringify(value) : String(value)
}
