/**
 * Refuses what a quote does not know the price of: parameters and tools that cost extra upstream pass only where the
 * model's configuration names them. Values that ask for nothing more than usual are left out. Pure.
 */
import { Result } from "effect"
import { type CostlyParameter, costlyParameters } from "#contracts"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import { isRecord, type JsonObject, recordsAt, without } from "../translate/json.ts"
import type { ApiDialect } from "./dialects.ts"

const isOneOf =
  (...usual: ReadonlyArray<unknown>) =>
  (value: unknown) =>
    usual.includes(value)

/** What clients send although it changes nothing; beside null, false, and what is empty. */
const usualValues: Readonly<Partial<Record<CostlyParameter, (value: unknown) => boolean>>> = {
  service_tier: isOneOf("auto", "default", "standard", "standard_only"),
  best_of: isOneOf(1),
  candidate_count: isOneOf(1),
  speed: isOneOf("standard"),
  inference_geo: isOneOf("global"),
  modalities: (value) => Array.isArray(value) && value.every((kind) => kind === "text"),
  search_parameters: (value) => isRecord(value) && value["mode"] === "off",
  // An empty one asks for a search with all of its defaults.
  web_search_options: () => false
}

const isNothing = (value: unknown) =>
  value === undefined ||
  value === null ||
  value === false ||
  value === "" ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.keys(value).length === 0)

const asksForMore = (name: CostlyParameter, value: unknown) => {
  if (value === null || value === undefined) return false
  const isUsual = usualValues[name]
  return isUsual === undefined ? !isNothing(value) : !isUsual(value)
}

/** The request without what asks for nothing. `extras`: what is sold with the model, as its configuration names it. */
export const soldRequest = (
  dialect: ApiDialect,
  request: JsonObject,
  extras: ReadonlyArray<string>
): Result.Result<JsonObject, GatewayFault> => {
  const given = costlyParameters.filter((name) => name in request && !extras.includes(name))
  const costly = given.find((name) => asksForMore(name, request[name]))
  if (costly !== undefined) return refused(costly, costly)
  for (const [at, tool] of recordsAt(request, "tools").entries()) {
    const type = toolType(dialect, tool)
    if (type !== undefined && !extras.includes(`tools.${type}`)) return refused(`tools[${at}].type`, `the tool ${type}`)
  }
  return Result.succeed(given.length === 0 ? request : without(request, ...given))
}

// Anthropic names these, and the caller runs them.
const callersTools = /^(?:bash|text_editor|computer|memory)$/u

/** The type of a tool that the provider runs, without its version; undefined of one that the caller runs. */
const toolType = (dialect: ApiDialect, tool: JsonObject): string | undefined => {
  const { type } = tool
  if (typeof type !== "string") {
    const isDeclared = dialect === "chat" ? isRecord(tool["function"]) : typeof tool["name"] === "string"
    return isDeclared ? undefined : (Object.keys(tool)[0] ?? "unknown").slice(0, 64)
  }
  const name = type.replace(/_\d{8}$/u, "").slice(0, 64)
  if (name === "function" || name === "custom") return undefined
  return dialect === "messages" && callersTools.test(name) ? undefined : name
}

const refused = (param: string, what: string) =>
  Result.fail(
    fault("INVALID_PARAMETER", {
      param,
      message: `${what} costs extra and is not sold with this model; leave it out`
    })
  )
