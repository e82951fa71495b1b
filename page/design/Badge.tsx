import type { ReactNode } from "react"
import { clipped } from "./Clip.tsx"
import type { Tone } from "./tone.ts"

export type { Tone }

const marks: Readonly<Record<Tone, string>> = { good: "●", wait: "◐", bad: "▲", quiet: "○" }

/** A state in a word, with a mark of its own shape, so that colour alone says nothing. */
export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) => (
  <span className={`badge ${tone}`}>
    <span aria-hidden="true">{marks[tone]}</span> {clipped(children)}
  </span>
)
