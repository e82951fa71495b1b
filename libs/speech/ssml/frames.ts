/** The effect of an open SSML element on the text inside it. Pure: each element makes the frame of its content. */
import { Result } from "effect"
import { rewritesOf } from "./say-as.ts"
import {
  combineProsody,
  type Emotion,
  type Emphasis,
  isEmotion,
  isEmphasis,
  plainProsody,
  type Prosody,
  readProsody,
  type Style,
  styleOf
} from "../text/style.ts"

export interface Frame {
  readonly name: string
  readonly prosody: Prosody
  readonly emotion: Emotion | null
  readonly emphasis: Emphasis | null
  readonly style: Style
  /** The text that is spoken instead of the content of sub and say-as. */
  readonly rewrite: ((content: string) => string) | null
  /** The first unit after the start tag, and that of the tag itself. */
  readonly contentStart: number
  readonly tagStart: number
}

export const outerFrame: Frame = {
  name: "",
  prosody: plainProsody,
  emotion: null,
  emphasis: null,
  style: styleOf(plainProsody, null, null),
  rewrite: null,
  contentStart: 0,
  tagStart: 0
}

type Attributes = Readonly<Record<string, string>>
type Change = Partial<Pick<Frame, "prosody" | "emotion" | "emphasis" | "rewrite">>

/** An inner emotion or emphasis replaces the outer one; prosody multiplies. */
export const innerFrame = (
  outer: Frame,
  element: {
    readonly name: string
    readonly attributes: Attributes
    readonly tagStart: number
    readonly tagEnd: number
  },
  locale: string
): Result.Result<Frame, string> =>
  Result.map(changeOf(outer, element.name, element.attributes, locale), (change) => {
    const { emotion = outer.emotion, emphasis = outer.emphasis, prosody = outer.prosody, rewrite = null } = change
    const isSame = emotion === outer.emotion && emphasis === outer.emphasis && prosody === outer.prosody
    return {
      name: element.name,
      prosody,
      emotion,
      emphasis,
      rewrite,
      style: isSame ? outer.style : styleOf(prosody, emotion, emphasis),
      contentStart: element.tagEnd,
      tagStart: element.tagStart
    }
  })

const changeOf = (
  outer: Frame,
  name: string,
  attributes: Attributes,
  locale: string
): Result.Result<Change, string> => {
  if (name === "prosody") {
    return Result.map(readProsody(attributes), (inner) => ({ prosody: combineProsody(outer.prosody, inner) }))
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
