/**
 * `agents`: shows how to configure an agent for the payer, or writes that into the agent's own file, with a backup
 * beside it.
 */
import { copyFile, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect, Result } from "effect"
import { Environment } from "#runtime"
import { CommandRefused, faultOfFile, misused, note, print } from "../console.ts"
import { isWebUrl } from "../pay/order.ts"
import { type AgentName, type AgentPlace, agents, tokenVariable } from "./configuration.ts"

interface AgentsFlags {
  readonly agent: AgentName
  readonly model: string
  readonly payer: string
  /** Used instead of the payer. */
  readonly gateway: string | undefined
  readonly write: boolean
}

export const configureAgent = Effect.fnUntraced(function* ({ agent: name, model, payer, gateway, write }: AgentsFlags) {
  const url = gateway ?? payer
  if (!isWebUrl(url)) return yield* misused(`${url}? it is a URL of http or https`)
  const agent = agents[name]
  const place: AgentPlace = { url: url.replace(/(?<!\/)\/+$/u, ""), model, isPayer: gateway === undefined }
  if (write) yield* writeEntry(agent.path, (before) => agent.merged(before, place))
  else {
    yield* note(`in ~/${agent.path}, or by --write:`)
    yield* print(agent.entry(place))
  }
  yield* note("then:")
  if (place.isPayer) yield* print(`export ${tokenVariable}=…   # as ./starling payer prints it`)
  yield* print(agent.start(place))
})

/** The previous file stays beside it under a timestamped name: a backup never replaces another. */
const writeEntry = Effect.fnUntraced(function* (
  path: string,
  merge: (before: string) => Result.Result<string, string>
) {
  const home = (yield* Environment)["HOME"]
  if (home === undefined || home === "") return yield* misused("HOME is not set, so the file cannot be found")
  const file = join(home, path)
  const before = yield* onFile(file, () => readFile(file, "utf8").catch(absentAs("")))
  const merged = Result.mapError(merge(before), (reason) => new CommandRefused({ reason: `${file} stays: ${reason}` }))
  const after = yield* Effect.fromResult(merged)
  if (after === before) return yield* note(`${file} has it already`)
  const backup = yield* onFile(file, () => replaced(file, after))
  return yield* note(backup === undefined ? `wrote ${file}` : `wrote ${file}; as it was: ${backup}`)
})

const replaced = async (file: string, text: string) => {
  await mkdir(dirname(file), { recursive: true })
  const earlier = await stat(file).catch(absentAs(undefined))
  const backup = earlier && `${file}.before-starling-${earlier.mtime.toISOString().replaceAll(/\D/gu, "")}`
  if (backup !== undefined) await copyFile(file, backup)
  const made = `${file}.starling-new`
  await writeFile(made, text, { mode: earlier?.mode ?? 0o600 })
  await rename(made, file)
  return backup
}

const absentAs =
  <A>(value: A) =>
  (cause: unknown): A => {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return value
    throw cause
  }

const onFile = <A>(file: string, act: () => Promise<A>) =>
  Effect.tryPromise({
    try: act,
    catch: (cause) => new CommandRefused({ reason: `${file} cannot be written: ${faultOfFile(cause)}` })
  })
