/**
 * The disk of the embedded nats-server's store, and its check: on a full one every write fails. That has no part in
 * readiness; writes that fail have.
 */
import { statfs } from "node:fs/promises"
import { Effect } from "effect"
import { check, defineGauge, Metrics } from "#runtime"

export const storeFree = defineGauge({
  name: "broker_store_free_bytes",
  help: "Free bytes of the disk of the embedded nats-server's store, of a fleet that `up` started.",
  labels: []
})

export const diskMetrics = [storeFree]

interface Disk {
  readonly freeBytes: number
  readonly bytes: number
}

export const diskOf = (folder: string): Effect.Effect<Disk | undefined> =>
  Effect.tryPromise(() => statfs(folder)).pipe(
    Effect.map(({ bavail, blocks, bsize }) => ({ freeBytes: bavail * bsize, bytes: blocks * bsize })),
    Effect.orElseSucceed(() => undefined)
  )

export const checkDisk = Effect.fnUntraced(function* (folder: string) {
  const gauge = (yield* Metrics).gauge(storeFree)
  const run = Effect.gen(function* () {
    const disk = yield* diskOf(folder)
    if (disk === undefined) return yield* Effect.fail(undefined)
    gauge.set({}, disk.freeBytes)
    if (isLow(disk)) return yield* Effect.fail(`the disk of ${folder} is nearly full`)
  })
  yield* check({ name: "disk", run })
})

const gib = 1_024 ** 3

/** A log of deliveries grows by a gibibyte in minutes of load; a small disk is meant for little. Pure. */
export const isLow = ({ freeBytes, bytes }: Disk): boolean => freeBytes < Math.min(gib, bytes / 20)
