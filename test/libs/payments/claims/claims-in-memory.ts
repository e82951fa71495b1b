/** Claims over buckets in memory, and the jobs that they ask the settlers for. */
import { Effect, Layer } from "effect"
import { Publisher } from "#bus"
import { payerKeyOf, type SettlementJob } from "#payments/contract"
import { type ClaimRecord, Claims } from "#payments"
import { Metrics } from "#runtime"
import type { ClaimOptions } from "../../../../libs/payments/claims/Claims.ts"
import type { PayerRecord } from "../../../../libs/payments/claims/PayerStore.ts"
import { checkedPayment } from "../../../support/payments.ts"
import { recordedKv, recordedPublisher, type Recorder, recorder } from "../../../support/recorder.ts"
import { optionsFor } from "./claims-on-bus.ts"

export interface StoredJob {
  readonly subject: string
  readonly job: SettlementJob
  readonly messageId: string | undefined
}

export const claimsInMemory = (record: Pick<Recorder, "call"> = recorder(), options: ClaimOptions = optionsFor(8)) => {
  const kv = recordedKv(record)
  const jobs: Array<StoredJob> = []
  const publisher = Publisher.of({
    ...recordedPublisher(record),
    publish: (subject, _codec, value, more) =>
      record.call(
        `publish ${subject}`,
        Effect.sync(() => {
          const sequence = jobs.push({ subject, job: value as SettlementJob, messageId: more?.messageId })
          return { stream: "SETTLEMENTS", sequence, duplicate: false }
        })
      )
  })
  const layer = Claims.layer(options).pipe(
    Layer.provide(Layer.mergeAll(kv.layer, Layer.succeed(Publisher, publisher))),
    Layer.provideMerge(Metrics.layerTest)
  )
  const valueOf = <A>(key: string) =>
    (kv.entries.get("authorizations")?.get(key) as { readonly value: A } | undefined)?.value
  const payerOf = ({ network, payer } = checkedPayment("any")) => valueOf<PayerRecord>(payerKeyOf(network, payer))
  return {
    layer,
    kv,
    jobs,
    payerOf,
    places: () => payerOf()?.places.map(({ claimKey }) => claimKey) ?? [],
    stateOf: (key: string) => valueOf<ClaimRecord>(key)?.state ?? "absent"
  }
}
