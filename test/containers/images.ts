/** The images that a run of all tests builds beside its first ones. */
import { existsSync, readFileSync } from "node:fs"
import { until } from "../../dev/fixtures/eventually.ts"

// The engine's layers and the bundle take two minutes beside other tests on two processors.
const builtWithinMs = 540_000

/** Waits for `<path>.made` or `<path>.failed`, where a run names such a path; else they were built before. */
export const imagesAreMade = async () => {
  const path = process.env["STARLING_IMAGES_END"]
  if (path === undefined) return
  await until(() => existsSync(`${path}.made`) || existsSync(`${path}.failed`), { withinMs: builtWithinMs })
  if (existsSync(`${path}.made`)) return
  throw new Error(`the images were not made: ${readFileSync(`${path}.failed`, "utf8").slice(-2_000)}`)
}
