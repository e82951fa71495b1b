/** From the documents of a book to chapters, and from those to passages. Pure, and linear in the text. */
import type { BookChapter, BookFormat, BookOrder } from "./book.ts"
import { chaptersOf, wholeChapter } from "./chapters.ts"
import type { Document } from "./document/block.ts"
import { readMarkdown } from "./document/markdown.ts"
import { readHtml } from "./document/html.ts"
import { readText } from "./document/text.ts"
import { passagesOf } from "./passages.ts"
import { speakersOf } from "./speakers.ts"

/** Chapters with something to say, in order. */
export const readBook = ({ documents, format, speakers }: BookOrder): ReadonlyArray<BookChapter> => {
  const named = speakersOf(speakers)
  return documents.flatMap(({ input, title }, index) => {
    const document = readers[format](input)
    const chapters = documents.length > 1 ? [wholeChapter(document, title)] : chaptersOf(document, title)
    return chapters
      .filter(({ blocks }) => blocks.length > 0)
      .map((chapter) => ({
        ...(chapter.title !== undefined && { title: chapter.title }),
        document: index,
        ...passagesOf(chapter, named)
      }))
  })
}

const readers: Readonly<Record<BookFormat, (source: string) => Document>> = {
  text: readText,
  markdown: readMarkdown,
  html: readHtml
}
