/** What the fleet's processes use, read from /proc: Linux only, elsewhere there is nothing to see. */
import { readdirSync, readFileSync } from "node:fs"

export type Kind = "up" | "synthesizer" | "encoder" | "nats-server" | "chain" | "other"

export interface ProcessUse {
  readonly pid: number
  readonly kind: Kind
  readonly rssMb: number
  /** Its own, and that of its children which have ended. */
  readonly cpuSeconds: number
}

const ticksPerSecond = 100
const read = (path: string) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

const parentOf = (pid: number) =>
  Number(
    read(`/proc/${pid}/stat`)
      .replace(/^.*\) /su, "")
      .split(" ")[1] ?? 0
  )

const kindOf = (pid: number, root: number): Kind => {
  if (pid === root) return "up"
  const command = read(`/proc/${pid}/cmdline`).split("\0")
  if (command.includes("speech-synthesizer")) return "synthesizer"
  if (command[0]?.endsWith("ffmpeg") || command.some((part) => part.includes("lame-program"))) return "encoder"
  if (command[0]?.endsWith("anvil") || command.some((part) => /dev.chain/u.test(part))) return "chain"
  return command[0]?.endsWith("nats-server") ? "nats-server" : "other"
}

export const useOf = (pid: number, root = pid): ProcessUse => {
  // Fields 14 to 17, counted from behind the name, which may hold anything.
  const ticks = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /su, "")
    .split(" ")
    .slice(11, 15)
  return {
    pid,
    kind: kindOf(pid, root),
    rssMb: Number(/VmRSS:\s+(\d+)/u.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1_024,
    cpuSeconds: ticks.reduce((sum, each) => sum + Number(each), 0) / ticksPerSecond
  }
}

/** The process and all below it. */
export const processesOf = (root: number): ReadonlyArray<ProcessUse> => {
  const all = readdirSync("/proc").flatMap((name) => (/^\d+$/u.test(name) ? [Number(name)] : []))
  const children = Map.groupBy(all, parentOf)
  const family = [root]
  for (const pid of family) family.push(...(children.get(pid) ?? []))
  return family.map((pid) => useOf(pid, root))
}

/**
 * The processor time of a process' threads until now, in milliseconds with their fractions: for slices of a second,
 * which the kernel's ticks are too coarse for. That of threads which have ended is missing.
 */
export const threadsCpuMs = (pid: number): number => {
  const threads = readdirSync(`/proc/${pid}/task`)
  const nanoseconds = (thread: string) => Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0])
  return threads.reduce((sum, thread) => sum + nanoseconds(thread), 0) / 1e6
}

/** What a process does not share with any other. */
export const privateMbOf = (pid: number): number =>
  [...read(`/proc/${pid}/smaps_rollup`).matchAll(/^Private_(?:Clean|Dirty):\s+(\d+)/gmu)].reduce(
    (sum, [, kilobytes]) => sum + Number(kilobytes) / 1_024,
    0
  )

export const rssMbOf = (uses: ReadonlyArray<ProcessUse>, ...kinds: ReadonlyArray<Kind>) =>
  uses.filter(({ kind }) => kinds.includes(kind)).reduce((sum, { rssMb }) => sum + rssMb, 0)

export const cpuSecondsOf = (uses: ReadonlyArray<ProcessUse>) =>
  uses.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
