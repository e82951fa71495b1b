/**
 * What a sweeper knows: the claims that have not ended and the payers with something unpaid, as the bucket's
 * stream tells them in order. No larger than what is being worked on and what waits to be settled.
 */
import { Result, Schema } from "effect"
import { jsonCodec, type SourceMessage } from "#bus"
import { hasEnded } from "./claim-policy.ts"
import { ClaimRecord, PayerRecord } from "./claim-record.ts"
import type { Live } from "./sweep-policy.ts"

export interface LiveClaim extends Live {
  readonly revision: number
}

export interface LivePayer {
  readonly record: PayerRecord
  readonly revision: number
  readonly writtenAtMs: number
}

export interface LiveClaims {
  readonly see: (key: string, message: SourceMessage) => void
  readonly has: (key: string) => boolean
  readonly claims: () => ReadonlyArray<readonly [key: string, claim: LiveClaim]>
  readonly payers: () => ReadonlyArray<readonly [key: string, payer: LivePayer]>
  /** From where on the stream holds all that is known here, and all that is not yet read. */
  readonly oldestSequence: () => number
}

const { state, asked } = ClaimRecord.fields
// Every move of every claim comes by here, and no more than this of it is kept.
const claimCodec = jsonCodec(Schema.Struct({ state, asked }))
const payerCodec = jsonCodec(PayerRecord)

export const liveClaims = (): LiveClaims => {
  const claims = new Map<string, LiveClaim>()
  const payers = new Map<string, LivePayer>()
  let lastSequence = 0

  const seeClaim = (key: string, message: SourceMessage) => {
    const decoded = claimCodec.decode(message)
    // Deleted first, so that the map's order stays that of the sequences.
    claims.delete(key)
    if (Result.isFailure(decoded) || hasEnded(decoded.success.state)) return
    const { state, asked } = decoded.success
    claims.set(key, { state, asked, revision: message.sequence, writtenAtMs: message.storedAtMs })
  }
  const seePayer = (key: string, message: SourceMessage) => {
    const decoded = payerCodec.decode(message)
    payers.delete(key)
    if (Result.isFailure(decoded) || decoded.success.places.length === 0) return
    payers.set(key, { record: decoded.success, revision: message.sequence, writtenAtMs: message.storedAtMs })
  }
  return {
    see: (key, message) => {
      lastSequence = message.sequence
      if (key.startsWith("claim.")) seeClaim(key, message)
      else if (key.startsWith("payer.")) seePayer(key, message)
    },
    has: (key) => claims.has(key),
    claims: () => [...claims],
    payers: () => [...payers],
    oldestSequence: () => {
      const [claim] = claims.values()
      const [payer] = payers.values()
      return Math.min(claim?.revision ?? Infinity, payer?.revision ?? Infinity, lastSequence + 1)
    }
  }
}
