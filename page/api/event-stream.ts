/** Server-sent events in the answer of a POST, which the browser's own EventSource cannot make. */

export type StreamedEvent =
  | { readonly type: "data"; readonly data: string }
  | { readonly type: "comment"; readonly text: string }

/** Reads events from text that comes in pieces of any size. */
export const eventReader = () => {
  let rest = ""
  let data: Array<string> = []
  const take = (line: string): ReadonlyArray<StreamedEvent> => {
    if (line.startsWith(":")) return [{ type: "comment", text: line.slice(1).trimStart() }]
    if (line.startsWith("data:")) data.push(line.slice(line.startsWith("data: ") ? 6 : 5))
    if (line !== "" || data.length === 0) return []
    const whole = data.join("\n")
    data = []
    return [{ type: "data", data: whole }]
  }
  return (text: string): ReadonlyArray<StreamedEvent> => {
    const lines = (rest + text).split(/\r?\n/u)
    rest = lines.pop() ?? ""
    return lines.flatMap(take)
  }
}

export async function* eventsOf(answer: Response): AsyncGenerator<StreamedEvent> {
  const read = eventReader()
  const text = new TextDecoder()
  for await (const bytes of bytesOf(answer)) yield* read(text.decode(bytes, { stream: true }))
}

/** The body as it comes. Leaving the loop ends the request. */
export async function* bytesOf(answer: Response): AsyncGenerator<Uint8Array> {
  const reader = answer.body?.getReader()
  if (reader === undefined) return
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
  } finally {
    await reader.cancel().catch(() => {})
  }
}
