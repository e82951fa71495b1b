/**
 * What a sweeper knows: the claims that have not ended and the payers with something unpaid, as the bucket's
 * stream tells them in order. No larger than what is being worked on and what waits to be settled. Each move of each
 * payment comes by, most while its caller waits, and most of what they say is over at the next sweep: they are put
 * aside as they are, and the last one of each key is read when somebody wants to know.
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
  /** Of each place, by its ticket: when it was seen first. */
  readonly sinceMs: ReadonlyMap<string, number>
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
// No more than this of it is kept.
const claimCodec = jsonCodec(Schema.Struct({ state, asked }))
const payerCodec = jsonCodec(PayerRecord)

// Some records of a kilobyte or two; at a first reading, the whole bucket comes by before anybody asks.
const unreadMax = 1_024

type Unread = Pick<SourceMessage, "sequence" | "storedAtMs" | "data">

const noHeader = () => undefined

export const liveClaims = (): LiveClaims => {
  const claims = new Map<string, LiveClaim>()
  const payers = new Map<string, LivePayer>()
  const unread = new Map<string, Unread>()
  let lastSequence = 0

  const readClaim = (key: string, message: Unread) => {
    const decoded = claimCodec.decode({ data: message.data, header: noHeader })
    // Deleted first, so that the map's order stays that of the sequences.
    claims.delete(key)
    if (Result.isFailure(decoded) || hasEnded(decoded.success.state)) return
    const { state, asked } = decoded.success
    claims.set(key, { state, asked, revision: message.sequence, writtenAtMs: message.storedAtMs })
  }
  const readPayer = (key: string, message: Unread) => {
    const decoded = payerCodec.decode({ data: message.data, header: noHeader })
    const before = payers.get(key)?.sinceMs
    payers.delete(key)
    if (Result.isFailure(decoded) || decoded.success.places.length === 0) return
    const { places } = decoded.success
    const sinceMs = new Map(places.map(({ ticket }) => [ticket, before?.get(ticket) ?? message.storedAtMs]))
    payers.set(key, { record: decoded.success, revision: message.sequence, sinceMs })
  }
  const readAll = () => {
    for (const [key, message] of unread) {
      if (key.startsWith("claim.")) readClaim(key, message)
      else readPayer(key, message)
    }
    unread.clear()
  }
  return {
    see: (key, { sequence, storedAtMs, data }) => {
      lastSequence = sequence
      if (!key.startsWith("claim.") && !key.startsWith("payer.")) return
      unread.delete(key)
      // A copy: what came is a piece of all that was received with it.
      unread.set(key, { sequence, storedAtMs, data: data.slice() })
      if (unread.size >= unreadMax) readAll()
    },
    has: (key) => {
      readAll()
      return claims.has(key)
    },
    claims: () => {
      readAll()
      return [...claims]
    },
    payers: () => {
      readAll()
      return [...payers]
    },
    oldestSequence: () => {
      readAll()
      const [claim] = claims.values()
      const [payer] = payers.values()
      return Math.min(claim?.revision ?? Infinity, payer?.revision ?? Infinity, lastSequence + 1)
    }
  }
}
