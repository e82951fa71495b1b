/** A steady load for some minutes: memory must not grow. Not part of a plain run; `load webhooks soak --minutes 60`. */
import { type Findings } from "../figures.ts"
import { publishAtRate } from "./publisher.ts"
import { startDispatcher, until, withRig } from "./rig.ts"

export const soak = (minutes: number): Promise<Findings> =>
  withRig(async (rig) => {
    const dispatcher = await startDispatcher(rig.nats.url, [
      { Name: "a", Url: rig.receiver.url("ok"), SecretEnvVar: "LOAD_SECRET" },
      { Name: "fails", Url: rig.receiver.url("fail"), MaxAttempts: 2 }
    ])
    const samples: Array<number> = []
    for (let minute = 0; minute < minutes; minute++) {
      await publishAtRate(rig.jetstream, 500, 60, minute * 30_000)
      await until(async () => (await rig.receiver.taken()) > 0, 10_000)
      await rig.receiver.reset()
      samples.push(dispatcher.rssMb())
    }
    await dispatcher.stop()
    const third = Math.max(1, Math.floor(samples.length / 3))
    const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
    const growth = mean(samples.slice(-third)) - mean(samples.slice(third, 2 * third))
    return {
      figures: [
        {
          scenario: `soak, ${minutes} min at 500/s`,
          name: "memory at the end",
          value: samples.at(-1) ?? 0,
          unit: "MB",
          target: "< 500 MB",
          met: (samples.at(-1) ?? 0) < 500
        },
        {
          scenario: `soak, ${minutes} min at 500/s`,
          name: "growth, last third over middle third",
          value: growth,
          unit: "MB"
        }
      ],
      series: [{ title: "Memory of the dispatcher by minute", unit: "MB", lines: [{ name: "RSS", values: samples }] }]
    }
  })
