/** A good report of every kind, made from its schema; its ids are of nothing that exists. */
import { isReportKind, type Report, reportKinds } from "../pipeline/reports.ts"
import { exampleValue } from "./example-value.ts"

/** Undefined for a kind that there is not. */
export const exampleReport = (kind: string): Report | undefined =>
  isReportKind(kind) ? (exampleValue(reportKinds[kind].schema) as Report) : undefined
