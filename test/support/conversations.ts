/** Conversations by the very code that reads callers and writes providers. */
import { Result } from "effect"
import type { ApiDialect, FileData, WebFile } from "../../services/model-gateway/conversation/Conversation.ts"
import type { Takes } from "../../services/model-gateway/conversation/Written.ts"
import { readConversation, placeholderOf, writtenFor } from "../../services/model-gateway/requests/dialects.ts"
import type { JsonObject } from "../../services/model-gateway/translate/json.ts"
import type { ProviderKind } from "../../services/model-gateway/translate/provider-apis.ts"

interface WrittenTo {
  readonly to: ProviderKind
  readonly outputTokens?: number
  readonly takes?: Partial<Takes>
  readonly fetched?: (file: WebFile) => FileData
}

export const takesAll: Takes = { parameters: "extended", thoughts: "reasoning_content" }

/** A request as a provider of a kind is given it. */
export const written = (dialect: ApiDialect, request: JsonObject, options: WrittenTo) => {
  const { to: kind, outputTokens = 9_000, takes, fetched = placeholderOf } = options
  const provider = {
    name: kind,
    kind,
    baseUrl: "http://127.0.0.1:1",
    key: undefined,
    connectionsMax: 1,
    takes: { ...takesAll, ...takes }
  }
  const route = {
    provider,
    model: "m",
    maxTokensParameter: "max_tokens" as const,
    cost: { inputPerMillion: undefined, cachedPerMillion: undefined, outputPerMillion: undefined, flat: undefined }
  }
  return Result.flatMap(readConversation(dialect, request), ({ conversation }) =>
    writtenFor(conversation, { outputTokens, fetched })(route)
  )
}
