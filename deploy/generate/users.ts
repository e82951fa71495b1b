/**
 * The broker's users: one per role, with no more rights than the topology gives it, and those that run the broker
 * itself. A password is a variable of the server's environment. As data for the chart's values, and as text for a
 * server's own file.
 */
import { subjects } from "#base"
import {
  brokerAccounts,
  type BrokerUser as UserOfBroker,
  inboxPrefix,
  partyUsers,
  serverSyntax,
  type Topology
} from "#bus"

export interface BrokerUser extends UserOfBroker {
  /** The name of the variable. */
  readonly password: string
}

export const passwordVariable = (user: string) => `PASSWORD_${user.replaceAll("-", "_").toUpperCase()}`

/** The user that makes and copies the streams, and the one that administers the servers. */
export const streamKeeper = "nack"
export const systemUser = "system"

export const fleetUsers = (topology: Topology): ReadonlyArray<BrokerUser> =>
  [...partyUsers(topology), keeper].map(({ user, permissions }) => ({
    user,
    password: passwordVariable(user),
    permissions
  }))

const keeper: UserOfBroker = {
  user: streamKeeper,
  permissions: {
    // Copying and restoring a stream goes in chunks, each of which is confirmed. A rollback moves a cursor and events.
    publish: { allow: ["$JS.API.>", "$JS.SNAPSHOT.>", "events.>", subjects.eventsCursor] },
    // Of our own commands, and of NACK.
    subscribe: { allow: [`${inboxPrefix(streamKeeper)}.>`, "_INBOX.>"] }
  }
}

/** The `accounts` block. `variable` writes a reference to the server's environment. */
export const accounts = (topology: Topology, variable: (name: string) => string) => ({
  ...brokerAccounts(fleetUsers(topology).map((user) => ({ ...user, password: variable(user.password) }))),
  SYS: { users: [{ user: systemUser, password: variable(passwordVariable(systemUser)) }] }
})

/** Accounts in the syntax of a server's file, to be included in it. */
export const accountsFile = (topology: Topology) =>
  [
    "# Made from libs/bus/topology/ by `node deploy/generate/main.ts`. Change it there.",
    `accounts: ${serverSyntax(accounts(topology, (name) => `$${name}`))}`,
    "system_account: SYS",
    ""
  ].join("\n")
