/** The effect of an open SSML element on the text inside it. Pure: it follows from the element and the one around it. */
import { Result } from "effect"
import {
  combineStyles,
  type Emotion,
  type Emphasis,
  isEmotion,
  isEmphasis,
  plainStyle,
  readProsody,
  type Style,
  styleOf
} from "../text/style.ts"
import { rewritesOf } from "./say-as.ts"

export interface OpenElement {
  readonly name: string
  readonly prosody: Style
  readonly emotion: Emotion | null
  readonly emphasis: Emphasis | null
  /** All three together. */
  readonly style: Style
  /** The text that is spoken instead of the content of sub and say-as. */
  readonly rewrite: ((content: string) => string) | null
  /** The first unit after the start tag, and that of the tag itself. */
  readonly contentStart: number
  readonly tagStart: number
}

/** Around the outermost element. */
export const noElement: OpenElement = {
  name: "",
  prosody: plainStyle,
  emotion: null,
  emphasis: null,
  style: plainStyle,
  rewrite: null,
  contentStart: 0,
  tagStart: 0
}

interface StartTag {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly tagStart: number
  readonly tagEnd: number
}

type Change = Partial<Pick<OpenElement, "prosody" | "emotion" | "emphasis" | "rewrite">>

/** An inner emotion or emphasis replaces the outer one; prosody multiplies. */
export const openElement = (outer: OpenElement, tag: StartTag, locale: string): Result.Result<OpenElement, string> =>
  Result.map(changeOf(outer, tag, locale), (change) => {
    const { emotion = outer.emotion, emphasis = outer.emphasis, prosody = outer.prosody, rewrite = null } = change
    const isSame = emotion === outer.emotion && emphasis === outer.emphasis && prosody === outer.prosody
    return {
      name: tag.name,
      prosody,
      emotion,
      emphasis,
      rewrite,
      style: isSame ? outer.style : styleOf(prosody, emotion, emphasis),
      contentStart: tag.tagEnd,
      tagStart: tag.tagStart
    }
  })

const changeOf = (
  outer: OpenElement,
  { name, attributes }: StartTag,
  locale: string
): Result.Result<Change, string> => {
  if (name === "prosody") {
    return Result.map(readProsody(attributes), (inner) => ({ prosody: combineStyles(outer.prosody, inner) }))
  }
  if (name === "emphasis") {
    const level = attributes["level"] ?? "moderate"
    return isEmphasis(level) ? Result.succeed({ emphasis: level }) : unknown("emphasis level", level)
  }
  if (name === "style") {
    const emotion = attributes["emotion"] ?? ""
    return isEmotion(emotion) ? Result.succeed({ emotion }) : unknown("emotion", emotion)
  }
  if (name === "sub") return Result.succeed({ rewrite: () => attributes["alias"] ?? "" })
  if (name === "say-as") {
    const kind = attributes["interpret-as"] ?? ""
    const rewrite = rewritesOf(kind, attributes["format"] ?? "", locale)
    return rewrite === undefined ? unknown("interpret-as", kind) : Result.succeed({ rewrite })
  }
  return Result.succeed({})
}

const unknown = (what: string, value: string) => Result.fail(`${what} "${value.slice(0, 40)}" is not known`)
