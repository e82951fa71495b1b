/** The text of a book, ready to be spoken: chapters of passages, each of which is one session. Pure. */
export type { BookChapter, BookDocument, BookFormat, BookOrder, BookSection, BookTurn, Passage } from "./book.ts"
export { sourceSpan } from "./document/source.ts"
export { readBook, readBookInSteps } from "./read-book.ts"
