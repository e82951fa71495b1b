/** The processes that a run has started, over any number of steps: they are ended by their ids. */
import { execFileSync } from "node:child_process"

/** The nearest first. */
export const processesBelow = (pid: number): ReadonlyArray<number> => {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n")
  const pairs = lines.map((line) => line.trim().split(/\s/u).filter(Boolean).map(Number))
  const found = [pid]
  for (const above of found) for (const [child = 0, parent] of pairs) if (parent === above) found.push(child)
  return found.slice(1)
}

export const kill = (pid: number) => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has ended by itself.
  }
}
