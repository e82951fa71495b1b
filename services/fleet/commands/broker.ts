/**
 * What makes a broker of one machine ready, where `up` does not start it: `broker users <folder>` keeps its users'
 * passwords and the file that a nats-server includes; `broker streams` makes the streams, once that server answers.
 */
import { chmod, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { applyTopology, topology } from "#bus"
import { keepPasswords, passwordsFolder } from "../nats-server/passwords.ts"
import { authorization } from "../nats-server/server-config.ts"
import { keeperUser, machineUsers } from "../nats-server/users.ts"
import { writePrivately } from "../private-file.ts"
import { busOf, CommandRefused, print, runCommand } from "./connect.ts"

export const broker = (parameters: ReadonlyArray<string>) => runCommand(brokerCommand(parameters))

const brokerCommand = Effect.fnUntraced(function* (parameters: ReadonlyArray<string>) {
  const [verb, folder, ...rest] = parameters
  if (verb === "users" && folder !== undefined && rest.length === 0) return yield* writeUsers(folder)
  if (verb === "streams" && folder === undefined) return yield* makeStreams
  return yield* new CommandRefused({ reason: "broker takes users <folder>, or streams" })
})

/**
 * `<folder>/broker` is the server's: `users.conf`, and the passwords, kept from start to start. `<folder>/users/<user>`
 * is each user's: the one file in it is for others to read, since only that user's container is given the folder.
 */
const writeUsers = Effect.fnUntraced(function* (folder: string) {
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

const makeStreams = Effect.gen(function* () {
  yield* applyTopology(topology, { mode: "create", replicas: 1 }).pipe(
    Effect.provide(busOf(undefined, { keptUser: keeperUser, waitsForServer: true }))
  )
  yield* print(`${topology.streams.length} streams, and the buckets and stores, are as declared`)
})
