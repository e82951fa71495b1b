/**
 * Where the server keeps its streams, and the move from the store of releases before accounts: there every user was in
 * the server's default account `$G`; now the streams belong to the account FLEET. One rename each way. A file takes the
 * place of the old folder, so that an older release does not start empty: it fails and names the file.
 */
import { lstat, mkdir, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { fleetAccount } from "#bus"

const defaultAccount = "$G"

const places = (data: string) => {
  const before = join(data, "jetstream")
  const streams = join(storeIn(data), "jetstream")
  return { before, streams, unnamed: join(streams, defaultAccount), named: join(streams, fleetAccount) }
}

/** The server's own folder below that of its data. */
export const storeIn = (data: string) => join(data, "store")

const notice = `The streams of this broker lie in ../store, in accounts that releases before this one do not know.
Before you go back to one: ./starling broker before-rollback
`

/** Moves what an older release stored, and keeps older releases out. An interrupted move is continued. */
export const moveStore = (data: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    const { before, streams, unnamed, named } = places(data)
    await mkdir(storeIn(data), { recursive: true })
    const old = await kindOf(before)
    if (old === "folder" && (await kindOf(streams)) === "nothing") await rename(before, streams)
    if ((await kindOf(unnamed)) === "folder" && (await kindOf(named)) === "nothing") await rename(unnamed, named)
    if ((await kindOf(before)) === "nothing") await writeFile(before, notice)
  })

/** The way back, for a stopped server. */
export const moveStoreBack = (data: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    const { before, streams, unnamed, named } = places(data)
    if ((await kindOf(named)) === "folder") await rename(named, unnamed)
    if ((await kindOf(before)) === "file") await rm(before)
    if ((await kindOf(streams)) === "folder") await rename(streams, before)
  })

const kindOf = async (path: string) => {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined
    throw error
  })
  if (found === undefined) return "nothing"
  return found.isDirectory() ? "folder" : "file"
}
