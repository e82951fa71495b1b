/** The blocks of a document, each on one line: what its paragraphs, headings, list items and cells say. */
import { hasVisible } from "#speech"
import type { Sourced } from "./source.ts"

export interface Block extends Sourced {
  /** Of a heading: 1 is the shallowest. */
  readonly level?: number
  readonly pauseAfterMs: number
  /** It begins a chapter, heading or not. */
  readonly beginsChapter?: true
}

export interface Document {
  readonly blocks: ReadonlyArray<Block>
  /** What names it beside its headings. */
  readonly title?: string
}

export const pauses = { paragraph: 300, item: 150, heading: 600, break: 900 } as const

/** Collects lines: white space runs together, signs without width stay out. */
export class BlockWriter {
  readonly blocks: Array<Block> = []
  private readonly source: string
  private text: Array<string> = []
  private length = 0
  private endsInSpace = true
  private runs: Array<[text: number, source: number, length: number]> = []
  private lastIsDecoded = false
  private beginsChapter = false

  constructor(source: string) {
    this.source = source
  }

  /** What stands in the document from `from` to `to`. */
  add(from: number, to: number) {
    const end = Math.min(to, this.source.length)
    const written = this.source.slice(from, end)
    let at = from
    for (const { 0: run, index } of written.matchAll(uneven)) {
      const start = from + index
      this.exact(at, start)
      at = start + run.length
      if (white.test(run.replaceAll(silent, ""))) this.decoded(" ", start, at)
    }
    this.exact(at, end)
  }

  private exact(from: number, to: number) {
    const written = this.source.slice(from, to).replaceAll(otherWhite, " ")
    const skipped = this.endsInSpace && written.startsWith(" ") ? 1 : 0
    if (written.length <= skipped) return
    const run = this.runs.at(-1)
    if (run !== undefined && !this.lastIsDecoded && run[1] + run[2] === from + skipped) run[2] += to - from - skipped
    else this.runs.push([this.length, from + skipped, to - from - skipped])
    this.lastIsDecoded = false
    this.write(skipped === 0 ? written : written.slice(1))
  }

  /** `text` for what stands from `from` to `to`. */
  decoded(text: string, from: number, to: number) {
    const line = text.replaceAll(silent, "").replaceAll(whites, " ")
    const written = this.endsInSpace ? line.trimStart() : line
    if (written === "") return
    const run = this.runs.at(-1)
    // One entity may be two characters.
    if (run?.[1] !== from || !this.lastIsDecoded) this.runs.push([this.length, from, to - from])
    this.lastIsDecoded = true
    this.write(written)
  }

  private write(text: string) {
    this.text.push(text)
    this.length += text.length
    this.endsInSpace = text.endsWith(" ")
  }

  /** Ends the line; one without a visible character is left out, and one of signs alone is a pause. */
  end(kind: Pick<Block, "level" | "pauseAfterMs">) {
    const line = this.take()
    if (!hasVisible(line.text)) return
    if (kind.level === undefined && line.text.length <= ornamentMax && ornament.test(line.text)) {
      return this.pause(pauses.break)
    }
    this.blocks.push({ ...line, ...kind, ...(this.beginsChapter && { beginsChapter: true }) })
    this.beginsChapter = false
  }

  /** What was written since the last end, which is no block then. */
  take(): Sourced {
    const { runs } = this
    if (this.endsInSpace && this.length > 0) this.trimEnd()
    const text = this.text.join("").slice(0, this.length)
    const [, from = 0, length = 0] = runs.at(-1) ?? []
    if (this.lastIsDecoded && runs.length > 0) runs.push([text.length, from + length, 0])
    this.text = []
    this.length = 0
    this.endsInSpace = true
    this.runs = []
    this.lastIsDecoded = false
    return { text, source: runs }
  }

  private trimEnd() {
    const { runs } = this
    const last = runs.at(-1)
    this.length -= 1
    if (last === undefined) return
    if (last[0] >= this.length) {
      runs.pop()
      const before = runs.at(-1)
      this.lastIsDecoded = before !== undefined && before[2] > last[0] - before[0]
    } else if (!this.lastIsDecoded) last[2] -= 1
  }

  /** Lengthens the pause after the last block. */
  pause(atLeastMs: number) {
    const last = this.blocks.at(-1)
    if (last === undefined || last.pauseAfterMs >= atLeastMs) return
    this.blocks[this.blocks.length - 1] = { ...last, pauseAfterMs: atLeastMs }
  }

  /** The next block begins a chapter. */
  beginChapter() {
    this.beginsChapter = true
  }
}

// Soft hyphens, zero-width spaces and joiners of words, marks of direction. Joiners of letters and of pictures stay.
const silent = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/gu
const white = /[\s\p{Cc}]/u
const whites = /[\s\p{Cc}]+/gu
const otherWhite = /[^\S ]|\p{Cc}/gu
/** What does not become one space for one. */
const uneven =
  /[\s\p{Cc}\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f]{2,}|[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/gu

/** "* * *" between scenes. */
const ornament = /^[\s*·•⁂#~_=–—-]+$/u
const ornamentMax = 80
