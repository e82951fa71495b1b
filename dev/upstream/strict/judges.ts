/** The strict models: which dialect each speaks, and what each refuses a request with. Pure. */
import type { Json } from "../json.ts"
import { anthropicRules, countShape, messagesShape, withoutBetas } from "./anthropic.ts"
import { anthropicRefusal } from "./anthropic-words.ts"
import { chatRules, chatShape } from "./openai.ts"
import { chatMessageRules } from "./openai-messages.ts"
import { openAiRefusal } from "./openai-words.ts"
import { reasonerRefusal, reasonerRules, reasonerShape } from "./reasoner.ts"
import { firstOf, type Headers, type Refusal, type Rule } from "./refusal.ts"
import { type Fault, faultOf, type Shape } from "./shape.ts"

export interface Judge {
  readonly face: "openai" | "anthropic"
  readonly rules: ReadonlyArray<Rule>
  /** Undefined for a request that it answers. */
  readonly refusalOf: (request: Json, headers?: Headers, isCount?: boolean) => Refusal | undefined
  readonly thinks: "never" | "when asked" | "always"
}

const judged =
  (shape: Shape, words: (fault: Fault) => Refusal, rules: ReadonlyArray<Rule>) => (request: Json, headers: Headers) => {
    const fault = faultOf(shape, request)
    return fault === undefined ? firstOf(rules, ({ check }) => check(request, headers)) : words(fault)
  }

const openAi = (shape: Shape, words: (fault: Fault) => Refusal, rules: ReadonlyArray<Rule>) => {
  const check = judged(shape, words, rules)
  return {
    face: "openai" as const,
    rules,
    refusalOf: (request: Json, headers: Headers = {}) => check(request, headers)
  }
}

const whole = judged(messagesShape, anthropicRefusal, anthropicRules)
const counted = judged(countShape, anthropicRefusal, anthropicRules)

export const judges = {
  strict: { ...openAi(chatShape, openAiRefusal, chatRules), thinks: "never" },
  "strict-claude": {
    face: "anthropic",
    rules: anthropicRules,
    refusalOf: (request, headers = {}, isCount = false) =>
      (isCount ? counted : whole)(withoutBetas(request, headers), headers),
    thinks: "when asked"
  },
  reasoner: {
    ...openAi(reasonerShape, reasonerRefusal, [...reasonerRules, ...chatMessageRules]),
    thinks: "always"
  }
} satisfies Readonly<Record<string, Judge>>

/** The judge of a model, by the last part of its name. */
export const judgeOf = (model: string): Judge | undefined => {
  const name = model.slice(model.lastIndexOf("/") + 1)
  return Object.hasOwn(judges, name) ? judges[name as keyof typeof judges] : undefined
}
