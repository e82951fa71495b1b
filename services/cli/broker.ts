/** Prepares a broker on one machine that `up` does not start: its users, and its streams. */
import { chmod, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { applyTopology, topology } from "#bus"
import { keepPasswords, passwordsFolder, writePrivately } from "#fleet"
import { authorization, keeperUser, machineUsers } from "#fleet/broker-users"
import { busOf } from "./connection.ts"
import { print } from "./console.ts"

/**
 * Writes the users' files. `<folder>/broker` belongs to the server: `users.conf`, and the passwords, kept from start to
 * start. `<folder>/users/<user>` belongs to each user: the one file in it is readable by others, since only that user's
 * container is given the folder.
 */
export const writeUsers = Effect.fnUntraced(function* (folder: string) {
  const server = join(folder, "broker")
  yield* Effect.promise(() => mkdir(server, { recursive: true }))
  const passwords = yield* keepPasswords(
    passwordsFolder(server),
    machineUsers.map(({ user }) => user)
  )
  yield* writePrivately(join(server, "users.conf"), authorization(machineUsers, passwords))
  yield* Effect.forEach(passwords, ([user, password]) => Effect.promise(() => giveOut(folder, user, password)))
  yield* print(`the broker has ${passwords.size} users`)
})

const giveOut = async (folder: string, user: string, password: string) => {
  const own = join(folder, "users", user)
  await mkdir(own, { recursive: true })
  await writeFile(join(own, user), `${password}\n`)
  await chmod(join(own, user), 0o644)
}

export const makeStreams = Effect.gen(function* () {
  yield* applyTopology(topology, { mode: "create", replicas: 1 }).pipe(
    Effect.provide(busOf(undefined, { keptUser: keeperUser, waitsForServer: true }))
  )
  yield* print(`${topology.streams.length} streams, and the buckets and stores, are as declared`)
})
