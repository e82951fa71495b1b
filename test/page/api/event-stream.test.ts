import { assert, it } from "@effect/vitest"
import { eventReader } from "../../../page/api/event-stream.ts"

const text =
  ': payment-response abc\n\ndata: {"a":1}\n\nevent: speech.chunk\r\ndata: two\r\ndata: lines\r\n\r\ndata: [DONE]\n\n'

it("reads the same events and comments from a stream however it is cut", () => {
  const whole = eventReader()(text)
  assert.deepStrictEqual(whole, [
    { type: "comment", text: "payment-response abc" },
    { type: "data", data: '{"a":1}' },
    { type: "data", data: "two\nlines" },
    { type: "data", data: "[DONE]" }
  ])
  for (let cut = 1; cut < text.length; cut++) {
    const read = eventReader()
    assert.deepStrictEqual([...read(text.slice(0, cut)), ...read(text.slice(cut))], whole, `cut at ${cut}`)
  }
})
