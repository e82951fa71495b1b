/**
 * The facts of a process by its pid: its command line, and its start time, which tells it from a later process with the
 * same pid. From /proc where there is one, else from `ps`. A zombie does not count as running.
 */
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { Effect } from "effect"

interface RunningProcess {
  readonly command: string
  /** Only for comparison. */
  readonly startedAt: string
}

export const runningProcess = Effect.fnUntraced(function* (pid: number) {
  if (!Number.isInteger(pid) || pid < 1) return undefined
  const bootId = yield* read("/proc/sys/kernel/random/boot_id")
  return bootId === undefined ? yield* fromPs(pid) : yield* fromProc(pid, bootId.trim())
})

const read = (path: string) =>
  Effect.tryPromise(() => readFile(path, "latin1")).pipe(Effect.orElseSucceed((): string | undefined => undefined))

const fromProc = Effect.fnUntraced(function* (pid: number, bootId: string) {
  const stat = yield* read(`/proc/${pid}/stat`)
  const commandLine = yield* read(`/proc/${pid}/cmdline`)
  if (stat === undefined || commandLine === undefined) return undefined
  // The second field is the program's name in brackets, and may itself hold brackets and spaces.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  if (state === "Z" || state === "X") return undefined
  const ticksSinceBoot = fields[18] ?? ""
  return describe(commandLine.split("\0").join(" "), `${bootId} ${ticksSinceBoot}`)
})

/** Exported for its test: on Linux it is never reached. */
export const fromPs = (pid: number): Effect.Effect<RunningProcess | undefined> =>
  Effect.callback((resume) => {
    // lstart is always 24 characters: "Sat Nov 21 06:11:04 2026".
    const options = { env: { LC_ALL: "C", PATH: "/bin:/usr/bin" }, timeout: 5_000 }
    execFile("ps", ["-ww", "-o", "stat=,lstart=,args=", "-p", String(pid)], options, (error, output) => {
      const [, state, startedAt, command] = /^\s*(\S+)\s+(.{24})\s+(.*)$/mu.exec(output) ?? []
      const isThere = error === null && state !== undefined && !state.startsWith("Z")
      resume(Effect.succeed(isThere ? describe(command ?? "", startedAt ?? "") : undefined))
    })
  })

const describe = (command: string, startedAt: string): RunningProcess => ({ command: command.trim(), startedAt })
