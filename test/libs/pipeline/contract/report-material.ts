/** The kinds of reports, an example of each, and the faults of one that is wrong. */
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { decodeReport, exampleReport, reportKinds } from "#pipeline/contract"

export const kinds = Object.keys(reportKinds)

export const example = (kind: string): Record<string, unknown> => {
  const found = exampleReport(kind)
  assert.isDefined(found, kind)
  return { ...found }
}

export const faultPaths = (kind: string, input: unknown) => {
  const decoded = decodeReport(kind, input)
  return Result.isFailure(decoded) ? decoded.failure.map(({ path }) => path) : []
}
