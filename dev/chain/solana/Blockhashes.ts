/**
 * The chain's time: a slot every so many milliseconds, one blockhash for each slot with a question, valid for 150
 * slots. LiteSVM knows only its newest hash, so its own check is switched off and this takes its place.
 */
import { createHash } from "node:crypto"
import { getBase58Decoder } from "@solana/kit"

export interface BlockhashOptions {
  readonly slotMs: number
  /** How many slots a blockhash is valid for. */
  readonly lifeSlots: number
  /** How many slots the newest final one is behind. */
  readonly finalitySlots: number
}

// The local chain's first slot; there is a block for every slot, so heights and slots count alike.
const firstSlot = 400_000_000

export class Blockhashes {
  readonly #options: BlockhashOptions
  readonly #slotOf = new Map<string, number>()
  readonly #startedAt = performance.now()
  readonly #seed = performance.timeOrigin + performance.now()
  #latest: { readonly slot: number; readonly blockhash: string } | undefined
  #generation = 0

  constructor(options: BlockhashOptions) {
    this.#options = options
  }

  slot(commitment: string | undefined): number {
    const slot = firstSlot + Math.floor((performance.now() - this.#startedAt) / this.#options.slotMs)
    return commitment === "processed" || commitment === "confirmed" ? slot : slot - this.#options.finalitySlots
  }

  latest(): { readonly blockhash: string; readonly lastValidBlockHeight: number } {
    const slot = this.slot("processed")
    if (this.#latest?.slot !== slot) {
      this.#generation += 1
      const digest = createHash("sha256").update(`${this.#seed} ${slot} ${this.#generation}`).digest()
      this.#latest = { slot, blockhash: getBase58Decoder().decode(digest) }
      this.#slotOf.set(this.#latest.blockhash, slot)
      this.#forget()
    }
    return { blockhash: this.#latest.blockhash, lastValidBlockHeight: slot + this.#options.lifeSlots }
  }

  /** At `finalized` a hash that is younger than the newest final slot is not known yet. */
  isValid(blockhash: string, commitment?: string): boolean {
    const issued = this.#slotOf.get(blockhash)
    const slot = this.slot(commitment ?? "processed")
    return issued !== undefined && issued <= slot && slot <= issued + this.#options.lifeSlots
  }

  /** Invalidates all hashes so far. */
  expireAll(): void {
    this.#slotOf.clear()
    this.#latest = undefined
  }

  #forget(): void {
    const { finalitySlots, lifeSlots } = this.#options
    for (const [blockhash, slot] of this.#slotOf) {
      if (slot + lifeSlots + finalitySlots >= this.slot("processed")) return
      this.#slotOf.delete(blockhash)
    }
  }
}
