/** What a scenario stands on: the fleet as `./starling up` starts it, in a home of its own, ended by its pid. */
import { modelVoice, newHome, type RunningFleet, startFleet } from "#dev/fixtures/starling"

export interface Fleet {
  readonly speech: string
  readonly token: string
  readonly metrics: string
  /** The section `Bus` for one more role, in a process of its own. */
  readonly roleBus: RunningFleet["roleBus"]
  /** Of `up`; the synthesizer, nats-server and the encoders are its children. */
  readonly pid: number
}

// One caller stands for many here.
const roomForAll = { SPEECH_API_CONCURRENCY_PER_WORKSPACE: "1000", TELEMETRY_LOG_LEVEL: "Error" }

export const withFleet = async <A>(
  use: (fleet: Fleet) => Promise<A>,
  changes: Readonly<Record<string, string>> = {}
): Promise<A> => {
  const home = newHome({ ...modelVoice, ...roomForAll, ...changes })
  try {
    const running = await startFleet(home)
    const { speech, token } = running.ready
    try {
      return await use({ speech, token, metrics: running.ready.metrics, roleBus: running.roleBus, pid: running.pid })
    } catch (error) {
      process.stderr.write(`the fleet's last words:\n${running.log().slice(-2_000)}\n`)
      throw error
    } finally {
      await running.stop("SIGTERM")
    }
  } finally {
    home.remove()
  }
}
