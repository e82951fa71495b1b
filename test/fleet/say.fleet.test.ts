import { execFileSync, spawn } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  type Home,
  modelVoice,
  newHome,
  type Ran,
  type RunningFleet,
  starling,
  startFleet
} from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"

const text = "Hello there, Dr. Smith (a Thursday). This is spoken by a fleet."
const sentence = "The quick brown fox jumps over the lazy dog, and the dog sleeps on. "
const long = sentence.repeat(Math.floor(20_000 / sentence.length))

/** One that takes a tenth of the first voice's work: a file's length and header do not depend on it. */
const fastVoice = ["--voice", "nora"] as const

let home: Home
let fleet: RunningFleet
let folder: string

beforeAll(async () => {
  home = newHome(modelVoice)
  fleet = await startFleet(home)
  folder = join(home.folder, "spoken")
  mkdirSync(folder)
})
afterAll(async () => {
  await fleet.stop("SIGTERM")
  home.remove()
})

const file = (name: string) => join(folder, name)
const say = (...parameters: ReadonlyArray<string>) => starling(home, "say", ...parameters)

/** As a person would in a terminal: with something at standard input, and a hand on Ctrl-C. */
const start = (parameters: ReadonlyArray<string>, path = process.env["PATH"] ?? "") => {
  const child = spawn("./starling", ["say", ...parameters], {
    cwd: join(import.meta.dirname, "../.."),
    env: { ...home.environment, PATH: path }
  })
  let [out, error] = ["", ""]
  child.stdout.on("data", (data: Buffer) => (out += data.toString()))
  child.stderr.on("data", (data: Buffer) => (error += data.toString()))
  const ended = new Promise<Ran>((end) => child.once("close", (code) => end({ code, out, error })))
  return { child, ended, out: () => out }
}

/** The duration of the audio, by another decoder. */
const decodedMs = (path: string, ...input: ReadonlyArray<string>) => {
  const parameters = ["-v", "error", ...input, "-i", path, "-f", "s16le", "-ar", "24000", "-"]
  return execFileSync("ffmpeg", parameters, { maxBuffer: 256 * 1_024 * 1_024 }).length / 48
}
const announcedMs = ({ error }: Ran) => Number(/: ([\d.]+) s, /u.exec(error)?.[1]) * 1_000

/** A player that stands for a sound card, in front of those that this machine may have. */
const withPlayer = (script: string) => {
  const programs = file("programs")
  mkdirSync(programs, { recursive: true })
  writeFileSync(join(programs, "ffplay"), `#!/bin/sh\n${script}\n`)
  chmodSync(join(programs, "ffplay"), 0o755)
  return `${programs}:${process.env["PATH"]}`
}

describe("./starling say, to a file", () => {
  it.each([
    ["mp3", []],
    ["ogg", []],
    ["aac", []],
    ["wav", []],
    ["pcm", ["-f", "s16le", "-ar", "24000", "-ac", "1"]],
    ["ulaw", ["-f", "mulaw", "-ar", "8000", "-ac", "1"]]
  ] as const)("writes %s that decodes to the stated length", async (extension, input) => {
    const path = file(`a.${extension}`)
    const ran = await say(text, ...fastVoice, "-o", path)
    assert.strictEqual(ran.code, 0, ran.error)
    assert.strictEqual(ran.out, "")
    assert.isAbove(announcedMs(ran), 3_000)
    assert.closeTo(decodedMs(path, ...input), announcedMs(ran), 5)
  })

  it("writes a long WAV with its true size in the header", async () => {
    const path = file("long.wav")
    const ran = await say(sentence.repeat(40), ...fastVoice, "-o", path)
    assert.strictEqual(ran.code, 0, ran.error)
    const bytes = readFileSync(path)
    assert.strictEqual(bytes.readUInt32LE(4), bytes.length - 8)
    assert.strictEqual(bytes.readUInt32LE(40), bytes.length - 44)
    assert.closeTo(decodedMs(path), announcedMs(ran), 5)
  })

  it("shows the words, as written or as marks", async () => {
    assert.strictEqual((await say(text, "-o", file("b.mp3"), "--marks")).out, `${text}\n`)
    const lines = (await say(text, "-o", file("b.wav"), "--marks=json")).out.trimEnd().split("\n")
    const marks = lines.map((line) => JSON.parse(line) as { start: number; end: number; value: string })
    assert.isAtLeast(marks.length, 11)
    for (const { start, end, value } of marks) assert.strictEqual(text.slice(start, end), value)
  })

  it("speaks with a voice that the default model does not have, and shows its words", async () => {
    const path = file("dutch.mp3")
    const ran = await say("Goedemorgen, het eten is klaar.", "--voice=daan", "-o", path, "--marks")
    assert.strictEqual(ran.code, 0, ran.error)
    assert.strictEqual(ran.out, "Goedemorgen, het eten is klaar.\n")
    assert.closeTo(decodedMs(path), announcedMs(ran), 5)
  })

  it("takes the text from standard input and from a file", async () => {
    const running = start(["-", "-o", file("c.ogg"), "--marks", "--voice", "nora"])
    running.child.stdin.end("Given by\na pipe.\n")
    assert.deepInclude(await running.ended, { code: 0, out: "Given by\na pipe.\n" })
    writeFileSync(file("c.txt"), "Read from a file.\n")
    assert.strictEqual((await say("--file", file("c.txt"), "-o", file("c.mp3"), "--marks")).out, "Read from a file.\n")
  })

  it("on Ctrl-C cancels the request, leaves no new file, and keeps an existing one", async () => {
    writeFileSync(file("d.mp3"), "what was there")
    const before = readdirSync(folder)
    const running = start(["-", "-o", file("d.mp3"), "--marks"])
    running.child.stdin.end(long)
    await until(() => running.out().length, { is: (length) => length > 0 })
    assert.isAbove(readdirSync(folder).length, before.length)
    running.child.kill("SIGINT")
    assert.strictEqual((await running.ended).code, 130)
    assert.deepStrictEqual(readdirSync(folder), before)
    assert.strictEqual(readFileSync(file("d.mp3"), "utf8"), "what was there")
    await until(async () => {
      const metrics = await (await fetch(`${fleet.ready.metrics}/metrics`)).text()
      return /^speech_[a-z_]+\{[^}]*outcome="cancelled"[^}]*\} [1-9]/mu.test(metrics)
    })
  })
})

