/**
 * The configuration file of the embedded nats-server, and its users: those of Kubernetes, with the same rights, and the
 * keeper, which creates the streams. Only the operator has more rights: to try receivers, it publishes events that
 * elsewhere only an actor publishes. Pure.
 */
import { createHash } from "node:crypto"
import {
  brokerAccounts,
  brokerUser,
  type BrokerUser,
  configsOf,
  inboxPrefix,
  partyUsers,
  reservedBytes,
  serverSyntax,
  topologyOf,
  userOf
} from "#bus"
import { deliveryLanesMax, subjects } from "#base"
import { storeIn } from "./store.ts"

export const operatorUser = userOf("operator")
export const serviceUser = userOf("internal services")
/** A runner can request work and report, and nothing else. */
export const runnerUser = userOf("runners")
/** The user that creates the streams, and copies them. */
export const keeperUser = "stream-keeper"

const keeper = brokerUser(keeperUser, {
  // Copying and restoring a stream works in chunks, each of which is confirmed. A rollback moves a cursor and events.
  publish: ["$JS.API.>", "$JS.SNAPSHOT.>", "events.>", subjects.eventsCursor],
  publishNever: [],
  // Tools that keep streams use the common inbox, in which no other user is answered.
  subscribe: [`${inboxPrefix(keeperUser)}.>`, "_INBOX.>"],
  answers: false
})

const tryingEvents = ({ user, permissions }: BrokerUser): BrokerUser => {
  const { publish, ...others } = permissions
  return { user, permissions: { publish: { ...publish, allow: [...publish.allow, "events.>"] }, ...others } }
}

export const machineUsers: ReadonlyArray<BrokerUser> = [
  // Lanes are chosen later than the users are created, and can temporarily exceed the configured number.
  ...partyUsers(topologyOf(deliveryLanesMax)).map((each) => (each.user === operatorUser ? tryingEvents(each) : each)),
  keeper
]

interface ServerSettings {
  readonly port: number
  /** Holds the store, the log and the pid file. */
  readonly folder: string
  readonly users: ReadonlyArray<BrokerUser>
  /** Keyed by user. */
  readonly passwords: ReadonlyMap<string, string>
  /** Of the disk below the folder; undefined if unknown. */
  readonly freeBytes: number | undefined
}

/** Below the server's own folder. */
export const dataFolder = (folder: string) => `${folder}/data`

// At most two log files; the server logs little unless something is wrong.
const logBytesMax = 8 * 1_024 * 1_024

/** The same for every server of a folder, and different for any other folder. */
export const serverNameOf = (folder: string): string =>
  `starling-${createHash("sha256").update(folder).digest("hex").slice(0, 12)}`

// For streams without a limit of their own, and those of a later release.
const roomBytes = 8 * 1_024 ** 3

/**
 * Three quarters of the free disk, as the server itself would take, and no less than the streams reserve: a reserved
 * byte takes no room before it is used.
 */
export const fileStoreMax = (freeBytes = 0): number =>
  Math.max(
    Math.floor((freeBytes * 3) / 4),
    reservedBytes(configsOf(topologyOf(deliveryLanesMax), 1), "file") + roomBytes
  )

export const serverConfig = ({ port, folder, users, passwords, freeBytes }: ServerSettings): string =>
  [
    `listen: "127.0.0.1:${port}"`,
    `server_name: ${serverNameOf(folder)}`,
    `pid_file: ${JSON.stringify(`${folder}/server.pid`)}`,
    `log_file: ${JSON.stringify(`${folder}/server.log`)}`,
    `logfile_size_limit: ${logBytesMax}`,
    `logfile_max_num: 2`,
    `max_payload: 1MB`,
    // Any free port; the server notes it in the folder.
    `http: "127.0.0.1:-1"`,
    `ports_file_dir: ${JSON.stringify(folder)}`,
    `jetstream {`,
    `  store_dir: ${JSON.stringify(storeIn(dataFolder(folder)))}`,
    `  max_file_store: ${fileStoreMax(freeBytes)}`,
    `  max_memory_store: 256MB`,
    `}`,
    accounts(users, passwords)
  ].join("\n")

export const accounts = (users: ReadonlyArray<BrokerUser>, passwords: ReadonlyMap<string, string>): string => {
  // A user without a password cannot connect.
  const known = users.flatMap(({ user, permissions }) => {
    const password = passwords.get(user)
    return password === undefined || password === "" ? [] : [{ user, password, permissions }]
  })
  return `accounts: ${serverSyntax(brokerAccounts(known))}\n`
}
