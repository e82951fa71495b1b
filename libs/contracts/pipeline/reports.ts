/**
 * Every report that internal services and runners may publish on `reports.<kind>`, as data: what it says, whom it is
 * about, and its exact shape. Decoding names all faults with their paths. Unknown fields pass, as additive.
 */
import { Result, Schema } from "effect"
import { faultsOf } from "../Envelope.ts"
import type { Fault } from "../primitives.ts"
import { fleetReports } from "./fleet-reports.ts"
import { releaseReports } from "./release-reports.ts"
import type { ReportDeclaration } from "./report-head.ts"
import { runnerReports } from "./runner-reports.ts"

export type { ReportDeclaration } from "./report-head.ts"

/** By kind, as it stands in the subject and in the report. */
export const reportKinds = { ...runnerReports, ...fleetReports, ...releaseReports } as const
export type ReportKind = keyof typeof reportKinds
/** A report of that kind, or of any. Its head: `kind`, `reportId` (UUID), `atMs`. */
export type Report<Kind extends ReportKind = ReportKind> = (typeof reportKinds)[Kind]["schema"]["Type"]
/** Of an item, by its runner: the work item's own command takes it as it is, once secrets are removed. */
export type RunnerReport = Report<keyof typeof runnerReports>

export const isReportKind = (kind: string): kind is ReportKind => Object.hasOwn(reportKinds, kind)
export const isRunnerReport = (report: Report): report is RunnerReport => Object.hasOwn(runnerReports, report.kind)

type Decoder = (input: unknown) => Result.Result<unknown, Schema.SchemaError>
const decoders = new Map<ReportKind, Decoder>()

// Made when a kind is first seen: building all of them would slow every start down.
const decoderOf = (kind: ReportKind): Decoder => {
  const made = decoders.get(kind)
  if (made !== undefined) return made
  const declaration: ReportDeclaration = reportKinds[kind]
  const decoder = Schema.decodeUnknownResult(declaration.schema, { errors: "all" })
  decoders.set(kind, decoder)
  return decoder
}

/** Decodes what came on `reports.<kind>`. The fault of an unknown kind stands at `/kind`. */
export const decodeReport = (kind: string, input: unknown): Result.Result<Report, ReadonlyArray<Fault>> => {
  if (!isReportKind(kind)) return Result.fail([{ path: "/kind", message: `there is no report ${kind}` }])
  return Result.mapBoth(decoderOf(kind)(input), {
    onSuccess: (report) => report as Report,
    onFailure: ({ issue }) => faultsOf(issue)
  })
}
