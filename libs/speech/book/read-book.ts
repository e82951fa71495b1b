/** From the documents of a book to chapters, and from those to passages. Pure, and linear in the text. */
import { Effect } from "effect"
import type { BookChapter, BookFormat, BookOrder } from "./book.ts"
import { chaptersOf, wholeChapter } from "./chapters.ts"
import type { Document } from "./document/block.ts"
import { readMarkdown } from "./document/markdown.ts"
import { readHtml } from "./document/html.ts"
import { readText } from "./document/text.ts"
import { passagesOf } from "./passages.ts"
import { speakersOf } from "./speakers.ts"
import { finished, spread, stepCounter, type Steps } from "./steps.ts"

/** Chapters with something to say, in order. */
export const readBook = (order: BookOrder): ReadonlyArray<BookChapter> => finished(bookSteps(order))

/** The same, for a process that has other work to do meanwhile. */
export const readBookInSteps = (order: BookOrder): Effect.Effect<ReadonlyArray<BookChapter>> =>
  Effect.suspend(() => spread(bookSteps(order)))

function* bookSteps({ areChapters, documents, format, speakers }: BookOrder): Steps<ReadonlyArray<BookChapter>> {
  const named = speakersOf(speakers)
  const chapters: Array<BookChapter> = []
  const isOver = stepCounter()
  for (const [index, { input, title }] of documents.entries()) {
    const document = yield* readers[format](input)
    const found = areChapters ? [wholeChapter(document, title)] : chaptersOf(document, title)
    for (const chapter of found) {
      if (chapter.blocks.length === 0) continue
      const spoken = yield* passagesOf(chapter, named, isOver)
      chapters.push({ ...(chapter.title !== undefined && { title: chapter.title }), document: index, ...spoken })
    }
  }
  return chapters
}

const readers: Readonly<Record<BookFormat, (source: string) => Steps<Document>>> = {
  text: readText,
  markdown: readMarkdown,
  html: readHtml
}
