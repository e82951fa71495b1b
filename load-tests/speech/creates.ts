/**
 * Two hundred voices cloned and deleted, half of them from samples of ten megabytes: none may fail but for a phrase
 * that the recogniser does not make out, memory must not grow with them, and no file of theirs may be left.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { exactly, figuresOf, type Findings, percentile } from "../figures.ts"
import { type Fleet, withFleet } from "./fleet.ts"
import { closedLoop } from "../loops.ts"
import { processesOf, rssMbOf } from "../process-use.ts"

const count = 200
// The C library keeps what its threads have freed; until each of its arenas has been used that looks like growth.
const warmUps = 60
const atOnce = 2
// What a garbage collector may hold back at one moment and not at another.
const growthMax = 0.1
// Its own figure is some 4 %.
const misreadMax = 0.1
const headerBytes = 44
const speaker = "selma"
const story =
  "The harbour wakes before the town does, and nobody minds. Boats come in with the tide, heavy with herring and " +
  "stories. By noon the market is loud, and the gulls are louder still. In the evening everyone walks home along the wall."

interface Created {
  readonly outcome: string
  readonly tookMs: number
}

const asked = async (fleet: Fleet, path: string, body: unknown) => {
  const headers = { authorization: `Bearer ${fleet.token}`, "content-type": "application/json" }
  const response = await fetch(`${fleet.speech}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
  if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}`)
  return (await response.json()) as Readonly<Record<string, string>>
}

const recorded = async (fleet: Fleet, input: string) => {
  const { audio_data: audio = "" } = await asked(fleet, "/v1/audio/speech", { input, voice_id: speaker })
  return Buffer.from(audio, "base64")
}

/** The same recording as a studio would hand it over: 48,000 Hz, two channels, 32 bits; eight times as large. */
const inStudioQuality = (wav: Buffer): Buffer => {
  const frames = (wav.length - headerBytes) / 2
  const wide = Buffer.alloc(headerBytes + frames * 16)
  wav.copy(wide, 0, 0, headerBytes)
  wide.writeUInt32LE(wide.length - 8, 4)
  wide.writeUInt16LE(2, 22)
  wide.writeUInt32LE(48_000, 24)
  wide.writeUInt32LE(48_000 * 8, 28)
  wide.writeUInt16LE(8, 32)
  wide.writeUInt16LE(32, 34)
  wide.writeUInt32LE(wide.length - headerBytes, 40)
  for (let frame = 0; frame < frames; frame++) {
    const sample = wav.readInt16LE(headerBytes + frame * 2) * 65_536
    for (let part = 0; part < 4; part++) wide.writeInt32LE(sample, headerBytes + frame * 16 + part * 4)
  }
  return wide
}

const createAndDelete = async (fleet: Fleet, sample: Buffer): Promise<Created> => {
  const { id = "", phrase = "" } = await asked(fleet, "/v1/voices/consent-challenges", { full_name: "Ada Lovelace" })
  const recording = await recorded(fleet, phrase)
  const form = new FormData()
  form.append("name", "Ada")
  form.append("gender", "female")
  form.append("sample", new Blob([Uint8Array.from(sample)]), "blob")
  form.append("consent_challenge_id", id)
  form.append("consent_recording", new Blob([Uint8Array.from(recording)]), "blob")
  const headers = { authorization: `Bearer ${fleet.token}` }
  const started = performance.now()
  const response = await fetch(`${fleet.speech}/v1/voices`, { method: "POST", headers, body: form })
  const body = (await response.json()) as { readonly id?: string; readonly error?: { readonly code: string } }
  const tookMs = performance.now() - started
  if (response.status !== 201) return { outcome: body.error?.code ?? String(response.status), tookMs }
  const gone = await fetch(`${fleet.speech}/v1/voices/${body.id}`, { method: "DELETE", headers })
  return { outcome: gone.status === 204 ? "created" : `deleted with ${gone.status}`, tookMs }
}

const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length

export const creates = async (): Promise<Findings> => {
  const folder = mkdtempSync(join(tmpdir(), "starling-creates-"))
  const changes = { VOICE_CLONING_CHALLENGES_PER_HOUR: "300", TMPDIR: folder }
  try {
    return await withFleet(async (fleet) => {
      const plain = await recorded(fleet, `${story} ${story}`)
      const studio = inStudioQuality(plain)
      const run = (index: number) => createAndDelete(fleet, index % 2 === 0 ? plain : studio)
      const residentMb = () => rssMbOf(processesOf(fleet.pid), "up")
      await closedLoop(warmUps, atOnce, run)
      const beforeMb = residentMb()
      const samplesMb: Array<number> = []
      const started = performance.now()
      const all = await closedLoop(count, atOnce, async (index) => {
        const created = await run(index)
        samplesMb.push(residentMb())
        return created
      })
      const tookSeconds = (performance.now() - started) / 1_000
      // The end is where it settles: the mean of the last tenth, not one moment.
      const lastMb = samplesMb.slice(-count / 10).reduce((sum, mb) => sum + mb, 0) / (count / 10)
      const made = all.filter(({ outcome }) => outcome === "created")
      const misread = all.filter(({ outcome }) => outcome === "consent_phrase_mismatch").length
      const other = all.length - made.length - misread
      const left = filesBelow(folder)
      const figure = figuresOf(`${count} voices cloned and deleted`)
      const tooks = made.map(({ tookMs }) => tookMs)
      const growth = lastMb / beforeMb - 1
      return {
        figures: [
          figure(`made, ${atOnce} at once`, made.length / tookSeconds, "/s"),
          figure("time to make one, p50", percentile(tooks, 0.5), "ms"),
          figure("time to make one, p95", percentile(tooks, 0.95), "ms"),
          figure("phrases not made out", misread, "", {
            target: `<= ${misreadMax * count}`,
            met: misread <= misreadMax * count
          }),
          figure("other refusals", other, "", exactly(0, other)),
          figure("memory of up before", beforeMb, "MB"),
          figure("memory of up after", lastMb, "MB", {
            target: `<= ${growthMax * 100} % more`,
            met: growth <= growthMax
          }),
          figure("temporary files left", left, "", exactly(0, left))
        ],
        series: [{ title: `Memory over ${count} voices`, unit: "MB", lines: [{ name: "up", values: samplesMb }] }]
      }
    }, changes)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
