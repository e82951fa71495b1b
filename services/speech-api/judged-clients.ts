/**
 * Third-party clients of speech that test this API with only the address, the key and the voice changed. `./starling test
 * --judges` runs this list, and the compatibility page is generated from it. Pure.
 */
import { table } from "#http"
import judgedVersions from "./judged-versions.json" with { type: "json" }

export const speechTasks = {
  whole: "has a text spoken, all of it at once",
  streamed: "reads the bytes as they are made",
  timed: "gets the times of characters or words",
  live: "speaks a text while it is written",
  voices: "lists the voices, and finds one",
  silent: "gets a moment of audio for `...`",
  refused: "raises its own error of a voice that is not there"
} as const
export type SpeechTask = keyof typeof speechTasks

export interface SpeechClient {
  readonly name: string
  readonly title: string
  readonly language: "JavaScript" | "Python"
  /** The names on npm, or on PyPI. */
  readonly packages: ReadonlyArray<string>
  readonly tasks: ReadonlyArray<SpeechTask>
}

const javaScript = { language: "JavaScript" } as const
const python = { language: "Python" } as const
const all = Object.keys(speechTasks) as ReadonlyArray<SpeechTask>
const without = (...left: ReadonlyArray<SpeechTask>) => all.filter((task) => !left.includes(task))
const plugin = { tasks: ["whole", "live", "silent"] } as const
const service = { packages: ["pipecat-ai"], tasks: ["live", "silent"], ...python } as const

export const speechClients: ReadonlyArray<SpeechClient> = [
  {
    name: "elevenlabs-js",
    title: "ElevenLabs' client",
    packages: ["@elevenlabs/elevenlabs-js"],
    // It has no live speech from text.
    tasks: without("live"),
    ...javaScript
  },
  { name: "elevenlabs-py", title: "ElevenLabs' client in Python", packages: ["elevenlabs"], tasks: all, ...python },
  {
    name: "cartesia-js",
    title: "Cartesia's client",
    packages: ["@cartesia/cartesia-js"],
    tasks: without("streamed"),
    ...javaScript
  },
  {
    name: "cartesia-py",
    title: "Cartesia's client in Python",
    packages: ["cartesia"],
    tasks: without("streamed"),
    ...python
  },
  {
    name: "openai-js",
    title: "OpenAI's client",
    packages: ["openai"],
    tasks: without("timed", "live", "voices"),
    ...javaScript
  },
  {
    name: "openai-py",
    title: "OpenAI's client in Python",
    packages: ["openai"],
    tasks: without("timed", "live", "voices"),
    ...python
  },
  {
    name: "livekit-elevenlabs-js",
    title: "LiveKit's plugin for ElevenLabs",
    packages: ["@livekit/agents-plugin-elevenlabs"],
    ...plugin,
    ...javaScript
  },
  {
    name: "livekit-cartesia-js",
    title: "LiveKit's plugin for Cartesia",
    packages: ["@livekit/agents-plugin-cartesia"],
    ...plugin,
    ...javaScript
  },
  {
    name: "livekit-openai-js",
    title: "LiveKit's plugin for OpenAI",
    packages: ["@livekit/agents-plugin-openai"],
    tasks: ["whole", "silent"],
    ...javaScript
  },
  {
    name: "livekit-elevenlabs-py",
    title: "LiveKit's plugin for ElevenLabs in Python",
    packages: ["livekit-plugins-elevenlabs"],
    ...plugin,
    ...python
  },
  {
    name: "livekit-cartesia-py",
    title: "LiveKit's plugin for Cartesia in Python",
    packages: ["livekit-plugins-cartesia"],
    ...plugin,
    ...python
  },
  {
    name: "livekit-speechify-py",
    title: "LiveKit's plugin for Speechify in Python",
    packages: ["livekit-plugins-speechify"],
    ...plugin,
    ...python
  },
  {
    name: "livekit-openai-py",
    title: "LiveKit's plugin for OpenAI in Python",
    packages: ["livekit-plugins-openai"],
    tasks: ["whole", "silent"],
    ...python
  },
  { name: "pipecat-elevenlabs", title: "pipecat's service for ElevenLabs", ...service },
  { name: "pipecat-elevenlabs-http", title: "pipecat's service for ElevenLabs by HTTP", ...service },
  { name: "pipecat-cartesia", title: "pipecat's service for Cartesia", ...service },
  { name: "pipecat-cartesia-http", title: "pipecat's service for Cartesia by HTTP", ...service },
  { name: "pipecat-speechify", title: "pipecat's service for Speechify", ...service },
  { name: "pipecat-openai", title: "pipecat's service for OpenAI", ...service }
]

interface Passed {
  readonly on: string
  readonly versions: Readonly<Record<string, string>>
}

const passed: Readonly<Record<string, Passed | undefined>> = judgedVersions

const versionsOf = (record: Passed | undefined) =>
  record === undefined
    ? "never yet"
    : `${Object.entries(record.versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(", ")} on ${record.on}`

/** The chapter of the compatibility page. */
export const speechClientsChapter = (): string =>
  [
    "## Clients of speech",
    "`./starling test --judges` also has the newest clients of ElevenLabs', Cartesia's, OpenAI's and Speechify's speech speak with this API, " +
      "unmodified but for the address, the key and the voice; the versions are those with which all tasks were done last.",
    table(
      ["client", "passed with", "does"],
      speechClients.map(({ name, tasks, title }) => [title, versionsOf(passed[name]), tasks.join(", ")])
    ),
    `What it does: ${Object.entries(speechTasks)
      .map(([name, says]) => `*${name}*: ${says}`)
      .join("; ")}.`
  ].join("\n\n") + "\n"
