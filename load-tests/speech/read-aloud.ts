/**
 * What voices read to the judges: paragraphs of our own, one a line, whose numbers are words, so that each language has
 * one way to say them. They were fixed before anything was measured.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"

export const judgedLanguages = ["en", "de", "es", "fr", "it", "pt"] as const
export type JudgedLanguage = (typeof judgedLanguages)[number]

export const paragraphs = (language: JudgedLanguage): ReadonlyArray<string> =>
  readFileSync(join(import.meta.dirname, "read-aloud", `${language}.txt`), "utf8")
    .trim()
    .split("\n")
