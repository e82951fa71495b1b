/** What the queues on the broker and the settings of who reads them have in common. */

/** More lanes than partitions would stay empty, and each costs a stream. */
export const deliveryLanesMax = 16

/** The stream of a lane. */
export const deliveryStream = (lane: number): string => (lane === 0 ? "DELIVERIES" : `DELIVERIES-${lane}`)

/** The lane that a subject of a delivery belongs to. */
export const laneOfSubject = (subject: string): number => {
  const root = subject.slice(0, subject.indexOf("."))
  return root === "deliveries" ? 0 : Number(root.slice("deliveries-".length))
}

/** The reports that all processes together may have in work: the most that `PipelineApi.ReportsMax` may be. */
export const reportsInWorkMax = 10_000
