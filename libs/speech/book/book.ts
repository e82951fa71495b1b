/** A book as it is ordered, and as it is spoken: chapters of passages, of which each is one session. */
import type { SourceRun } from "./document/source.ts"

/** How the text of a book is written. */
export type BookFormat = "text" | "markdown" | "html"

export interface BookDocument {
  readonly title?: string
  readonly input: string
}

export interface BookOrder {
  readonly format: BookFormat
  readonly documents: ReadonlyArray<BookDocument>
  /** Each document is a chapter, as in an EPUB's spine; otherwise chapters are found in each. */
  readonly areChapters: boolean
  /** Names as they stand before a colon at the start of a paragraph; that paragraph is theirs. */
  readonly speakers: ReadonlyArray<string>
}

/** One paragraph or heading, spoken by one voice. */
export interface BookTurn {
  /** Index in `speakers`; absent: the narrator. */
  readonly speaker?: number
  /** One line, never empty, and never what a session would take for SSML. */
  readonly text: string
  /** The silence after it, beyond that of its last sentence. */
  readonly pauseAfterMs: number
  readonly source: ReadonlyArray<SourceRun>
}

export interface Passage {
  readonly turns: ReadonlyArray<BookTurn>
}

/** A heading within a chapter: the turn that speaks it. */
export interface BookSection {
  readonly title: string
  readonly passage: number
  readonly turn: number
}

export interface BookChapter {
  /** Absent where nothing names it. */
  readonly title?: string
  /** The index of its document. */
  readonly document: number
  /** The lengths of its turns' texts together. */
  readonly characters: number
  readonly passages: ReadonlyArray<Passage>
  readonly sections: ReadonlyArray<BookSection>
}