describe("./starling say, to a sound card", () => {
  it("feeds the player and shows the words when they are heard", async () => {
    const heard = file("heard.pcm")
    const running = start(["One, two and three.", "--marks"], withPlayer(`exec cat > ${heard}`))
    assert.deepInclude(await running.ended, { code: 0, out: "One, two and three.\n", error: "" })
    assert.isAbove(readFileSync(heard).length, 48_000)
  })

  it("ends the player with it", async () => {
    const pid = file("player.pid")
    const running = start([text], withPlayer(`echo $$ > ${pid}; exec sleep 60`))
    await until(() => existsSync(pid) && readFileSync(pid, "utf8").endsWith("\n"))
    running.child.kill("SIGINT")
    assert.strictEqual((await running.ended).code, 130)
    const path = `/proc/${readFileSync(pid, "utf8").trim()}/cmdline`
    await until(() => !existsSync(path) || readFileSync(path, "latin1") === "")
  })

  it("reports a missing player, and what to install", async () => {
    const player = withPlayer("cat > /dev/null; echo 'audio open failed' >&2")
    const ran = await start([text], player).ended
    assert.strictEqual(ran.code, 1)
    assert.strictEqual(
      ran.error,
      "starling: ffplay cannot play here: audio open failed; write a file instead: -o hello.mp3\n"
    )
  })
})

describe("./starling say, on failure", () => {
  it("shows the API's error, and exits with 1", async () => {
    const voice = await say("Hi.", "--voice", "nobody", "-o", file("e.mp3"))
    assert.strictEqual(voice.code, 1)
    assert.match(voice.error, /^starling: no voice nobody \(404 voice_not_found, req_\S+\)\n$/u)
    const model = await say("Hi.", "--model", "nothing", "-o", file("e.mp3"))
    assert.match(model.error, /validation_failed.*\n {2}model: no such model: nothing\n$/u)
    assert.strictEqual((await say("Hi.", "-o", file("nowhere/e.mp3"))).code, 1)
    assert.isFalse(existsSync(file("e.mp3")))
  })

  it("exits with 2 on wrong usage, and with 69 when no fleet runs", async () => {
    const cases: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
      [[], "say what?"],
      [["Hi.", "--file", "x"], "not both"],
      [["Hi.", "-o", file("e.txt")], "does not say what it is"],
      [["Hi.", "--format", "mp3"], "name it with -o"],
      [["Hi.", "--marks=xml"], "--marks xml? it is words or json"],
      [["Hi.", "--loud"], "Unknown option"],
      [["a".repeat(20_001)], "20,001 characters"]
    ]
    for (const [parameters, reason] of cases) {
      const ran = await say(...parameters)
      assert.strictEqual(ran.code, 2, parameters.join(" "))
      assert.include(ran.error, reason)
    }
    const elsewhere = newHome()
    const ran = await starling(elsewhere, "say", "Hi.")
    elsewhere.remove()
    assert.strictEqual(ran.code, 69)
    assert.include(ran.error, "./starling up")
  })

  it("lists the voices", async () => {
    for (const parameters of [["--voices"], ["--voice", "list"]]) {
      const ran = await say(...parameters)
      assert.strictEqual(ran.code, 0, ran.error)
      assert.match(ran.out, /^henry +en-US +male/mu)
    }
  })
})
