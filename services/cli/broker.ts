/** The broker: a backup of its streams, and preparing one that `up` does not start: its users and its streams. */
import { existsSync } from "node:fs"
import { chmod, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Redacted, Result } from "effect"
import { acceptLosses, applyTopology, keepTopology, topologyOf } from "#bus"
import { copyStreams, type KeptBroker } from "#deploy/backup"
import { keepPasswords, natsFolder, passwordsFolder, readSettings, writePrivately } from "#fleet"
import { brokerAlone, NatsServer } from "#fleet/broker"
import { moveStore } from "#fleet/broker-store"
import { accounts, keeperUser, machineUsers } from "#fleet/broker-users"
import { brokerLogin, busOf } from "./connection.ts"
import { CommandRefused, fileOf, note, print } from "./console.ts"
import { writeOut } from "./screen.ts"

/**
 * Writes the users' files, and adapts the server's `<folder>/data` to its accounts. `<folder>/broker` belongs to the
 * server: `users.conf`, and the passwords, kept from start to start. `<folder>/users/<user>` belongs to each user: the
 * one file in it is readable by others, because only that user's container is given the folder.
 */
export const writeUsers = Effect.fnUntraced(function* (folder: string) {
  const server = join(folder, "broker")
  yield* Effect.promise(() => mkdir(server, { recursive: true }))
  const passwords = yield* keepPasswords(
    passwordsFolder(server),
    machineUsers.map(({ user }) => user)
  )
  yield* writePrivately(join(server, "users.conf"), accounts(machineUsers, passwords))
  yield* Effect.forEach(passwords, ([user, password]) => Effect.promise(() => writeCredentials(folder, user, password)))
  yield* moveStore(join(folder, "data"))
  yield* print(`the broker has ${passwords.size} users`)
})

const writeCredentials = async (folder: string, user: string, password: string) => {
  const own = join(folder, "users", user)
  await mkdir(own, { recursive: true })
  await writeFile(join(own, user), `${password}\n`)
  await chmod(join(own, user), 0o644)
}

interface StreamsOrder {
  /** The number of streams that deliveries are spread over. */
  readonly lanes: number
  /** Keeps running, and recreates what disappears. */
  readonly keep: boolean
  /** Streams that replaced lost ones stop counting as findings. */
  readonly acceptLosses: boolean
}

export const makeStreams = Effect.fnUntraced(function* ({ lanes, keep, acceptLosses: accepts }: StreamsOrder) {
  const topology = topologyOf(lanes)
  const make = Effect.gen(function* () {
    yield* applyTopology(topology, { mode: "create", replicas: 1 })
    yield* print(`${topology.streams.length} streams, and the buckets and stores, are as declared`)
    if (accepts) for (const name of yield* acceptLosses(topology)) yield* print(`the loss of ${name} is accepted`)
    if (keep) return yield* keepTopology({ topology, replicas: 1 })
  })
  yield* Effect.provide(make, busOf(undefined, { keptUser: keeperUser, waitsForServer: true }))
})

interface BackupOrder {
  readonly action: "save" | "restore"
  /** A path relative to the user's own folder. */
  readonly folder: string
  readonly streams: ReadonlyArray<string>
  readonly json: boolean
  readonly nats: string | undefined
}

/** Of the named broker, or that of this home's fleet. One that is not running is started temporarily. */
export const backup = Effect.fnUntraced(function* (order: BackupOrder) {
  const { action, nats } = order
  const place = yield* fileOf(order.folder)
  if (action === "restore" && !existsSync(place))
    return yield* new CommandRefused({ reason: `there is no folder ${place}` })
  const { home } = yield* readSettings
  const login = yield* Effect.result(brokerLogin(nats, keeperUser))
  if (Result.isFailure(login)) {
    const { failure } = login
    const isNoFleet = failure instanceof CommandRefused && failure.exitCode === 69
    if (!isNoFleet || (action === "save" && !existsSync(`${natsFolder(home)}/data`))) return yield* failure
    yield* note(`no fleet runs in ${home}: its broker is started for this command`)
    return yield* Effect.provide(copyAlone(order), brokerAlone(home))
  }
  const { url, isHome, user, password, credentials, tls } = login.success
  if (isHome && action === "restore") {
    return yield* new CommandRefused({
      reason: `a fleet runs in ${home}; stop it first, for its roles would write meanwhile`
    })
  }
  const secret = (kept: Redacted.Redacted | undefined) => (kept === undefined ? undefined : Redacted.value(kept))
  yield* copy(order, { url, user, password: secret(password), credentials: secret(credentials), tls })
})

const copyAlone = Effect.fnUntraced(function* (order: BackupOrder) {
  const { url, passwordOf } = yield* NatsServer
  yield* copy(order, { url, user: keeperUser, password: passwordOf(keeperUser), tls: {} })
})

const copy = Effect.fnUntraced(function* ({ action, folder, streams, json }: BackupOrder, broker: KeptBroker) {
  const place = yield* fileOf(folder)
  let count = 0
  yield* Effect.tryPromise({
    try: () =>
      copyStreams(broker, {
        action,
        folder: place,
        streams,
        onCopied: (stream, { state }) => {
          count += 1
          const { messages, last_seq: lastSequence } = state
          const line = json
            ? JSON.stringify({ stream, messages, lastSequence })
            : `${action}d ${stream}: ${messages} messages, last ${lastSequence}`
          writeOut(`${line}\n`)
        }
      }),
    catch: (error) =>
      new CommandRefused({ reason: `backup: ${error instanceof Error ? error.message : String(error)}` })
  })
  yield* note(`${count} streams are ${action}d`)
})
