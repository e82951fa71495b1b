import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import OpenAI from "openai"
import { sealedThought } from "../../../../services/model-gateway/translate/sealed-thought.ts"
import { type TestGateway, withGateway } from "../../../support/gateway.ts"

const openAi = ({ url }: TestGateway) => new OpenAI({ baseURL: `${url}/api/v1`, apiKey: "none", maxRetries: 0 })
const model = "claude/free"
const effort = "low" as const

describe("a thought of Claude", () => {
  it.live("reaches a caller of chat with its signature, streamed and whole", () =>
    withGateway((gateway) =>
      Effect.promise(async () => {
        const client = openAi(gateway)
        const request = {
          model,
          max_tokens: 2_000,
          reasoning_effort: effort,
          messages: [{ role: "user" as const, content: "!think" }]
        }
        const whole = await client.chat.completions.create(request)
        const streamed = await client.chat.completions.stream(request).finalChatCompletion()
        const detailsOf = (message: object | undefined) =>
          (
            message as {
              readonly reasoning_details?: ReadonlyArray<{ readonly text: string; readonly signature: string }>
            }
          ).reasoning_details ?? []
        const [detail] = detailsOf(whole.choices[0]?.message)
        assert.isNotEmpty(detail?.text)
        assert.isNotEmpty(detail?.signature)
        const [again] = detailsOf(streamed.choices[0]?.message)
        assert.strictEqual(again?.text, detail?.text)
        assert.isNotEmpty(again?.signature)
      })
    )
  )

  it.live("reaches a caller of responses sealed, shown or hidden, streamed and whole", () =>
    withGateway((gateway) =>
      Effect.promise(async () => {
        const client = openAi(gateway)
        for (const [input, tag] of [
          ["!think", "Signed"],
          ["!redacted", "Encrypted"]
        ] as const) {
          const request = { model, input, max_output_tokens: 2_000, reasoning: { effort } }
          const whole = await client.responses.create(request)
          const streamed = await client.responses.stream(request).finalResponse()
          for (const { output } of [whole, streamed]) {
            const [thought] = output
            if (thought?.type !== "reasoning") return assert.fail(`no thought: ${JSON.stringify(output)}`)
            assert.strictEqual(sealedThought(thought.encrypted_content ?? "")?._tag, tag)
          }
        }
      })
    )
  )
})
