/** The metrics of the console beside those of every public API. */
import { auditActions } from "#contracts"
import { defineCounter } from "#runtime"

export const actsTotal = defineCounter({
  name: "console_acts_total",
  help: "Acts of operators that were written down in AUDIT, by action.",
  labels: ["action"],
  values: { action: auditActions }
})

/** For the generated page. */
export const consoleMetrics = [actsTotal]
