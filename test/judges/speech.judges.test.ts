/** Clients of speech that nobody here wrote, as their makers publish them, with a fleet for ElevenLabs, Cartesia and others. */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { type AddressInfo, connect } from "node:net"
import { join } from "node:path"
import { createServer } from "node:tls"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type SpeechClient, speechClients, type SpeechTask } from "../../services/speech-api/judged-clients.ts"
import { newAuthority } from "../support/certificates.ts"
import { type SpeechFleet, startSpeechFleet } from "../support/speech.ts"
import { installed, type Installed, pythonEnvironment } from "./client-packages.ts"

const words = "Good morning to you. The harbour wakes early. And now, rest.".split(" ")

interface Told {
  readonly error?: string
  readonly bytes?: number
  readonly words?: ReadonlyArray<string>
  readonly voices?: number
  readonly status?: number | null
}

let fleet: SpeechFleet
let front: Front
beforeAll(async () => {
  fleet = await startSpeechFleet()
  front = await startFront(fleet.url)
})
afterAll(async () => {
  front.end()
  await fleet.remove()
})

interface Front {
  readonly url: string
  readonly caFile: string
  readonly end: () => void
}

/** The same by TLS, for clients that know no address without it. */
const startFront = async (url: string): Promise<Front> => {
  const authority = newAuthority()
  const { certificate, key } = authority.sign("localhost")
  const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (incoming) => {
    const onward = connect(Number(new URL(url).port), "127.0.0.1")
    incoming.pipe(onward).pipe(incoming)
    for (const socket of [incoming, onward]) {
      socket.once("error", () => [incoming, onward].forEach((each) => each.destroy()))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve))
  const end = () => {
    server.close()
    authority.remove()
  }
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, caFile: authority.caFile, end }
}

const inPython = speechClients.filter(({ language }) => language === "Python").flatMap(({ packages }) => packages)
const environments: { python?: Promise<Installed | string> } = {}

const installedFor = ({ language, name, packages }: SpeechClient) =>
  language === "Python"
    ? (environments.python ??= pythonEnvironment("speech-python", [...new Set(inPython)]))
    : installed(`speech-${name}`, packages)

const run = promisify(execFile)

interface Judged {
  readonly told: Partial<Readonly<Record<SpeechTask, Told>>>
  readonly versions: Readonly<Record<string, string>>
}

/** What a client's script tells of all its tasks; or why the client cannot be had, as a text. */
const judge = async (client: SpeechClient): Promise<Judged | string> => {
  const found = await installedFor(client)
  if (typeof found === "string") return found
  const [program, script, url] =
    client.language === "Python"
      ? [join(found.folder, "bin/python"), "speech.py", fleet.url]
      : [process.execPath, "speech.mjs", front.url]
  const { stdout } = await run(program, [join(found.folder, script), client.name, url, fleet.token], {
    cwd: found.folder,
    env: { ...process.env, NODE_EXTRA_CA_CERTS: front.caFile },
    timeout: 300_000,
    maxBuffer: 64 * 1_024 * 1_024
  })
  const line = stdout.split("\n").find((each) => each.startsWith("told: ")) ?? "told: {}"
  const versions = Object.fromEntries(client.packages.map((each) => [each, found.versions[each] ?? ""]))
  return { told: JSON.parse(line.slice("told: ".length)) as Judged["told"], versions }
}

const isRight: Readonly<Record<SpeechTask, (told: Told) => void>> = {
  // Some four seconds, of 8 kbyte each at least.
  whole: ({ bytes }) => assert.isAbove(bytes ?? 0, 100_000),
  streamed: ({ bytes }) => assert.isAbove(bytes ?? 0, 100_000),
  timed: (told) => {
    assert.isAbove(told.bytes ?? 0, 100_000)
    assert.deepStrictEqual(told.words, words)
  },
  live: (told) => {
    assert.isAbove(told.bytes ?? 0, 100_000)
    if (told.words !== undefined && told.words.length > 0) {
      assert.deepStrictEqual(told.words.join(" ").split(" "), words)
    }
  },
  voices: ({ voices }) => assert.isAbove(voices ?? 0, 10),
  // A refusal is shorter.
  silent: ({ bytes }) => assert.isAbove(bytes ?? 0, 1_000),
  refused: ({ status }) => assert.strictEqual(status, 404)
}

const file = join(import.meta.dirname, "../../services/speech-api/judged-versions.json")

const note = async ({ name }: SpeechClient, { versions }: Judged) => {
  if (process.env["STARLING_JUDGES_RECORD"] === undefined) return
  const noted = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>
  noted[name] = { on: new Date().toISOString().slice(0, 10), versions }
  await writeFile(file, `${JSON.stringify(noted, null, 2)}\n`)
}

describe.each(speechClients)("the newest $title", (client) => {
  const judging: { done?: Promise<Judged | string>; passed: number } = { passed: 0 }
  it.each(client.tasks)("does its task: %s", async (task) => {
    const judged = await (judging.done ??= judge(client))
    if (typeof judged === "string") return assert.fail(judged)
    const told = judged.told[task] ?? assert.fail(`${client.name} told nothing of ${task}`)
    assert.isUndefined(told.error)
    isRight[task](told)
    judging.passed += 1
    if (judging.passed === client.tasks.length) await note(client, judged)
  })
})
