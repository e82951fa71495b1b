/**
 * The tools of a conversation that are sold with its model. A tool that its provider runs costs extra, so it is sold
 * only if the model's configuration names it. Agents declare such tools whether they need them or not: beside tools
 * that the caller runs, it is omitted; alone, or chosen, it is refused. Pure.
 */
import { Result } from "effect"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import type { Conversation, Tool } from "./Conversation.ts"

// Anthropic defines these, but the caller runs them.
const callersTools = /^(?:bash|text_editor|computer|memory)$/u

export interface SoldConversation {
  readonly conversation: Conversation
  readonly leftOut: ReadonlyArray<string>
}

export const soldTools = (
  conversation: Conversation,
  extras: ReadonlyArray<string>
): Result.Result<SoldConversation, GatewayFault> => {
  const { tools, choice, dialect } = conversation
  const isSold = (tool: Tool) =>
    tool._tag === "Callers" ||
    extras.includes(`tools.${tool.type}`) ||
    (dialect === "messages" && callersTools.test(tool.type))
  const unsold = tools.filter((tool) => !isSold(tool))
  if (unsold.length === 0) return Result.succeed({ conversation, leftOut: [] })
  const chosen = choice?._tag === "Named" ? choice.tool.name : undefined
  const hasOthers = tools.some((tool) => tool._tag === "Callers")
  const refused = unsold.find((tool) => !hasOthers || nameOf(tool) === chosen)
  if (refused !== undefined) {
    const param = refused._tag === "Providers" ? `${refused.path}.type` : "tools"
    return Result.fail(
      fault("INVALID_PARAMETER", {
        param,
        message: `the tool ${nameOf(refused)} costs extra and is not sold with this model; leave it out`
      })
    )
  }
  return Result.succeed({
    conversation: { ...conversation, tools: tools.filter(isSold) },
    leftOut: unsold.map((tool) => `tools.${nameOf(tool)}`)
  })
}

const nameOf = (tool: Tool) => (tool._tag === "Callers" ? tool.name : tool.type)
