/** Shared facts of the queues on the broker and the settings of their readers. */

/** More lanes than partitions would stay empty, and each costs a stream. */
export const deliveryLanesMax = 16

/** The stream of a lane. */
export const deliveryStream = (lane: number): string => (lane === 0 ? "DELIVERIES" : `DELIVERIES-${lane}`)

/** The most reports in work over all processes: the upper limit of `PipelineApi.ReportsMax`. */
export const reportsInWorkMax = 10_000
