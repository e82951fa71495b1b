/** The chapters of a document, by its headings. */
import type { Block, Document } from "./document/block.ts"

export interface Chapter {
  readonly title?: string
  /** The heading that gives it its title; the others are its sections. */
  readonly heading?: Block
  readonly blocks: ReadonlyArray<Block>
}

/** All of a document, as one of several. */
export const wholeChapter = ({ blocks, title }: Document, given?: string): Chapter =>
  named(blocks, blocks.find(isHeading), { given, title })

/**
 * The shallowest level of heading that occurs twice begins chapters, else the shallowest of all. What stands before the
 * first is a chapter too, named by its heading if it has one alone.
 */
export const chaptersOf = (document: Document, given?: string): ReadonlyArray<Chapter> => {
  const { blocks } = document
  const level = levelOfChapters(blocks)
  const first = blocks.findIndex((block) => block.level === level || block.beginsChapter)
  const starts = blocks.flatMap((block, at) => (at >= first && first >= 0 && begins(block, level) ? [at] : []))
  if (starts.length === 0 || (starts.length === 1 && first === 0)) return [wholeChapter(document, given)]
  const front = blocks.slice(0, first)
  const [heading, ...others] = front.filter(isHeading)
  return [
    named(front, others.length === 0 ? heading : undefined),
    ...starts.map((start, nth) => {
      const own = blocks.slice(start, starts[nth + 1])
      return named(own, own[0]?.level === undefined ? undefined : own[0])
    })
  ].filter((chapter) => chapter.blocks.length > 0)
}

const isHeading = ({ level }: Block) => level !== undefined

const begins = ({ beginsChapter, level }: Block, ofChapters: number) =>
  beginsChapter === true || (level !== undefined && level <= ofChapters)

const levelOfChapters = (blocks: ReadonlyArray<Block>): number => {
  const counts = Map.groupBy(
    blocks.flatMap(({ level }) => level ?? []),
    (level) => level
  )
  const levels = Array.from(counts.keys()).toSorted((a, b) => a - b)
  return levels.find((level) => (counts.get(level)?.length ?? 0) > 1) ?? levels[0] ?? 0
}

const named = (
  blocks: ReadonlyArray<Block>,
  heading: Block | undefined,
  names: { readonly given?: string | undefined; readonly title?: string | undefined } = {}
): Chapter => {
  const title = names.given ?? heading?.text ?? names.title
  return { blocks, ...(title !== undefined && { title: titleOf(title) }), ...(heading !== undefined && { heading }) }
}

const titleMax = 200

/** A title as files and lists can hold it. */
export const titleOf = (text: string): string =>
  text.length <= titleMax ? text : `${text.slice(0, titleMax - 1).replace(/[\ud800-\udbff]$/u, "")}…`
