/** The three jobs of a running fleet, each done as its callers do it: a decision with its event, a paid call, a text spoken. */
import { assert } from "@effect/vitest"
import { type RunningFleet } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { payingFetch } from "./payment-client.ts"

// A person who waits for an answer tries again within this; a machine with other tests takes longer.
export const soonMs = 20_000

/** Tries until it is done: callers try again after a refusal. */
const answers = async (what: string, act: () => Promise<Response>) => {
  let last = "no answer"
  let answer: { readonly id?: string } = {}
  const isDone = async () => {
    const response = await act().catch((error: unknown) => void (last = String(error)))
    if (response === undefined) return false
    last = `${response.status} ${(await response.clone().text()).slice(0, 300)}`
    if (response.ok) answer = (await response.json()) as typeof answer
    return response.ok
  }
  await until(isDone, { withinMs: soonMs }).catch(() => assert.fail(`${what}: ${last}`))
  return answer
}

export type ThreeJobs = ReturnType<typeof threeJobs>

/** Each fails when it is not done soon. */
export const threeJobs = (fleet: RunningFleet) => {
  let { token } = fleet.ready
  let used = 0
  const next = () => (used += 1)

  const ask = (method: "POST" | "PUT" | "DELETE", url: string, body: unknown) =>
    fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })

  /** Decisions, of which the last has an event that is delivered. */
  const command = async () => {
    const projectId = `project-${next()}`
    const received = () => fleet.log().split("received work_item.cancelled").length
    const before = received()
    const { pipeline } = fleet.ready
    const project = { displayName: projectId, repositoryUrl: "file:///nowhere.git" }
    await answers("a project", () => ask("PUT", `${pipeline}/projects/${projectId}`, project))
    const item = await answers("a work item", () =>
      ask("POST", `${pipeline}/workitems`, { title: "Oil the gate", projectId, agent: "coder" })
    )
    await answers("its end", () => ask("DELETE", `${pipeline}/workitems/${item.id}`, { reason: "tried" }))
    await until(() => received(), { is: (seen) => seen > before, withinMs: soonMs }).catch(() =>
      assert.fail("its event was not delivered")
    )
  }

  const call = () => {
    const pay = payingFetch(fleet.ready.chains.evm.payer.privateKey)
    const init = { method: "POST", headers: { "content-type": "application/json" } }
    const messages = [{ role: "user", content: `question ${next()}` }]
    const body = JSON.stringify({ model: "demo/nostream", messages })
    return answers("a paid call", () => pay(`${fleet.ready.gateway}/api/v1/chat/completions`, { ...init, body }))
  }

  // No piece of it was spoken before.
  const speak = () => {
    const text = { input: `Sentence number ${next()}.`, voice_id: "henry" }
    return answers("a text", () => ask("POST", `${fleet.ready.speech}/v1/audio/speech`, text))
  }

  return {
    command,
    call,
    speak,
    all: () => Promise.all([command(), call(), speak()]),
    token: () => token,
    /** Goes on with another token. */
    use: (other: string) => void (token = other)
  }
}
