/**
 * What lies in the broker until somebody acts on it, as figures: abandoned deliveries, rejected messages, endpoints whose
 * settings cannot be used, the oldest payment to be settled, streams that were lost or whose copies lag. Only the console reads all of it.
 */
import { Effect, Layer } from "effect"
import { StreamReader } from "#bus"
import { decodeToken, subjects } from "#base"
import { type GaugeHandle, Metrics, supervise } from "#runtime"
import { knownEndpoints } from "./http/endpoints.ts"
import { StreamsSeen } from "./http/fleet.ts"
import {
  abandonedDeliveries,
  copiesBehind,
  endpointUnusable,
  rejectedMessages,
  settlementWaitingSince,
  streamLost
} from "./metrics.ts"

const every = "10 seconds"

type Figures = ReadonlyMap<string, number>

export const keptFigures = Layer.effectDiscard(
  Effect.gen(function* () {
    const { gauge } = yield* Metrics
    const { countBySubject } = yield* StreamReader
    const { all: streams } = yield* StreamsSeen
    const abandoned = shownOn(gauge(abandonedDeliveries), (endpoint) => ({ endpoint }))
    const rejected = shownOn(gauge(rejectedMessages), (origin) => ({ origin }))
    const unusable = shownOn(gauge(endpointUnusable), (endpoint) => ({ endpoint }))
    const lost = shownOn(gauge(streamLost), (stream) => ({ stream }))
    const behind = shownOn(gauge(copiesBehind), (stream) => ({ stream }))

    const waitingSince = gauge(settlementWaitingSince)

    const look = Effect.gen(function* () {
      const endpoints = [...(yield* knownEndpoints).values()]
      const names = new Map(endpoints.map(({ id, name }) => [id, name]))
      abandoned(byLastToken(yield* countBySubject("ABANDONED", subjects.abandonedAll), (id) => names.get(id) ?? id))
      rejected(byLastToken(yield* countBySubject("REJECTED", subjects.rejectedAll), decodeToken))
      unusable(new Map(endpoints.flatMap(({ name, faults }) => (faults.length === 0 ? [] : [[name, 1]]))))
      const seen = yield* streams
      const oldest = seen.find(({ name }) => name === "SETTLEMENTS")?.state?.firstAt
      waitingSince.set({}, oldest == null ? 0 : Date.parse(oldest) / 1_000)
      lost(new Map(seen.flatMap(({ name, state, trouble }) => (state !== null && trouble !== null ? [[name, 1]] : []))))
      behind(
        new Map(
          seen.flatMap(({ name, state }) => {
            const count = state?.replicasBehind.length ?? 0
            return count === 0 ? [] : [[name, count]]
          })
        )
      )
    })
    // Without the broker nothing is known, and what was seen last stays.
    yield* Effect.forkScoped(
      supervise("kept figures", Effect.forever(Effect.andThen(Effect.ignore(look), Effect.sleep(every))))
    )
  })
)

/** Sets the series of a look, and ends those of the look before that are not in it. */
const shownOn = <Label extends string>(
  gauge: GaugeHandle<Label>,
  labelsOf: (name: string) => Readonly<Record<Label, string>>
) => {
  let before: Figures = new Map()
  return (now: Figures) => {
    for (const name of before.keys()) if (!now.has(name)) gauge.end(labelsOf(name))
    for (const [name, value] of now) gauge.set(labelsOf(name), value)
    before = now
  }
}

/** Counts by what the last token of a subject stands for. Pure. */
export const byLastToken = (counts: Readonly<Record<string, number>>, nameOf: (token: string) => string): Figures => {
  const figures = new Map<string, number>()
  for (const [subject, count] of Object.entries(counts)) {
    const name = nameOf(subject.slice(subject.lastIndexOf(".") + 1))
    figures.set(name, (figures.get(name) ?? 0) + count)
  }
  return figures
}
