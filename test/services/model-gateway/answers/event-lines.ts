import type { AnswerEvent, AnswerEvents } from "../../../../services/model-gateway/answers/AnswerEvents.ts"

const line = (event: AnswerEvent): string => {
  switch (event._tag) {
    case "Begun":
      return `begun ${event.id}`
    case "Opened": {
      const { _tag: tag, ...rest } = event.part
      return [event.index, "opened", tag, ...Object.values(rest)].join(" ")
    }
    case "Added":
      return `${event.index} + ${event.text}`
    case "Sealed":
      return `${event.index} sealed ${event.signature}`
    case "Closed":
      return `${event.index} closed${event.isCut ? " cut" : ""}`
    case "Used":
      return `used ${event.usage.inputTokens} ${event.usage.outputTokens}`
    case "Ended":
      return `ended ${event.reason}`
    case "Failed":
      return `failed ${event.reason}`
  }
}

/** Events as lines that can be read at a glance. */
export const lines = (events: AnswerEvents): ReadonlyArray<string> => events.map(line)
