/** Ids that are made of something else, so that who does a thing again does the same thing. Pure. */
import { hash } from "node:crypto"

/** A UUID of version 5's shape, always the same for the same words. */
export const uuidFrom = (...words: ReadonlyArray<string>): string => {
  const hex = hash("sha256", JSON.stringify(words), "hex")
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32)
  ].join("-")
}
