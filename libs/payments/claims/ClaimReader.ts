/**
 * Read-only access to claims and payers: no move, no write. A list follows the bucket in the order of the last moves,
 * so that a stuck claim comes first. Claims that have not ended begin where the sweep found the oldest.
 */
import { Context, Effect, Layer, Option, Result, Stream } from "effect"
import { type BusError, jsonCodec, Kv, type SourceMessage, StreamReader } from "#bus"
import { isSameAddress, payerKeyOf } from "#payments/contract"
import { claimBucket } from "./ClaimStore.ts"
import { Checkpoint, checkpointKey } from "./NewPayers.ts"
import { type PayerName, PayerRecord } from "./PayerStore.ts"
import { ClaimRecord, type ClaimState, hasEnded } from "./claim.ts"

export interface SeenClaim {
  readonly key: string
  readonly record: ClaimRecord
}

export interface ClaimQuery {
  /** Without a state: claims that have not ended. */
  readonly state?: ClaimState | undefined
  readonly network?: string | undefined
  readonly payer?: string | undefined
}

export interface ClaimsFound {
  readonly claims: ReadonlyArray<SeenClaim>
  /** The position to continue from; undefined if there are no more. */
  readonly next: number | undefined
}

interface Bounds {
  /** Undefined for the beginning. */
  readonly from: number | undefined
  readonly limit: number
}

export class ClaimReader extends Context.Service<
  ClaimReader,
  {
    readonly read: (key: string) => Effect.Effect<Option.Option<SeenClaim>, BusError>
    readonly payer: (name: PayerName) => Effect.Effect<Option.Option<PayerRecord>, BusError>
    /** Reads 4,096 records at most. */
    readonly list: (query: ClaimQuery, bounds: Bounds) => Effect.Effect<ClaimsFound, BusError>
  }
>()("starling/payments/ClaimReader") {
  static readonly layer = Layer.effect(
    ClaimReader,
    Effect.gen(function* () {
      const kv = yield* Kv
      const reader = yield* StreamReader
      // Opened on first use: a process that never reads needs no bucket.
      const valueOf = <A>(work: Effect.Effect<Option.Option<{ readonly value: A }>, BusError>) =>
        Effect.map(
          work,
          Option.map(({ value }) => value)
        )
      return ClaimReader.of({
        read: (key) =>
          Effect.flatMap(kv.open(claimBucket, ClaimRecord), (bucket) => valueOf(bucket.get(key))).pipe(
            Effect.map(Option.map((record) => ({ key, record })))
          ),
        payer: ({ network, payer }) =>
          Effect.flatMap(kv.open(claimBucket, PayerRecord), (bucket) =>
            valueOf(bucket.get(payerKeyOf(network, payer)))
          ),
        list: Effect.fn("ClaimReader.list")(function* (query, { from, limit }) {
          const checkpoints = yield* kv.open(claimBucket, Checkpoint)
          const swept = yield* valueOf(checkpoints.get(checkpointKey))
          const isLive = query.state === undefined || !hasEnded(query.state)
          const beginning = isLive && Option.isSome(swept) ? swept.value.from : 1
          return yield* listFrom(reader, query, { from: from ?? beginning, limit })
        })
      })
    })
  )
}

const examinedMax = 4_096
// The last record can expire between the question for the bucket's end and its reading: then nothing comes after it.
const silence = "1 second"
const codec = jsonCodec(ClaimRecord)
const stream = `KV_${claimBucket}`
const prefix = `$KV.${claimBucket}.`

const listFrom = Effect.fnUntraced(function* (
  reader: StreamReader["Service"],
  query: ClaimQuery,
  { from, limit }: { readonly from: number; readonly limit: number }
): Effect.fn.Return<ClaimsFound, BusError> {
  const { lastSequence } = yield* reader.bounds(stream)
  const claims: Array<SeenClaim> = []
  if (from > lastSequence) return { claims, next: undefined }
  let examined = 0
  let last = from - 1
  yield* reader.follow(stream, from).pipe(
    Stream.timeout(silence),
    Stream.runForEachWhile((message) =>
      Effect.sync(() => {
        if (message.sequence > lastSequence) return false
        last = message.sequence
        examined += 1
        const key = message.subject.slice(prefix.length)
        const decoded = key.startsWith("claim.") ? Result.getSuccess(codec.decode(message)) : Option.none()
        if (Option.isSome(decoded) && isWanted(query, decoded.value)) claims.push({ key, record: decoded.value })
        return claims.length < limit && examined < examinedMax && last < lastSequence
      })
    )
  )
  // A slow broker can also cause the silence: what is left decides.
  const left = last < lastSequence ? yield* reader.next(stream, last + 1) : Option.none<SourceMessage>()
  const isMore = Option.isSome(left) && left.value.sequence <= lastSequence
  return { claims, next: isMore ? last + 1 : undefined }
})

/** Pure. */
export const isWanted = ({ state, network, payer }: ClaimQuery, record: ClaimRecord): boolean =>
  (state === undefined ? !hasEnded(record.state) : record.state === state) &&
  (network === undefined || record.network === network) &&
  (payer === undefined || isSameAddress(record.network, record.payer, payer))
