/** Which format a file gets, by its name or by --format, and which route serves it. Pure. */
import { extname } from "node:path"
import { Result } from "effect"
import { type AudioFormat, audioFormats, formatNamed, formatOfAudioFormat } from "#audio"
import { speechInputMax } from "#contracts"

export interface SayFormat {
  /** What the API is asked for. */
  readonly outputFormat: string
  readonly route: "answer" | "stream"
  /** Set when PCM comes as a stream and the header of a WAV file goes before it. */
  readonly wavRateHz: number | undefined
}

/** What goes to a sound card. */
export const playedRateHz = 24_000
export const playedFormat: SayFormat = { outputFormat: `pcm_${playedRateHz}`, route: "stream", wavRateHz: undefined }

const containers = ["mp3", "ogg", "aac", "wav", "pcm", "ulaw"] as const

export const chooseFormat = (
  file: string,
  named: string | undefined,
  characters: number
): Result.Result<SayFormat, string> => {
  const extension = extname(file).slice(1).toLowerCase()
  const format = named === undefined ? formatOf(extension) : (formatNamed(named) ?? formatOf(named))
  if (format === undefined) {
    const known = `${containers.join(", ")}, or one of ${audioFormats.map(({ name }) => name).join(", ")}`
    return Result.fail(
      named === undefined
        ? `${file} does not say what it is: end it with .${containers.join(", .")}, or name a --format`
        : `--format ${named}? it is ${known}`
    )
  }
  if (formatOf(extension) !== undefined && format.audioFormat !== extension) {
    return Result.fail(`${file} would not be what its name says: --format ${named} is ${format.audioFormat}`)
  }
  if (format.isStreamable) {
    return Result.succeed({ outputFormat: format.name, route: "stream", wavRateHz: undefined })
  }
  return Result.succeed(
    characters <= speechInputMax.answer
      ? { outputFormat: format.name, route: "answer", wavRateHz: undefined }
      : { outputFormat: `pcm_${format.sampleRateHz}`, route: "stream", wavRateHz: format.sampleRateHz }
  )
}

const formatOf = (name: string): AudioFormat | undefined => {
  const container = containers.find((one) => one === name)
  return container === undefined ? undefined : formatOfAudioFormat(container)
}
