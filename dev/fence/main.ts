/**
 * `node dev/fence/main.ts`: checks every import of this tree against the table of rooms. `table` prints that table for
 * the docs.
 */
import { globSync, readFileSync } from "node:fs"
import { type Entrances, faultsOf } from "./fence.ts"
import { roomTable } from "./rooms.ts"

const { imports } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly imports: Entrances }

if (process.argv[2] === "table") process.stdout.write(`${roomTable(imports)}\n`)
else {
  const files = globSync(
    ["libs", "services", "dev", "deploy", "load-tests", "test", "page"].map((top) => `${top}/**/*.{ts,tsx}`)
  )
  const faults = faultsOf(".", files.toSorted(), imports)
  for (const fault of faults) process.stdout.write(`${fault}\n`)
  if (faults.length > 0) process.exitCode = 1
}
