/** The processes on the machine, as a test sees them. */
import { execFileSync } from "node:child_process"

/** Command lines that hold a text, of whichever process; not the one that looks. */
export const runningWith = (text: string): ReadonlyArray<string> =>
  execFileSync("ps", ["-A", "-ww", "-o", "stat=,args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(text) && !line.startsWith("Z") && !line.includes("ps -A"))

/** Whether no process has this id any more, not even one that nobody has waited for. */
export const isGone = (pid: number) => {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}
