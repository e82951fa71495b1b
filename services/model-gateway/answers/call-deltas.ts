/**
 * The calls of one answer of an OpenAI-like provider, told apart by their deltas. Deltas of parallel calls can
 * alternate; some providers give no index, the same one for all calls, or no id, and some a new id in each delta. A
 * call is emitted once its id and name are known. Pure but for its memory of the answer.
 */
import { isRecord, type JsonObject, numberAt, recordAt, textAt } from "../translate/json.ts"

export interface CallDelta {
  /** The call's index among the calls. */
  readonly nth: number
  /** With the first delta that is emitted. */
  readonly opened: { readonly id: string; readonly name: string } | undefined
  readonly text: string
}

interface Call {
  readonly nth: number
  id: string | undefined
  name: string | undefined
  /** The text received before the id and the name were known. */
  pending: string
  isOpened: boolean
}

/** The limit on how much of an answer is held back: as large as the longest event that a provider can send. */
export const heldCharactersMax = 4 * 1_024 * 1_024

/** `answerId`: the answer's id, for calls without an id of their own. */
export const callDeltas = (answerId: () => string) => {
  const calls: Array<Call> = []
  const byIndex = new Map<number, Call>()
  const byId = new Map<string, Call>()
  const ids = new Set<string>()
  let heldCharacters = 0

  const begun = (): Call => {
    const call: Call = { nth: calls.length, id: undefined, name: undefined, pending: "", isOpened: false }
    calls.push(call)
    return call
  }
  const callOf = (raw: JsonObject, { id, name }: Said): Call => {
    const index = numberAt(raw, "index")
    if (index === undefined) {
      const known = id === undefined ? calls.at(-1) : byId.get(id)
      return known ?? begun()
    }
    const known = byIndex.get(index)
    const isAnother = known?.id !== undefined && id !== undefined && id !== known.id && name !== undefined
    if (known !== undefined && !isAnother) return known
    const call = begun()
    byIndex.set(index, call)
    return call
  }
  const given = (call: Call, id: string, name: string): CallDelta => {
    const text = call.pending
    call.pending = ""
    call.isOpened = true
    heldCharacters -= text.length
    // Two calls with one id could not be answered.
    const own = ids.has(id) ? `${id}_${call.nth}` : id
    ids.add(own)
    return { nth: call.nth, opened: { id: own, name }, text }
  }
  const push = (raw: JsonObject): CallDelta | undefined => {
    const said = saidIn(raw)
    const call = callOf(raw, said)
    if (call.isOpened) return { nth: call.nth, opened: undefined, text: said.text }
    call.id ??= said.id
    if (call.id !== undefined) byId.set(call.id, call)
    call.name ??= said.name
    call.pending += said.text
    heldCharacters += said.text.length
    return call.id === undefined || call.name === undefined ? undefined : given(call, call.id, call.name)
  }
  /** At the end no more ids are expected. */
  const rest = (): ReadonlyArray<CallDelta> =>
    calls.flatMap((call) => {
      if (call.isOpened || call.name === undefined) return []
      return [given(call, call.id ?? madeId(answerId(), call.nth), call.name)]
    })
  const fault = (): string | undefined =>
    heldCharacters > heldCharactersMax ? "a call whose id or name never comes" : undefined
  const faultAtEnd = () => (calls.some(({ isOpened }) => !isOpened) ? "a call without a name" : undefined)
  return { push, rest, fault, faultAtEnd }
}

/** Different from those of the conversation's other answers, in characters that every provider accepts. */
const madeId = (answerId: string, nth: number) => `call_${answerId.replace(/[^\w-]/gu, "").slice(-40)}_${nth}`

interface Said {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly text: string
}

const saidIn = (raw: JsonObject): Said => {
  const declared = isRecord(raw["custom"]) ? raw["custom"] : recordAt(raw, "function")
  const input = declared["arguments"] ?? declared["input"]
  return {
    id: textAt(raw, "id") || undefined,
    name: textAt(declared, "name") || undefined,
    // Some providers do not write the arguments as text.
    text: typeof input === "string" ? input : isRecord(input) ? JSON.stringify(input) : ""
  }
}
