/** The pipeline's HTTP API as a caller uses it. */
export type Json = Readonly<Record<string, unknown>>

export interface Answered {
  readonly status: number
  readonly body: Json
}

export interface PipelineApi {
  /** Whatever the answer's status. */
  readonly ask: (method: string, path: string, body?: Json) => Promise<Answered>
  /** Fails on anything but 2xx. */
  readonly call: (method: string, path: string, body?: Json) => Promise<Json>
}

export const pipelineApi = (url: string, token: string): PipelineApi => {
  const ask = async (method: string, path: string, body?: Json): Promise<Answered> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Json) }
  }
  const call = async (method: string, path: string, body?: Json) => {
    const answered = await ask(method, path, body)
    if (answered.status >= 200 && answered.status < 300) return answered.body
    throw new Error(`${method} ${path}: ${answered.status} ${JSON.stringify(answered.body)}`)
  }
  return { ask, call }
}
