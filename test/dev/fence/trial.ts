/** Trials of the fence: statements in files of rooms, and the verdicts on them. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll } from "@effect/vitest"
import { type Entrances, faultsOf } from "../../../dev/fence/fence.ts"
import { rooms } from "../../../dev/fence/rooms.ts"

export const { imports, dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly imports: Entrances
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}
export const names = Object.keys(rooms)

export const folder = mkdtempSync(join(tmpdir(), "starling-fence-"))
afterAll(() => rmSync(folder, { recursive: true }))

/** Writes each room's statements into one file of it, a line each; returns the fence's verdict on a line. */
export const judged = (statements: ReadonlyMap<string, ReadonlyArray<string>>) => {
  for (const [file, lines] of statements) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), lines.join("\n"))
  }
  const faults = new Map<string, Array<string>>()
  // Circles, which many trials together make, name no file.
  for (const fault of faultsOf(folder, [...statements.keys()], imports)) {
    const place = /^[^ ]*(?=[ :])/u.exec(fault)?.[0].replace(/:$/u, "") ?? ""
    faults.set(place, [...(faults.get(place) ?? []), fault])
  }
  return (file: string, line: number) => faults.get(`${file}:${line}`) ?? []
}
