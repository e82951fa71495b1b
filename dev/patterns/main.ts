/**
 * `node dev/patterns/main.ts`: no regular expression of this tree takes more than linear time, whatever it is given.
 * What was judged safe is kept by its text, for a verdict takes a tenth of a second and those of all patterns a minute:
 * in a cache, and in `safe.txt` beside this file for a fresh checkout. `keep` writes that anew, `anew` judges all again.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { exceptions } from "./exceptions.ts"
import { judge, judgedBy } from "./judge.ts"
import { patternsOf } from "./patterns.ts"

const cache = ".starling/cache/patterns.safe"
const committed = "dev/patterns/safe.txt"

const keptIn = (path: string): ReadonlyArray<string> => {
  try {
    const [by, ...patterns] = readFileSync(path, "utf8").split("\n")
    return by === judgedBy ? patterns : []
  } catch {
    return []
  }
}

const keep = (path: string, patterns: ReadonlyArray<string>) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${[judgedBy, ...patterns].join("\n")}\n`)
}

const [command] = process.argv.slice(2)
const kept = command === "anew" ? [] : [...keptIn(cache), ...keptIn(committed)]
const paths = globSync(["libs", "services", "page", "dev", "deploy"].map((top) => `${top}/**/*.{ts,tsx,mjs,js}`))
const files = paths.toSorted().map((file) => ({ file, ...patternsOf(file, readFileSync(file, "utf8")) }))
const { faults, safe } = await judge(files, exceptions, new Set(kept))
keep(cache, safe)
if (command === "keep") keep(committed, safe)
process.stdout.write(faults.map((fault) => `${fault}\n`).join(""))
// The process that judges would keep this one alive.
process.exit(faults.length === 0 ? 0 : 1)
