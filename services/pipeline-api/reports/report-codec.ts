/** A report as it comes from the bus: its kind says by which schema it is read. */
import { Result } from "effect"
import { type MessageCodec, parseJson } from "#bus"
import { decodeReport, type Report } from "#contracts"

const utf8 = new TextEncoder()

export const reportCodec: MessageCodec<Report> = {
  decode: (message) => Result.flatMap(parseJson(message.data), (json) => decodeReport(kindOf(json), json)),
  encode: (report) => ({ data: utf8.encode(JSON.stringify(report)), headers: [] })
}

const kindOf = (json: unknown) => (typeof json === "object" && json !== null && "kind" in json ? String(json.kind) : "")

/** Reports of one key are decided in their order. */
export const orderKeyOf = (report: Report): string => {
  if ("workItemId" in report && report.workItemId !== null) return `workitem ${report.workItemId}`
  if ("releaseId" in report) return `release ${report.releaseId}`
  if ("agent" in report) return `agent ${report.agent}`
  return "projectId" in report ? `project ${report.projectId}` : `report ${report.reportId}`
}
