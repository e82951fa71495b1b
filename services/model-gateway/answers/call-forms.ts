/** The forms in which a caller wants its tool calls back, by the names under which the tools were declared. Pure. */
import type { CallersTool, Conversation } from "../conversation/Conversation.ts"
import { customInputKey } from "../conversation/write-chat.ts"
import { writtenName } from "../conversation/Written.ts"
import type { CallForm, CallForms } from "./AnswerEvents.ts"

export const callForms = ({ tools }: Pick<Conversation, "tools">): CallForms => {
  const forms = new Map<string, CallForm>()
  for (const tool of tools) if (tool._tag === "Callers") forms.set(writtenName(tool), formOf(tool))
  return (name) => forms.get(name) ?? { _tag: "Function", name }
}

const formOf = ({ form, name, group }: CallersTool): CallForm => {
  switch (form) {
    case "function":
      return { _tag: "Function", name, ...(group === undefined ? {} : { namespace: group }) }
    case "custom":
      return { _tag: "Custom", name, key: customInputKey }
    default:
      return { _tag: "Client", name: form }
  }
}
