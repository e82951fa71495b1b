/** A small disk of the fleet's own, which may be filled: in memory, where this user may mount one. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Fault } from "./fault.ts"
import type { FaultFleet } from "./fleet.ts"

const mounted = (folder: string) => {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=700m", "starling-faults", folder], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** Completes with how it is taken away. */
export const smallDisk = (folder: string): (() => void) =>
  mounted(folder) ? () => execFileSync("umount", ["-l", folder]) : () => undefined

const mayMount = () => {
  const folder = mkdtempSync(join(tmpdir(), "starling-disk-"))
  const isMounted = mounted(folder)
  if (isMounted) execFileSync("umount", [folder])
  rmSync(folder, { recursive: true })
  return isMounted
}

let hasDisk: boolean | undefined

export const isPlayable = ({ needsDisk }: Fault): boolean => needsDisk !== true || (hasDisk ??= mayMount())

/** All of it but so many bytes. */
const filled = ({ home }: FaultFleet, leftBytes: number) => {
  const file = join(home.folder, "filling")
  const { bavail, bsize } = statfsSync(home.folder)
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize - leftBytes))
  } catch {
    // Others have written meanwhile: it is full.
  }
  return async () => rmSync(file)
}

export const diskFills: Fault = {
  condition: "StarlingDiskFilling",
  what: "the disk of the broker's store has three hundredths left",
  needsDisk: true,
  begin: async (fleet) => filled(fleet, 20 * 2 ** 20)
}

export const diskIsFull: Fault = {
  condition: "StarlingStreamsUnusable",
  also: ["StarlingDiskFilling"],
  effects: ["PipelineSweepUnheld", "PaymentSettlerWithoutKey"],
  what: "the disk of the broker's store is full",
  slow: { seenMs: 45_000, why: "a role finds out when it next writes, and the small disk takes a moment to be full" },
  needsDisk: true,
  begin: async (fleet) => filled(fleet, 0)
}
