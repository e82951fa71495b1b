/**
 * Checks the packages of the lockfile for known advisories. A shipped package at high severity or above fails the
 * check; one that only tests use is reported. When the registry has no advisories, or cannot be reached, one line says
 * what was skipped.
 */
import { execFile } from "node:child_process"
import { advisoryVerdict, type AdvisoryVerdict } from "./advisory-verdict.ts"

// A slow registry is not waited for longer than the checks before it take.
const timeoutMs = 60_000
const outputBytesMax = 32 * 1_024 * 1_024

const audit = (...flags: ReadonlyArray<string>) =>
  new Promise<AdvisoryVerdict>((resolve) => {
    const options = { timeout: timeoutMs, maxBuffer: outputBytesMax }
    execFile("npm", ["audit", "--json", ...flags, ...process.argv.slice(2)], options, (error, stdout) =>
      resolve(error?.killed === true ? { _tag: "Unknown", reason: "npm did not end in time" } : advisoryVerdict(stdout))
    )
  })

const say = (line: string) => process.stdout.write(`== advisories: ${line}\n`)

const report = (what: string, verdict: AdvisoryVerdict) => {
  if (verdict._tag === "Unknown") return say(`left out for ${what}: ${verdict.reason}`)
  if (verdict._tag === "Clean") return say(`none of high severity against ${what}`)
  say(`against ${what}:`)
  for (const advisory of verdict.advisories) process.stdout.write(`   ${advisory}\n`)
}

const [shipped, all] = await Promise.all([audit("--omit=dev"), audit()])
report("what is shipped", shipped)
if (shipped._tag !== "Unknown") report("all, with what only tests use", all)
process.exitCode = shipped._tag === "Found" ? 1 : 0
