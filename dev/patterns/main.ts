/**
 * `node dev/patterns/main.ts`: no regular expression of this tree takes more than linear time, whatever it is given.
 * What was judged safe is kept by its text: a verdict takes a tenth of a second, and those of all patterns a minute.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { exceptions } from "./exceptions.ts"
import { judge, judgedBy } from "./judge.ts"
import { patternsOf } from "./patterns.ts"

const kept = ".starling/cache/patterns.safe"

const readKept = (): ReadonlySet<string> => {
  try {
    const [by, ...patterns] = readFileSync(kept, "utf8").split("\n")
    return new Set(by === judgedBy ? patterns : [])
  } catch {
    return new Set()
  }
}

const paths = globSync(["libs", "services", "page", "dev", "deploy"].map((top) => `${top}/**/*.{ts,tsx,mjs,js}`))
const files = paths.toSorted().map((file) => ({ file, ...patternsOf(file, readFileSync(file, "utf8")) }))
const { faults, safe } = await judge(files, exceptions, readKept())
mkdirSync(dirname(kept), { recursive: true })
writeFileSync(kept, [judgedBy, ...safe].join("\n"))
process.stdout.write(faults.map((fault) => `${fault}\n`).join(""))
// The process that judges would keep this one alive.
process.exit(faults.length === 0 ? 0 : 1)
